import type { Statements } from '../db/tenant';
import { availabilityOf, type Availability } from '../routing/engine/availability';
import { loadRouting } from '../routing/load-routing';
import { routeFacts } from '../routing/route-facts';
import type { DueLead } from './load-leads';

/** The draw does not decide whether there is a buyer. */
const ANY_SEED = 'availability';

/** Whether some buyer of an offer would take a call with a lead now. Reserves nothing. */
export async function buyerAvailability(
  db: Statements,
  { data, caller_number }: Pick<DueLead, 'data' | 'caller_number'>,
  { offer_id, now }: { offer_id: string; now: Date },
): Promise<Availability> {
  const number = Number(caller_number);
  const found = await loadRouting(db, { source: { offer_id }, number, now });
  const asked =
    found &&
    routeFacts(found.facts, {
      now,
      seed: ANY_SEED,
      caller_number: number,
      tokens: data,
      tried: new Set(),
    });
  if (asked) return availabilityOf(found.candidates, asked);
  const facts = { now, seed: ANY_SEED, tokens: () => undefined };
  return { ...availabilityOf([], facts), message: 'the offer was deleted' };
}
