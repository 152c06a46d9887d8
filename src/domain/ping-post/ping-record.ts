import type { Statements } from '../../data/db';
import { computePayout } from '../money/engine/payout';
import {
  FIND_FORWARDING_NUMBER,
  INSERT_PING,
  LOAD_BIDS,
  LOCK_PING,
  SAVE_ANSWER,
} from './queries/pings';

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
  answer: PostAnswer | null;
  /** The call that the post announced. */
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
  inboundWebhookId: number,
): Promise<PingRow | undefined> {
  const [row] = await db.sql(LOCK_PING, { uuid, inbound_webhook_id: inboundWebhookId });
  return row as PingRow | undefined;
}

/** Stores the answer to a post, and the data that it adds to those of its ping. */
export async function saveAnswer(
  db: Statements,
  id: string,
  post: { answer: PostAnswer; tokens: Record<string, unknown>; sub_id: string | null },
): Promise<void> {
  const { answer, tokens, sub_id } = post;
  const values = { answer: JSON.stringify(answer), tokens: JSON.stringify(tokens), sub_id };
  await db.sql(SAVE_ANSWER, { id, ...values });
}

/** A buyer, and what the seller gets for a call that it takes now. */
export interface Bid {
  buyer_id: number;
  /** Null, like the name, if the endpoint hides the names of buyers. */
  user_buyer_id: string | null;
  name: string | null;
  /** + and digits, or a SIP address. */
  number: string | null;
  /** Dollars by the payouts of the offer or the source; what the buyer pays is not shown. */
  bid_price: number;
  /** Seconds after which the seller is paid; null if that does not depend on the duration. */
  bid_duration: number | null;
  /** Until when a bidder's own bid stands; null for buyers that are not asked. */
  stands_until: Date | null;
}

export interface Terms {
  offer_id: number;
  caller_number: number;
  traffic_source_id: number | null;
  show_buyer_names: boolean;
  /** The only buyers that may be named; absent: all. */
  may_name?: readonly number[] | undefined;
}

interface BidParams {
  buyer_ids: readonly number[];
  offer_id: number;
  caller_number: number;
  traffic_source_id: number | null;
  now: Date;
}

const readBids = (db: Statements, params: BidParams) => db.sql(LOAD_BIDS, params);

/** By the id of the buyer. */
export async function loadBids(
  db: Statements,
  buyerIds: readonly number[],
  { terms, now }: { terms: Terms; now: Date },
): Promise<Map<number, Bid>> {
  const { offer_id, caller_number, traffic_source_id } = terms;
  const params = { buyer_ids: buyerIds, offer_id, caller_number, traffic_source_id, now };
  const rows = buyerIds.length > 0 ? await readBids(db, params) : [];
  return new Map(rows.map((row) => [row.buyer_id, toBid(row, terms)]));
}

type BidRow = Awaited<ReturnType<typeof readBids>>[number];

function toBid(
  { buyer_id, user_buyer_id, name, number, revenue, duration, ...tables }: BidRow,
  { traffic_source_id, show_buyer_names, may_name }: Terms,
): Bid {
  const isNamed = show_buyer_names && (may_name?.includes(buyer_id) ?? true);
  const due = computePayout(tables, {
    traffic_source_id,
    answered_seconds: Infinity,
    revenue: revenue ?? undefined,
  });
  const isByDuration = due?.terms.paid_for === 'duration';
  const saleDuration = due ? duration : null;
  return {
    buyer_id,
    user_buyer_id: isNamed ? user_buyer_id : null,
    name: isNamed ? name : null,
    number,
    bid_price: due?.payout ?? 0,
    bid_duration: isByDuration ? (due.terms.duration ?? 0) : saleDuration,
    stands_until: tables.expires_at,
  };
}

/** Null if no number of the company fits. */
export async function findForwardingNumber(
  db: Statements,
  { offer_id, traffic_source_id }: Pick<PingRow, 'offer_id' | 'traffic_source_id'>,
): Promise<string | null> {
  const [row] = await db.sql(FIND_FORWARDING_NUMBER, { offer_id, traffic_source_id });
  return row!.number;
}
