import { findNamed, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import type { Caller } from '../http/auth/caller';
import { mayUse } from '../http/field-permissions';
import type { Decision } from '../routing/engine/decision';
import { loadRouting, type RoutingContext } from '../routing/load-routing';
import { routeFacts } from '../routing/route-facts';
import { newSeed } from '../routing/seed';
import { readCaller, readTokens } from './read-incoming-call';
import { explain } from './route-call';

/** A call that may come. */
export interface PossibleCall {
  offer_id: Reference;
  caller_number?: string | null;
  tokens?: Record<string, unknown>;
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
  { at, asker }: { at: Date; asker: Caller },
): Promise<Decision> {
  const caller_number = await readCaller(db, call.caller_number);
  const offer = { reference: call.offer_id, field: 'offer_id' };
  const source = { offer_id: String(await findNamed(db, 'offers', offer)) };
  const found = await loadRouting(db, { source, number: caller_number, now: at });
  const { facts, candidates } = found!;
  const asked = routeFacts(facts, {
    now: at,
    seed: call.seed || newSeed(),
    caller_number,
    tokens: { ...(await readableData(db, asker, facts)), ...readTokens(call.tokens) },
    tried: new Set(),
  });
  return explain(facts, candidates, asked);
}

async function readableData(db: Db, asker: Caller, { lead }: RoutingContext['facts']) {
  if (!lead || !asker.teams) return lead?.data;
  const record = { table: 'leads', references: [lead.id] } as const;
  return (await mayUse(db, asker, 'leads:read', record)) ? lead.data : undefined;
}
