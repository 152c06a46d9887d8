import type { Statements } from '../db/tenant';
import {
  FIND_FORWARDING_NUMBER,
  INSERT_PING,
  LOAD_BIDS,
  LOCK_PING,
  SAVE_ANSWER,
} from './queries/pings';

// Pings as they are stored, and what their replies need from the database.

/** A ping, as a post for it needs it. */
export interface PingRow {
  id: string;
  uuid: string;
  offer_id: number;
  /** E.164 without the plus. */
  caller_number: number;
  traffic_source_id: number | null;
  sub_id: string | null;
  token_values: Record<string, unknown>;
  /** The buyers in the reply to the ping, in order. */
  buyer_ids: number[];
  expires_at: Date;
  /** The answer to its post; null before there was one. */
  answer: PostAnswer | null;
  /** The call that came for the post. */
  call_uuid: string | null;
}

/** An answer to a post, stored so that the same post is answered the same. */
export interface PostAnswer {
  ping_id: string;
  buyer_id: number;
  user_buyer_id: string | null;
  name: string | null;
  bid_price: number;
  bid_duration: number | null;
  forwarding_number: string;
  expires_at: string;
  late: boolean;
  warnings: string[];
}

export type NewPing = Omit<PingRow, 'id' | 'call_uuid'> & { inbound_webhook_id: number; now: Date };

/** Stores a ping with its reply, and returns its id. */
export async function insertPing(
  db: Statements,
  { token_values, answer, ...ping }: NewPing,
): Promise<string> {
  const [row] = await db.sql(INSERT_PING, {
    ...ping,
    token_values: JSON.stringify(token_values),
    answer: answer && JSON.stringify(answer),
  });
  return row!.id;
}

/** A ping of an endpoint, locked until the transaction ends: its posts are handled one by one. */
export async function lockPing(
  db: Statements,
  uuid: string,
  inbound_webhook_id: number,
): Promise<PingRow | undefined> {
  const [row] = await db.sql(LOCK_PING, { uuid, inbound_webhook_id });
  return row as PingRow | undefined;
}

/** Stores the answer to a post, and what it says about the call in addition to its ping. */
export async function saveAnswer(
  db: Statements,
  id: string,
  post: { answer: PostAnswer; tokens: Record<string, unknown>; sub_id: string | null },
): Promise<void> {
  const { answer, tokens, sub_id } = post;
  const values = { answer: JSON.stringify(answer), tokens: JSON.stringify(tokens), sub_id };
  await db.sql(SAVE_ANSWER, { id, ...values });
}

/** A buyer, and what it pays for a call now. */
export interface Bid {
  buyer_id: number;
  user_buyer_id: string | null;
  name: string | null;
  /** + and digits, or a SIP address. */
  number: string | null;
  /** Dollars; 0 without a conversion. */
  bid_price: number;
  /** Seconds after which it pays; null if it does not pay for the duration. */
  bid_duration: number | null;
}

/** The bids of buyers, by buyer. */
export async function loadBids(
  db: Statements,
  buyer_ids: readonly number[],
  now: Date,
): Promise<Map<number, Bid>> {
  const bids = buyer_ids.length > 0 ? await db.sql(LOAD_BIDS, { buyer_ids, now }) : [];
  return new Map(bids.map((bid) => [bid.buyer_id, bid]));
}

/**
 * The number of the company to which calls for an offer are forwarded; null when it has none that
 * fits.
 */
export async function forwardingNumber(
  db: Statements,
  { offer_id, traffic_source_id }: Pick<PingRow, 'offer_id' | 'traffic_source_id'>,
): Promise<string | null> {
  const [found] = await db.sql(FIND_FORWARDING_NUMBER, { offer_id, traffic_source_id });
  return found!.number;
}
