import type { Db } from '../../data/db';
import { ADD_PAYOUT, ADD_REVENUE, ADD_TOKENS, SAVE_RECORDING } from './queries/change-call';
import { LOCK_CAPS_OF_CALL } from './queries/concurrency-slots';

// Writers of money, tokens and recordings, apart from routing. The caller has locked the call.

type Sql = Pick<Db, 'sql'>;

/** In dollars; negative to reduce the amount. */
export interface AmountChange {
  call_id: number;
  /** The buyer whose conversion it belongs to, if there is one. */
  buyer_id: number | null;
  amount: number;
  /** The reason, for the ledger. */
  note?: string | null | undefined;
  now: Date;
}

export async function addRevenue(db: Sql, change: AmountChange): Promise<void> {
  await db.sql(ADD_REVENUE, { ...change, note: change.note ?? null });
}

/** With `converts` the traffic source counts as paid even if the amount is 0. */
export async function addPayout(
  db: Sql,
  change: AmountChange & { converts: boolean },
): Promise<void> {
  await db.sql(ADD_PAYOUT, { ...change, note: change.note ?? null });
}

export interface DialedBuyer {
  buyer_id: number;
  buyer_group_id: number | null;
}

/** Owners of the caps that a call counts for; null where it has none. */
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

/** Saves the URL of a recording, also of a call that has ended. A later URL does not replace it. */
export async function saveRecording(
  db: Sql,
  callId: number,
  recordingUrl: string,
  now: Date,
): Promise<void> {
  await db.sql(SAVE_RECORDING, { call_id: callId, recording_url: recordingUrl, now });
}
