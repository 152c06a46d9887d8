import { findRingRules, type OwnCarrier } from '../../platform/carriers/carrier';
import type { Statements } from '../../data/db';
import { buildAvailability, type Availability } from '../routing/engine/availability';
import { findLines } from '../routing/lines';
import { loadRouting } from '../routing/context';
import { NO_ORIGIN, loadRouteFacts } from '../routing/route-facts';
import type { DueLead } from './due-lead';

/** The seed does not affect whether there is a buyer. */
const ANY_SEED = 'availability';

/** Returns whether a buyer of an offer would take a call placed to a lead now. Reserves nothing. */
export async function findBuyerAvailability(
  db: Statements,
  lead: Pick<DueLead, 'data' | 'caller_number' | 'traffic_source_id' | 'sub_id'>,
  { offer_id, carrier, now }: { offer_id: string; carrier: OwnCarrier; now: Date },
): Promise<Availability> {
  const callerNumber = Number(lead.caller_number);
  const { traffic_source_id } = lead;
  const request = { source: { offer_id }, number: callerNumber, traffic_source_id, now };
  const routing = await loadRouting(db, request);
  const callFacts =
    routing &&
    (await loadRouteFacts(db, routing, {
      now,
      seed: ANY_SEED,
      caller_number: callerNumber,
      tokens: lead.data,
      origin: {
        ...NO_ORIGIN,
        traffic_source_id: traffic_source_id === null ? null : Number(traffic_source_id),
        sub_id: lead.sub_id,
      },
      ...findRingRules(carrier.name, carrier),
      lines: findLines(routing.trunks, { carrier: carrier.name }),
      max_legs: Infinity,
      tried: new Set(),
    }));
  if (callFacts) return buildAvailability(routing.candidates, callFacts);
  const facts = { now, seed: ANY_SEED, tokens: () => undefined };
  return { ...buildAvailability([], facts), message: 'the offer was deleted' };
}
