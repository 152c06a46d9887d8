import { maxLegsOf, type CarrierName } from '../carriers/carrier';
import { seesSideOf } from '../db/access-scope';
import { findNamed, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import type { Caller } from '../http/auth/caller';
import { mayUse } from '../http/field-permissions';
import type { Decision } from '../routing/engine/decision';
import { loadRouting, type RoutingContext } from '../routing/load-routing';
import { findTrafficSource } from '../offers/find-traffic-source';
import { callerNumber } from '../phone/caller-number';
import { NO_ORIGIN, routeFacts } from '../routing/route-facts';
import { newSeed } from '../routing/seed';
import { readCaller, readTokens } from './read-incoming-call';
import { explain } from './outcome';

/** A call that may come. */
export interface PossibleCall {
  offer_id: Reference;
  caller_number?: string | null;
  tokens?: Record<string, unknown>;
  traffic_source_id?: Reference | null;
  sub_id?: string | null;
  number_called?: string | null;
  /** By what it comes in; by default the carrier of the installation. */
  carrier?: string;
  /** Repeats the draw of a decision. */
  seed?: string | null;
}

/**
 * Returns what would be decided about a call at a time, without a reservation. Throws 422. What the
 * caller's lead says counts only for those who may read the lead: a filter of one's own buyer would
 * tell it.
 */
export async function explainRouting(
  db: Db,
  call: PossibleCall,
  { at, asker, carrier }: { at: Date; asker: Caller; carrier: CarrierName },
): Promise<Decision> {
  const caller_number = await readCaller(db, call.caller_number);
  const offer = { reference: call.offer_id, field: 'offer_id' };
  const source = { offer_id: String(await findNamed(db, 'offers', offer)) };
  const traffic_source_id = call.traffic_source_id
    ? Number(await findTrafficSource(db, call.traffic_source_id))
    : null;
  const asking = { source, number: caller_number, traffic_source_id, now: at };
  const found = await loadRouting(db, asking);
  const { facts, candidates } = found!;
  const lead = await readableLead(db, asker, facts);
  const asked = await routeFacts(db, found!, {
    now: at,
    seed: call.seed || newSeed(),
    caller_number,
    tokens: { ...lead?.data, ...readTokens(call.tokens) },
    origin: {
      ...NO_ORIGIN,
      number_called:
        (await callerNumber(db, call.number_called ?? undefined, 'number_called')) ?? null,
      traffic_source_id: traffic_source_id ?? lead?.traffic_source_id ?? null,
      sub_id: call.sub_id ?? lead?.sub_id ?? null,
    },
    max_legs: maxLegsOf(call.carrier ?? carrier),
    tried: new Set(),
  });
  return explain(facts, candidates, asked);
}

/** The caller's lead, if the asker may read it; without its source where that is hidden. */
async function readableLead(db: Db, asker: Caller, { lead }: RoutingContext['facts']) {
  if (!lead || !asker.teams) return lead;
  const references = [lead.id];
  if (!(await mayUse(db, asker, 'leads:read', { table: 'leads', references }))) return undefined;
  const is_told = await seesSideOf(db, { table: 'leads', key: 'id', references }, 'purchase');
  return is_told ? lead : { ...lead, traffic_source_id: null };
}
