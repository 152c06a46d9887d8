import { findNamed, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import type { Decision } from '../routing/engine/decision';
import { loadRouting } from '../routing/load-routing';
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

/** Returns what would be decided about a call at a time, without a reservation. Throws 422. */
export async function explainRouting(db: Db, call: PossibleCall, at: Date): Promise<Decision> {
  const caller_number = await readCaller(db, call.caller_number);
  const offer = { reference: call.offer_id, field: 'offer_id' };
  const source = { offer_id: String(await findNamed(db, 'offers', offer)) };
  const found = await loadRouting(db, { source, number: caller_number, now: at });
  const { facts, candidates } = found!;
  const asked = routeFacts(facts, {
    now: at,
    seed: call.seed || newSeed(),
    caller_number,
    tokens: { ...facts.lead?.data, ...readTokens(call.tokens) },
    tried: new Set(),
  });
  return explain(facts, candidates, asked);
}
