import { type OwnNumber } from './own-numbers';

export interface Numbered {
  /** E.164 digits. */
  caller_number: string;
  offer_id: string | null;
}

/**
 * The number of the company from which somebody is called or texted: the one that they know, else one of the offer before others, then one of
 * their area (country and area code in North America), then whichever was given out longest ago. Undefined when none may be used.
 */
export function chooseNumber(
  numbers: readonly OwnNumber[],
  { caller_number, offer_id }: Numbered,
  known: string | null,
): OwnNumber | undefined {
  const area = caller_number.slice(0, 4);
  let best: OwnNumber | undefined;
  let best_rank = -1;
  for (const number of numbers) {
    if (number.id === known) return number;
    if (number.offer_id !== null && number.offer_id !== offer_id) continue;
    const rank = (number.offer_id === null ? 0 : 2) + (number.number.startsWith(area) ? 1 : 0);
    if (rank > best_rank || (rank === best_rank && given(number) < given(best!)))
      [best, best_rank] = [number, rank];
  }
  return best;
}

const given = ({ last_assigned_at }: OwnNumber): number => last_assigned_at?.getTime() ?? 0;
