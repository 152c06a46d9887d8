import type { Pool } from 'pg';
import type { Chosen } from '../engine/held';
import { template } from '../../db/statement';
import type { Statements } from '../../db/tenant';

/** Caps that are taken up for a call that has not come yet. */
export interface Reservation {
  id: number;
  buyer_ids: number[];
  buyer_group_id: number | null;
  slots: Chosen['slots'];
  caps: Chosen['caps'];
  expires_at: Date;
}

/** A hold that its call is about to take over, with what the seller said of the call. */
export interface AwaitedReservation extends Reservation {
  traffic_source_id: number | null;
  sub_id: string | null;
  token_values: Record<string, unknown>;
}

/** For whom a hold is looked for. */
export interface Awaited {
  offer_id: number | string;
  caller_number: number;
  now: Date;
}

const HOLD = `h.id::float8 AS id, h.buyer_ids::float8[] AS buyer_ids, h.buyer_group_id::float8 AS buyer_group_id, h.slots, h.caps, h.expires_at`;

const FIND = template(
  `SELECT ${HOLD}, p.traffic_source_id::float8 AS traffic_source_id, p.sub_id, p.token_values FROM call_holds h JOIN pings p ON p.company_id = h.company_id AND p.id = h.ping_id
    WHERE h.company_id = {company_id} AND h.caller_number = {caller_number}::bigint AND h.offer_id = {offer_id}::bigint AND h.expires_at > {now}::timestamptz AND NOT h.direct
    ORDER BY h.posted DESC, h.id LIMIT 1`,
  { prepared: true },
);

/** What is held for the next call of a caller to an offer: what a seller has posted before what was only pinged, and of these the first. */
export async function findReservation(
  db: Statements,
  { now, ...awaited }: Awaited,
): Promise<AwaitedReservation | undefined> {
  return (
    await db.query<AwaitedReservation>(
      FIND({ ...awaited, company_id: db.company_id, now: now.toISOString() }),
    )
  )[0];
}

const OFFER = template(
  `SELECT h.offer_id::text AS offer_id FROM call_holds h WHERE h.company_id = {company_id} AND h.caller_number = {caller_number}::bigint AND h.expires_at > {now}::timestamptz AND NOT h.direct AND h.ping_id IS NOT NULL
    ORDER BY h.posted DESC, h.id LIMIT 1`,
  { prepared: true },
);

/** The offer that a caller's call is awaited at, for a number that has none of its own. */
export async function awaitedOffer(
  db: Statements,
  caller_number: number,
  now: Date,
): Promise<string | undefined> {
  return (
    await db.query<{ offer_id: string }>(
      OFFER({ company_id: db.company_id, caller_number, now: now.toISOString() }),
    )
  )[0]?.offer_id;
}

const TAKE = template(
  `DELETE FROM call_holds h WHERE h.company_id = {company_id} AND h.id = {id}::bigint AND h.ping_id IS NOT NULL AND h.expires_at > {now}::timestamptz RETURNING h.ping_id::text`,
  { prepared: true },
);

/** Takes what is held for a ping over, and answers the ping's id. Undefined when it has run out, or another call was first. */
export const takeHold = async (
  db: Statements,
  id: number,
  now: Date,
): Promise<string | undefined> =>
  (
    await db.query<{ ping_id: string }>(
      TAKE({ company_id: db.company_id, id, now: now.toISOString() }),
    )
  )[0]?.ping_id;

const TELL = template(
  'UPDATE pings SET call_id = {call_id}::bigint WHERE company_id = {company_id} AND id = {ping_id}::bigint',
  { prepared: true },
);

/** Writes down which call a ping has come to. */
export async function recordPingOutcome(
  db: Statements,
  ping_id: string,
  call_id: number,
): Promise<void> {
  await db.query(TELL({ company_id: db.company_id, ping_id, call_id }));
}

export interface NewReservation {
  ping_id: string;
  offer_id: number;
  caller_number: number;
  chosen: Pick<Chosen, 'members' | 'slots' | 'caps'>;
  posted: boolean;
  direct: boolean;
  now: Date;
  expires_at: Date;
}

const INSERT = template(
  `INSERT INTO call_holds (company_id, created_at, ping_id, offer_id, caller_number, buyer_ids, buyer_group_id, slots, caps, posted, direct, expires_at)
    VALUES ({company_id}, {now}::timestamptz, {ping_id}::bigint, {offer_id}::bigint, {caller_number}::bigint, {buyer_ids}::bigint[], {buyer_group_id}::bigint, {slots}::jsonb, {caps}::jsonb, {posted}::boolean,
      {direct}::boolean, {expires_at}::timestamptz)`,
  { prepared: true },
);

/** Keeps what was just taken up for a ping, in the transaction that took it. */
export async function insertReservation(
  db: Statements,
  { chosen, now, expires_at, ...hold }: NewReservation,
): Promise<void> {
  await db.query(
    INSERT({
      ...hold,
      company_id: db.company_id,
      now: now.toISOString(),
      expires_at: expires_at.toISOString(),
      buyer_ids: chosen.members.map(({ buyer }) => buyer.id),
      buyer_group_id: chosen.members[0]?.group?.id ?? null,
      slots: JSON.stringify(chosen.slots),
      caps: JSON.stringify(chosen.caps),
    }),
  );
}

