import { isWithheldName } from '../../platform/carriers/twilio-words';
import { findRingRules, type Carrier } from '../../platform/carriers/carrier';
import { canSeeMoney } from '../../data/access/money';
import { identify, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import type { Caller as Asker } from '../../api/auth/caller';
import { mayUse } from '../../api/access/field-permissions';
import type { Decision } from '../routing/engine/explain';
import { loadRouting, type Caller, type RoutingContext } from '../routing/context';
import { findLines } from '../routing/lines';
import { findTrafficSource } from '../offers/find-traffic-source';
import { callerNumber } from '../../data/phone/caller-number';
import { NO_ORIGIN, loadRouteFacts } from '../routing/route-facts';
import { findOffer, readTokens } from './receive';
import { explain } from './outcome';

export interface PossibleCall {
  offer_id: Reference;
  caller_number?: string | null;
  tokens?: Record<string, unknown>;
  traffic_source_id?: Reference | null;
  sub_id?: string | null;
  number_called?: string | null;
  /** The carrier that the call would come from; by default that of the installation. */
  carrier?: string;
  /** Repeats the draw of a decision. */
  seed?: string | null;
}

/**
 * Returns what would be decided about a call at a time, without a reservation. Throws 422. Data of
 * the caller's lead counts only for users who may read the lead: a filter of their own buyer would
 * reveal it.
 */
export async function explainRouting(
  db: Db,
  call: PossibleCall,
  { at, asker, carrier }: { at: Date; asker: Asker; carrier: Carrier },
): Promise<Decision> {
  const numberOfCaller = await readCaller(db, call.caller_number);
  const trafficSourceId = call.traffic_source_id
    ? Number(await findTrafficSource(db, call.traffic_source_id))
    : null;
  const asking = { number: numberOfCaller, traffic_source_id: trafficSourceId, now: at };
  const context = await loadOfferContext(db, call.offer_id, asking);
  const { facts, candidates } = context;
  const lead = await readableLead(db, asker, facts);
  const carrierName = call.carrier ?? carrier.name;
  const routingFacts = await loadRouteFacts(db, context, {
    now: at,
    seed: call.seed || undefined,
    caller_number: numberOfCaller,
    tokens: { ...lead?.data, ...readTokens(call.tokens) },
    origin: {
      ...NO_ORIGIN,
      number_called:
        (await callerNumber(db, call.number_called ?? undefined, 'number_called')) ?? null,
      traffic_source_id: trafficSourceId ?? lead?.traffic_source_id ?? null,
      sub_id: call.sub_id ?? lead?.sub_id ?? null,
    },
    ...findRingRules(carrierName, carrier),
    lines: findLines(context.trunks, { carrier: carrierName }),
    tried: new Set(),
  });
  return explain(facts, candidates, routingFacts);
}

/** Null when the number is withheld. Throws 422: who asks should know of a wrong number. */
async function readCaller(db: Db, text: string | null | undefined): Promise<number | null> {
  if (!text || isWithheldName(text)) return null;
  return callerNumber(db, text, 'caller_number');
}

/** An id is not looked up first: loading the routing context shows whether the offer exists. */
async function loadOfferContext(
  db: Db,
  reference: Reference,
  caller: Omit<Caller, 'source'>,
): Promise<RoutingContext> {
  const load = (offerId: string) => loadRouting(db, { ...caller, source: { offer_id: offerId } });
  const identifier = db.accessScope ? undefined : identify(reference);
  const context = identifier?.key === 'id' ? await load(identifier.value) : undefined;
  return context ?? (await load(await findOffer(db, reference)))!;
}

/** The caller's lead, if the asker may read it; without its source where that is hidden. */
async function readableLead(db: Db, asker: Asker, { lead }: RoutingContext['facts']) {
  if (!lead || !asker.teams) return lead;
  const references = [lead.id];
  if (!(await mayUse(db, asker, 'leads:read', { table: 'leads', references }))) return undefined;
  const isTold = await canSeeMoney(db, { table: 'leads', key: 'id', references }, 'purchase');
  return isTold ? lead : { ...lead, traffic_source_id: null };
}
