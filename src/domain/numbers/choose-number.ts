import { type OwnNumber } from './own-numbers';

export interface ContactTarget {
  /** E.164 digits. */
  caller_number: string;
  offer_id: string | null;
}

/**
 * The number of the company to call or text a person from. In this order: the one used before
 * (`known_id`), one of the offer, one without an offer; within these, one of the same area
 * (country, and area code in North America), then the one assigned longest ago. Numbers of other
 * offers are never used. Undefined when no number may be used.
 */
export function chooseNumber(
  numbers: readonly OwnNumber[],
  { caller_number, offer_id }: ContactTarget,
  knownId: string | null,
): OwnNumber | undefined {
  const area = caller_number.slice(0, 4);
  let best: OwnNumber | undefined;
  let bestRank = -1;
  for (const number of numbers) {
    if (number.id === knownId) return number;
    if (number.offer_id !== null && number.offer_id !== offer_id) continue;
    const rank = (number.offer_id === null ? 0 : 2) + (number.number.startsWith(area) ? 1 : 0);
    if (rank > bestRank || (rank === bestRank && assignedAt(number) < assignedAt(best!)))
      [best, bestRank] = [number, rank];
  }
  return best;
}

const assignedAt = ({ last_assigned_at }: OwnNumber): number => last_assigned_at?.getTime() ?? 0;
