import { batchers } from '../db/batcher';
import type { Db, Statements } from '../db/tenant';
import { loadCallFacts, type CallFacts } from './caller-facts';
import { routingCandidates } from './candidates';
import type { Candidate } from './engine/candidate';
import { cachedSnapshot, type Source } from './offer-snapshot';
import { readPreDialWebhooks, type PreDialWebhook } from './read-pre-dial-webhooks';

/** A call to be routed. */
export interface Caller {
  source: Source;
  /** E.164 without the plus; null when it is withheld. */
  number: number | null;
  now: Date;
}

/** Everything that decides where a call goes. */
export interface RoutingContext {
  facts: CallFacts;
  candidates: readonly Candidate[];
  /** Webhooks to ask before a buyer is dialed. */
  webhooks: readonly PreDialWebhook[];
}

type Buyers = Pick<RoutingContext, 'candidates' | 'webhooks'>;

const batched = batchers<Caller, Buyers>();

/**
 * Loads everything that decides where a call goes; undefined when there is no such offer. Outside
 * transactions, simultaneous calls to an offer share one read of its buyers.
 */
export async function loadRouting(
  db: Statements & Partial<Pick<Db, 'batched'>>,
  caller: Caller,
): Promise<RoutingContext | undefined> {
  const { source, number, now } = caller;
  const offer_id = 'offer_id' in source ? source.offer_id : null;
  const run = (callers: readonly Caller[]) => loadBuyers(db, source, callers);
  if (!db.batched) {
    const facts = await loadCallFacts(db, { offer_id, number, now });
    const [buyers] = await run([caller]);
    return facts && { facts, ...buyers! };
  }
  const [facts, buyers] = await Promise.all([
    loadCallFacts(db, { offer_id, number, now }),
    batched(db, JSON.stringify(source), () => ({ run, keyOf: (each) => each }))(caller),
  ]);
  return facts && { facts, ...buyers };
}

async function loadBuyers(
  db: Statements,
  source: Source,
  callers: readonly Caller[],
): Promise<Buyers[]> {
  const lists = await routingCandidates(db, {
    source,
    numbers: callers.map(({ number }) => number),
    now: callers.at(-1)!.now,
  });
  // Candidates have just put the snapshot into the cache, unless another one has evicted it.
  const webhooks = cachedSnapshot(db, source)?.webhooks ?? (await readPreDialWebhooks(db));
  return lists.map((candidates) => ({ candidates, webhooks }));
}

/**
 * Where the buyers of a call come from: its offer, or else the one buyer its number forwards to.
 */
export const sourceOf = ({
  offer_id,
  buyer_id,
}: {
  offer_id: string | number | null;
  buyer_id: string | number | null;
}): Source => (offer_id === null ? { buyer_id: String(buyer_id) } : { offer_id: String(offer_id) });