const CONFIRM = template(
  `UPDATE call_holds h SET posted = true, direct = {direct}::boolean, expires_at = {expires_at}::timestamptz
    WHERE h.company_id = {company_id} AND h.ping_id = {ping_id}::bigint AND h.expires_at > {now}::timestamptz AND h.buyer_ids && {allowed}::bigint[] RETURNING ${HOLD}`,
  { prepared: true },
);

interface Confirming {
  ping_id: string;
  /** Buyers that the post is for. */
  allowed: readonly number[];
  direct: boolean;
  now: Date;
  expires_at: Date;
}

/** Holds on to what is held for a ping, if it still is: from then on its call is awaited. */
export async function confirmReservation(
  db: Statements,
  { ping_id, allowed, direct, now, expires_at }: Confirming,
): Promise<Reservation | undefined> {
  const values = {
    company_id: db.company_id,
    ping_id,
    allowed,
    direct,
    now: now.toISOString(),
    expires_at: expires_at.toISOString(),
  };
  return (await db.query<Reservation>(CONFIRM(values)))[0];
}

const LET_GO = template(
  `UPDATE call_holds SET ping_id = NULL, direct = false, expires_at = least(expires_at, {now}::timestamptz) WHERE company_id = {company_id} AND ping_id = {ping_id}::bigint`,
  { prepared: true },
);

/**
 * Lets go of what is held for a ping. It is given back by who sweeps what has run out, not here: here other rows of caps are locked already, and two
 * that lock them in different orders would wait for each other.
 */
export async function releaseReservation(
  db: Statements,
  ping_id: string,
  now: Date,
): Promise<void> {
  await db.query(LET_GO({ company_id: db.company_id, ping_id, now: now.toISOString() }));
}

/** Holds that one statement gives back. */
const BATCH = 500;

const starts = (window: string, length: string) =>
  `((l.${window} AT TIME ZONE l.zone) - interval '${length}') AT TIME ZONE l.zone`;
const counted = (condition: string) => `count(*) FILTER (WHERE NOT b.direct AND ${condition})::int`;

/**
 * Whoever deletes a hold gives back what it took up: an attempt where the window it counts in still runs, a call, and a slot. Of a call that went to the
 * buyer's own number nothing is heard, so that only its slot comes back.
 */
const FREE = template(
  `WITH ended AS (SELECT h.company_id, h.id FROM call_holds h WHERE h.expires_at <= {now}::timestamptz ORDER BY h.expires_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED),
  gone AS (DELETE FROM call_holds h USING ended WHERE h.company_id = ended.company_id AND h.id = ended.id RETURNING h.company_id, h.id, h.created_at, h.direct, h.slots),
  back AS (SELECT g.company_id, g.created_at, g.direct, x.* FROM gone g, jsonb_to_recordset(g.slots) AS x(call_limit_id bigint, connections int, conversions int, revenue numeric)),
  locked AS (SELECT l.company_id, l.id, l.last_call_at, l.totals_reset_at, l.hourly_resets_at - interval '1 hour' AS hour, ${starts('daily_resets_at', '1 day')} AS day, ${starts('monthly_resets_at', '1 month')} AS month
    FROM call_limits l WHERE (l.company_id, l.id) IN (SELECT company_id, call_limit_id FROM back) ORDER BY l.company_id, (l.buyer_group_id IS NULL), l.buyer_group_id, l.buyer_id FOR NO KEY UPDATE),
  sums AS (SELECT k.company_id, k.id, count(*)::int AS slots, sum(b.connections)::int AS connections, sum(b.conversions)::int AS conversions, sum(b.revenue) AS revenue, ${counted('true')} AS calls, ${counted("b.created_at > coalesce(k.totals_reset_at, '-infinity')")} AS total,
      ${counted('b.created_at >= k.month')} AS monthly, ${counted('b.created_at >= k.day')} AS daily, ${counted('b.created_at >= k.hour')} AS hourly, bool_or(NOT b.direct AND b.created_at = k.last_call_at) AS is_last
    FROM locked k JOIN back b ON b.company_id = k.company_id AND b.call_limit_id = k.id GROUP BY k.company_id, k.id),
  given AS (UPDATE call_limits l SET concurrency_cap_used = greatest(0, l.concurrency_cap_used - s.slots), pending_connections = l.pending_connections - s.connections,
      pending_conversions = l.pending_conversions - s.conversions, pending_revenue = l.pending_revenue - s.revenue, calls_count = greatest(0, l.calls_count - s.calls), attempt_total_used = greatest(0, l.attempt_total_used - s.total),
      attempt_monthly_used = greatest(0, l.attempt_monthly_used - s.monthly), attempt_daily_used = greatest(0, l.attempt_daily_used - s.daily), attempt_hourly_used = greatest(0, l.attempt_hourly_used - s.hourly),
      last_call_at = CASE WHEN s.is_last AND l.buyer_id IS NOT NULL THEN (SELECT max(a.created_at) FROM call_attempts a WHERE a.company_id = l.company_id AND a.buyer_id = l.buyer_id) ELSE l.last_call_at END
    FROM sums s WHERE l.company_id = s.company_id AND l.id = s.id)
  SELECT count(*)::int AS n FROM gone`,
  { prepared: true },
);

/** Gives back what is held and has run out, of all companies, one batch of it; answers how many holds there were. */
export async function freeEndedHolds(pool: Pool, now: Date): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(FREE({ now: now.toISOString() }));
  return rows[0]!.n;
}
