import type { Db } from '../db/tenant';
import { ADD_PAYOUT, ADD_REVENUE, ADD_TOKENS, SAVE_RECORDING } from './queries/change-call';
import { LOCK_CAPS_OF_CALL } from './queries/concurrency-slots';

// The writers of what is not routing: money, tokens, recordings. The call is locked by the caller.

type Sql = Pick<Db, 'sql'>;

/** A change of an amount of a call, in dollars; negative to take some off. */
export interface AmountChange {
  call_id: number;
  /** The buyer whose conversion it belongs to, if there is one. */
  buyer_id: number | null;
  amount: number;
  /** Why, for the ledger. */
  note?: string | null | undefined;
  now: Date;
}

/** Adds to the revenue of a call, of its lead, and of the conversion of its buyer. */
export async function addRevenue(db: Sql, change: AmountChange): Promise<void> {
  await db.sql(ADD_REVENUE, { ...change, note: change.note ?? null });
}

/**
 * Adds to the payout of a call, of its lead, and of the conversion of its buyer. With `converts`
 * the traffic source counts as paid even if the amount is 0.
 */
export async function addPayout(
  db: Sql,
  change: AmountChange & { converts: boolean },
): Promise<void> {
  await db.sql(ADD_PAYOUT, { ...change, note: change.note ?? null });
}

/** A buyer, and the group through which it was dialed. */
export interface DialedBuyer {
  buyer_id: number;
  buyer_group_id: number | null;
}

/** Whose caps a call counts for: nulls for what it has not. */
export interface CapsOfCall {
  buyer_id: number | null;
  buyer_group_id: number | null;
  traffic_source_id: number | null;
}

/** Locks the caps that several changes of a locked call may write, before any of them does. */
export async function lockCapsOfCall(
  db: Sql,
  { id, buyer_id, traffic_source_id }: { id: number } & Omit<CapsOfCall, 'buyer_group_id'>,
): Promise<void> {
  await db.sql(LOCK_CAPS_OF_CALL, { call_id: id, buyer_id, traffic_source_id });
}

/** Merges tokens into those of a call and marks it as changed by a user. */
export async function addTokens(
  db: Sql,
  { call_id, tokens, now }: { call_id: number; tokens: Record<string, unknown>; now: Date },
): Promise<void> {
  await db.sql(ADD_TOKENS, { call_id, tokens: JSON.stringify(tokens), now });
}

/** Saves where the recording of a call is, also of one that is over; the first one stays. */
export async function saveRecording(
  db: Sql,
  call_id: number,
  recording_url: string,
  now: Date,
): Promise<void> {
  await db.sql(SAVE_RECORDING, { call_id, recording_url, now });
}
