import type { Carrier } from '../carriers/carrier';
import type { Statements } from '../db/tenant';
import { availabilityOf, type Availability } from '../routing/engine/availability';
import { loadRouting } from '../routing/load-routing';
import { NO_ORIGIN, routeFacts } from '../routing/route-facts';
import type { DueLead } from './load-leads';

/** The seed does not affect whether there is a buyer. */
const ANY_SEED = 'availability';

/** Returns whether a buyer of an offer would take a call placed to a lead now. Reserves nothing. */
export async function buyerAvailability(
  db: Statements,
  lead: Pick<DueLead, 'data' | 'caller_number' | 'traffic_source_id' | 'sub_id'>,
  {
    offer_id,
    carrier,
    now,
  }: { offer_id: string; carrier: Pick<Carrier, 'can_whisper'>; now: Date },
): Promise<Availability> {
  const caller_number = Number(lead.caller_number);
  const { traffic_source_id } = lead;
  const asking = { source: { offer_id }, number: caller_number, traffic_source_id, now };
  const found = await loadRouting(db, asking);
  const asked =
    found &&
    (await routeFacts(db, found, {
      now,
      seed: ANY_SEED,
      caller_number,
      tokens: lead.data,
      origin: {
        ...NO_ORIGIN,
        traffic_source_id: traffic_source_id === null ? null : Number(traffic_source_id),
        sub_id: lead.sub_id,
      },
      max_legs: Infinity,
      can_whisper: carrier.can_whisper,
      tried: new Set(),
    }));
  if (asked) return availabilityOf(found.candidates, asked);
  const facts = { now, seed: ANY_SEED, tokens: () => undefined };
  return { ...availabilityOf([], facts), message: 'the offer was deleted' };
}
