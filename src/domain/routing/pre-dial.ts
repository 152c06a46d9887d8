import type { OwnCarrier } from '../../platform/carriers/carrier';
import type { Db, Statements } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import { passesFilters } from '../../platform/tokens/filters';
import type { TokenSource } from '../../platform/tokens/substitute';
import { askBidders } from './ask-bidders';
import type { BidAnswer, BidQuestion } from './bids';
import { askWebhooks, type CallToDial, type Edges, type Question } from './ask-webhooks';
import type { Veto } from './engine/eligibility';
import type { Member } from './engine/order';
import { ROLL_BACK_TO_SAVEPOINT, SAVEPOINT, SET_CALL_OF_LOGS } from './queries/pre-dial-webhooks';
import type { PreDialWebhook } from './queries/pre-dial-webhooks';
import { newSeed } from './context';

// Webhooks are asked before a buyer is dialed, and bidders before it is chosen. The transaction
// that reserves the buyer finds out which, but no lock may be held while they are asked: the
// transaction is rolled back and returns a PreDialCheckRequired. Then they are asked, and the work
// is repeated.

/** The answers so far, and the values that stay the same each time the work is repeated. */
export interface PreDialState {
  /** By buyer; null for a buyer that may be dialed. */
  verdicts: Map<number, Veto | null>;
  /** Answers of bidders, by buyer. */
  bids: Map<number, BidAnswer>;
  /** For a new call. */
  uuid: string;
  seed: string;
  /** The carrier of the installation; absent for calls that come by none. */
  carrier?: OwnCarrier;
}

/** The result of work that would dial buyers before their webhooks, or bidders, were asked. */
export interface PreDialCheckRequired {
  kind: 'pre_dial_check_required';
  question: Question | BidQuestion;
}

export const isCheckRequired = (result: unknown): result is PreDialCheckRequired =>
  (result as Partial<PreDialCheckRequired> | undefined)?.kind === 'pre_dial_check_required';

/** The check that is required before these buyers are dialed; undefined when all were checked. */
export function buildPreDialCheck(
  members: readonly Member[],
  webhooks: readonly PreDialWebhook[],
  { preDial, ...call }: { call: CallToDial; tokens: TokenSource; preDial: PreDialState },
): PreDialCheckRequired | undefined {
  const pendingChecks = members
    .filter(({ buyer }) => !preDial.verdicts.has(buyer.id))
    .map((member) => ({
      member,
      webhooks: webhooks.filter((webhook) => concerns(webhook, member, call)),
    }))
    .filter((check) => check.webhooks.length > 0);
  if (pendingChecks.length === 0) return undefined;
  return { kind: 'pre_dial_check_required', question: { ...call, pendingChecks } };
}

/**
 * Filters of a webhook of a user with limited access are applied later, to the data that the user
 * sees.
 */
function concerns(
  { owner_type, owner_id, token_filters, maker_user_id }: PreDialWebhook,
  { buyer }: Member,
  { call, tokens }: Pick<Question, 'call' | 'tokens'>,
): boolean {
  const owners: Record<string, boolean> = {
    Company: true,
    Offer: call.offer_id === owner_id,
    Buyer: buyer.id === owner_id,
    BuyerGroup: buyer.groups.some(({ id }) => id === owner_id),
    TrafficSource: call.traffic_source_id === owner_id,
  };
  return (
    (owners[owner_type] ?? false) &&
    (maker_user_id !== null || passesFilters(token_filters, tokens))
  );
}

/** Thrown to roll back the transaction in `runCheckedTransaction`; never leaves that function. */
class RollBack extends Error {
  constructor(readonly check: PreDialCheckRequired) {
    super('webhooks or bidders must be asked before a buyer is dialed');
  }
}

/**
 * Runs statements in one transaction, and rolls it back when the result is a required check. Inside
 * an open transaction (a request with an Idempotency-Key) it rolls back to a savepoint.
 */
export async function runCheckedTransaction<T>(
  db: Db,
  work: (db: Statements) => Promise<T | PreDialCheckRequired>,
): Promise<T | PreDialCheckRequired> {
  if (!db.batched) return runAtSavepoint(db, work);
  try {
    return await db.statements(async (tx) => {
      const result = await work(tx);
      if (isCheckRequired(result)) throw new RollBack(result);
      return result;
    });
  } catch (error) {
    if (error instanceof RollBack) return error.check;
    throw error;
  }
}

/** Open transactions at a savepoint: nested work rolls back to the outermost one. */
const atSavepoint = new WeakSet<Db>();

async function runAtSavepoint<T>(
  db: Db,
  work: (db: Db) => Promise<T | PreDialCheckRequired>,
): Promise<T | PreDialCheckRequired> {
  if (atSavepoint.has(db)) return work(db);
  atSavepoint.add(db);
  try {
    await db.sql(SAVEPOINT, {});
    const result = await work(db);
    if (isCheckRequired(result)) await db.sql(ROLL_BACK_TO_SAVEPOINT, {});
    return result;
  } finally {
    atSavepoint.delete(db);
  }
}

/**
 * Runs work that may dial buyers. While a check is required, asks the webhooks, or the bidders, and
 * repeats the work with their answers, on the state at that time.
 */
export async function runWithPreDialChecks<T>(
  db: Db,
  edges: Edges & { carrier: OwnCarrier },
  work: (preDial: PreDialState) => Promise<T | PreDialCheckRequired>,
): Promise<T> {
  const preDial: PreDialState = {
    verdicts: new Map(),
    bids: new Map(),
    uuid: uuidv7(edges.clock().getTime()),
    seed: newSeed(),
    carrier: edges.carrier,
  };
  const logs = new Map<string, string[]>();
  const recordings: Promise<unknown>[] = [];
  for (;;) {
    const result = db.batched ? await work(preDial) : await runAtSavepoint(db, () => work(preDial));
    if (!isCheckRequired(result)) {
      await Promise.all(recordings);
      for (const [callUuid, uuids] of logs)
        await db.sql(SET_CALL_OF_LOGS, { call_uuid: callUuid, uuids });
      return result;
    }
    const { question } = result;
    if ('bidders' in question) {
      const { answers, recorded } = await askBidders(db, question, edges);
      for (const [buyerId, answer] of answers) preDial.bids.set(buyerId, answer);
      // A connection with an open transaction runs one statement at a time.
      if (question.needsStoredBids || !db.batched) await recorded;
      recordings.push(recorded);
      continue;
    }
    const { uuid } = question.call;
    const { verdicts, log_uuids } = await askWebhooks(db, question, edges);
    for (const [buyerId, veto] of verdicts) preDial.verdicts.set(buyerId, veto);
    logs.set(uuid, [...(logs.get(uuid) ?? []), ...log_uuids]);
  }
}
