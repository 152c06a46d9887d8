import type { Db } from '../db/tenant';
import { pairTokens } from '../tokens/filters';
import {
  ADD_PAYOUT,
  ADD_REVENUE,
  ADD_TOKENS,
  ADD_TOKENS_OF_BUYER,
  FLOOR_USED_DOLLARS,
  MARK_REPEAT_CALLER_OF_BUYER,
  MARK_REPEAT_CALLER_OF_SOURCE,
  READ_TOKENS_OF_BUYER,
  SAVE_RECORDING,
} from './queries/change-call';

// The writers of what is not routing: money, tokens, recordings. The call is locked by the caller.

type Sql = Pick<Db, 'sql'>;

/** A change of an amount of a call, in dollars; negative to take some off. */
export interface AmountChange {
  call_id: number;
  /** The buyer whose conversion it belongs to, if there is one. */
  buyer_id: number | null;
  amount: number;
  now: Date;
}

/** Adds to the revenue of a call, of its lead, and of the conversion of its buyer. */
export async function addRevenue(db: Sql, change: AmountChange): Promise<void> {
  await db.sql(ADD_REVENUE, change);
}

/**
 * Adds to the payout of a call, of its lead, and of the conversion of its buyer. With `converts`
 * the traffic source counts as paid even if the amount is 0.
 */
export async function addPayout(
  db: Sql,
  change: AmountChange & { converts: boolean },
): Promise<void> {
  await db.sql(ADD_PAYOUT, change);
}

/** A buyer, and the group through which it was dialed. */
export interface DialedBuyer {
  buyer_id: number;
  buyer_group_id: number | null;
}

/**
 * Raises negative counters of dollars to 0: an amount that was taken off may have been counted in
 * an hour or a day that is over. The caps are locked by the caller.
 */
export async function floorUsedDollars(
  db: Sql,
  { buyer_id, buyer_group_id }: DialedBuyer,
): Promise<void> {
  await db.sql(FLOOR_USED_DOLLARS, { buyer_id, buyer_group_id });
}

/** Merges tokens into those of a call and marks it as changed by a user. */
export async function addTokens(
  db: Sql,
  { call_id, tokens, now }: { call_id: number; tokens: Record<string, unknown>; now: Date },
): Promise<void> {
  await db.sql(ADD_TOKENS, { call_id, tokens: JSON.stringify(tokens), now });
}

/** Adds the tokens that a buyer gives to its calls, to a call that was connected and its lead. */
export async function addTokensOfBuyer(
  db: Sql,
  { call_id, buyer_id, now }: { call_id: number; buyer_id: number; now: Date },
): Promise<void> {
  const [found] = await db.sql(READ_TOKENS_OF_BUYER, { buyer_id });
  if (!found) return;
  const tokens = JSON.stringify(pairTokens(found.pairs));
  await db.sql(ADD_TOKENS_OF_BUYER, { call_id, tokens, now });
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

const MARK_REPEAT_CALLER = {
  buyer: MARK_REPEAT_CALLER_OF_BUYER,
  traffic_source: MARK_REPEAT_CALLER_OF_SOURCE,
};

/**
 * Marks that the buyer does not pay, or that the source is not paid, because it did or was for the
 * same caller shortly before. Returns false if the call was marked already.
 */
export const markRepeatCaller = async (
  db: Sql,
  call_id: number,
  of: keyof typeof MARK_REPEAT_CALLER,
): Promise<boolean> => (await db.sql(MARK_REPEAT_CALLER[of], { call_id })).length > 0;
