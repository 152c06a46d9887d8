import { template } from '../../db/statement';
import type { Statements } from '../../db/tenant';

/** An endpoint of sellers as it decides about a ping. */
export interface Endpoint {
  id: number;
  offer_id: number;
  traffic_source_id: number | null;
  hold_seconds: number;
  paused: boolean;
}

const ENDPOINT = template(
  `SELECT w.id::float8 AS id, w.offer_id::float8 AS offer_id, w.traffic_source_id::float8 AS traffic_source_id, w.hold_seconds, w.paused FROM inbound_webhooks w
    WHERE w.company_id = {company_id} AND w.id = {id}::bigint AND w.deleted_at IS NULL`,
  { prepared: true },
);

/** A living endpoint as it stands now. */
export async function readEndpoint(db: Statements, id: bigint): Promise<Endpoint | undefined> {
  return (await db.query<Endpoint>(ENDPOINT({ company_id: db.company_id, id })))[0];
}

/** What a seller has asked. */
export interface PingRow {
  id: string;
  uuid: string;
  offer_id: number;
  /** E.164 without the plus. */
  caller_number: number;
  traffic_source_id: number | null;
  sub_id: string | null;
  token_values: Record<string, unknown>;
  /** Buyers that it was told, in their order. */
  buyer_ids: number[];
  expires_at: Date;
  /** What its post was answered. */
  answer: KeptAnswer | null;
  call_uuid: string | null;
}

/** An answer to a post as it is kept, to be given again. */
export interface KeptAnswer {
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

const INSERT = template(
  `INSERT INTO pings (company_id, uuid, created_at, inbound_webhook_id, offer_id, caller_number, traffic_source_id, sub_id, token_values, buyer_ids, expires_at, answer)
    VALUES ({company_id}, {uuid}::uuid, {now}::timestamptz, {inbound_webhook_id}::bigint, {offer_id}::bigint, {caller_number}::bigint, {traffic_source_id}::bigint, {sub_id}, {token_values}::jsonb, {buyer_ids}::bigint[],
      {expires_at}::timestamptz, {answer}::jsonb) RETURNING id::text`,
  { prepared: true },
);

export type NewPing = Omit<PingRow, 'id' | 'call_uuid'> & { inbound_webhook_id: number; now: Date };

/** Keeps what was asked and told, and answers its id. */
export async function insertPing(
  db: Statements,
  { now, expires_at, token_values, answer, ...ping }: NewPing,
): Promise<string> {
  const values = {
    ...ping,
    company_id: db.company_id,
    now: now.toISOString(),
    expires_at: expires_at.toISOString(),
  };
  const [row] = await db.query<{ id: string }>(
    INSERT({
      ...values,
      token_values: JSON.stringify(token_values),
      answer: answer && JSON.stringify(answer),
    }),
  );
  return row!.id;
}

const LOCK = template(
  `SELECT p.id::text, p.uuid::text, p.offer_id::float8 AS offer_id, p.caller_number::float8 AS caller_number, p.traffic_source_id::float8 AS traffic_source_id, p.sub_id, p.token_values, p.buyer_ids::float8[] AS buyer_ids,
      p.expires_at, p.answer, (SELECT c.uuid::text FROM calls c WHERE c.company_id = p.company_id AND c.id = p.call_id) AS call_uuid
    FROM pings p WHERE p.company_id = {company_id} AND p.uuid = {uuid}::uuid AND p.inbound_webhook_id = {inbound_webhook_id}::bigint FOR UPDATE OF p`,
  { prepared: true },
);

/** A ping at an endpoint, locked until the transaction ends: of two posts for it one waits for the other. */
export async function lockPing(
  db: Statements,
  uuid: string,
  inbound_webhook_id: number,
): Promise<PingRow | undefined> {
  return (
    await db.query<PingRow>(LOCK({ company_id: db.company_id, uuid, inbound_webhook_id }))
  )[0];
}

const ANSWER = template(
  `UPDATE pings SET answer = {answer}::jsonb, call_id = NULL, token_values = token_values || {tokens}::jsonb, sub_id = coalesce({sub_id}, sub_id) WHERE company_id = {company_id} AND id = {id}::bigint`,
  { prepared: true },
);

/** Keeps what a post was answered, and what it has told of the call beyond its ping. */
export async function answerPing(
  db: Statements,
  id: string,
  {
    answer,
    tokens,
    sub_id,
  }: { answer: KeptAnswer; tokens: Record<string, unknown>; sub_id: string | null },
): Promise<void> {
  await db.query(
    ANSWER({
      company_id: db.company_id,
      id,
      answer: JSON.stringify(answer),
      tokens: JSON.stringify(tokens),
      sub_id,
    }),
  );
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
  /** Seconds after which it pays; null when not for its duration. */
  bid_duration: number | null;
}

const BIDS = template(
  `SELECT b.id::float8 AS buyer_id, b.user_buyer_id, b.name, b.number, coalesce(x.revenue, 0)::float8 AS bid_price, CASE WHEN x.conversion_type = 'duration' THEN x.duration END AS bid_duration FROM buyers b
    JOIN call_limits l ON l.company_id = b.company_id AND l.buyer_id = b.id
    LEFT JOIN LATERAL (SELECT c.* FROM buyer_conversions c WHERE c.company_id = b.company_id AND c.buyer_id = b.id AND is_open(c.open_minutes, local_minute_of_week({now}::timestamptz, l.zone))
      ORDER BY c.time_frame, c.position LIMIT 1) x ON true
    WHERE b.company_id = {company_id} AND b.id = ANY({buyer_ids}::bigint[])`,
  { prepared: true },
);

/** What buyers bid. */
export async function loadBids(
  db: Statements,
  buyer_ids: readonly number[],
  now: Date,
): Promise<Map<number, Bid>> {
  const bids =
    buyer_ids.length > 0
      ? await db.query<Bid>(BIDS({ company_id: db.company_id, buyer_ids, now: now.toISOString() }))
      : [];
  return new Map(bids.map((bid) => [bid.buyer_id, bid]));
}

const own = (offer: string) =>
  `(SELECT '+' || n.phone_number FROM numbers n WHERE n.company_id = {company_id} AND n.deleted_at IS NULL AND n.forward_type = 'offer_id' AND n.offer_id ${offer}
    ORDER BY (n.traffic_source_id IS NOT DISTINCT FROM {traffic_source_id}::bigint) DESC, n.traffic_source_id NULLS FIRST, n.id LIMIT 1)`;
const NUMBER = template(
  `SELECT coalesce(${own('= {offer_id}::bigint')}, ${own('IS NULL')}) AS number`,
  { prepared: true },
);

/** The number of the company that calls for an offer are forwarded to: one of the offer, the traffic source's own before others, else one that belongs to no offer. */
export async function forwardingNumber(
  db: Statements,
  { offer_id, traffic_source_id }: Pick<PingRow, 'offer_id' | 'traffic_source_id'>,
): Promise<string | null> {
  return (
    await db.query<{ number: string | null }>(
      NUMBER({ company_id: db.company_id, offer_id, traffic_source_id }),
    )
  )[0]!.number;
}
