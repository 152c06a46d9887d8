import { sql, statement } from '../../../data/sql';
import type { ChosenBuyers } from '../engine/reserved-choice';

/** The driver returns these columns with types that are too wide. */
interface ReservationColumns {
  id: number;
  buyer_ids: number[];
  buyer_group_id: number | null;
  slots: ChosenBuyers['slots'];
  caps: ChosenBuyers['caps'];
}

const RESERVATION_COLUMNS = sql`
  r.id::float8 AS id,
  r.buyer_ids::float8[] AS buyer_ids,
  r.buyer_group_id::float8 AS buyer_group_id,
  r.slots,
  r.caps,
  r.expires_at
`;

/**
 * The reservation for the next call of a caller to an offer, `asked.number` and `asked.offer_id`:
 * posted ones first, then the oldest.
 */
export const AWAITED_RESERVATION = sql`
    SELECT
      ${RESERVATION_COLUMNS},
      p.traffic_source_id::float8 AS traffic_source_id,
      p.sub_id,
      p.token_values
    FROM call_holds r
    JOIN pings p ON p.company_id = r.company_id AND p.id = r.ping_id
    WHERE r.company_id = {company_id} AND r.caller_number = asked.number
      AND r.offer_id = asked.offer_id AND r.expires_at > {now}::timestamptz AND NOT r.direct
    ORDER BY r.posted DESC, r.id
    LIMIT 1
`;

export const FIND_RESERVATION = statement(
  'routing.find_reservation',
  sql`
    SELECT held.*
    FROM (SELECT {caller_number}::bigint AS number, {offer_id}::bigint AS offer_id) asked
    CROSS JOIN LATERAL (${AWAITED_RESERVATION}) held
  `,
  { prepared: true, nullable: ['buyer_group_id', 'traffic_source_id'] },
).returning<
  ReservationColumns & {
    traffic_source_id: number | null;
    token_values: Record<string, unknown>;
  }
>();

export const RESERVED_OFFER = statement(
  'routing.reserved_offer',
  sql`
    SELECT r.offer_id::text AS offer_id
    FROM call_holds r
    WHERE r.company_id = {company_id} AND r.caller_number = {caller_number}::bigint
      AND r.expires_at > {now}::timestamptz AND NOT r.direct AND r.ping_id IS NOT NULL
    ORDER BY r.posted DESC, r.id
    LIMIT 1
  `,
  { prepared: true },
);

export const INSERT_RESERVATION = statement(
  'routing.insert_reservation',
  sql`
    INSERT INTO call_holds (
      company_id, created_at, ping_id, offer_id, caller_number, inbound_webhook_id, remote_ip,
      buyer_ids, buyer_group_id, slots, caps, posted, direct, expires_at
    )
    VALUES (
      {company_id}, {now}::timestamptz, {ping_id}::bigint, {offer_id}::bigint,
      {caller_number}::bigint, {inbound_webhook_id}::bigint, {remote_ip},
      {buyer_ids}::bigint[], {buyer_group_id}::bigint, {slots}::jsonb, {caps}::jsonb,
      {posted}::boolean, {direct}::boolean,
      {expires_at}::timestamptz
    )
  `,
  { prepared: true },
);

/**
 * Marks a ping's reservation as posted and extends it, if it has one of the allowed buyers: at most
 * until the bids of its buyers expire.
 */
export const CONFIRM_RESERVATION = statement(
  'routing.confirm_reservation',
  sql`
    UPDATE call_holds r
    SET posted = true, direct = {direct}::boolean, expires_at = least(
      {expires_at}::timestamptz,
      (
        SELECT min(k.expires_at)
        FROM bids k
        WHERE k.company_id = r.company_id AND k.caller_number = r.caller_number
          AND k.offer_id = r.offer_id AND k.buyer_id = ANY(r.buyer_ids)
      )
    )
    WHERE r.company_id = {company_id} AND r.ping_id = {ping_id}::bigint
      AND r.expires_at > {now}::timestamptz AND r.buyer_ids && {allowed}::bigint[]
    RETURNING ${RESERVATION_COLUMNS}
  `,
  { prepared: true, nullable: ['buyer_group_id'] },
).returning<ReservationColumns>();

export const RELEASE_RESERVATION = statement(
  'routing.release_reservation',
  sql`
    UPDATE call_holds
    SET ping_id = NULL, direct = false, expires_at = least(expires_at, {now}::timestamptz)
    WHERE company_id = {company_id} AND ping_id = {ping_id}::bigint
  `,
  { prepared: true },
);

/**
 * Deletes a batch of expired reservations, of all companies, and releases their usage of caps: the
 * slot, the pending amounts, the call, and its attempt in the windows that counted it. A call that
 * went to the buyer's own number (direct) is not reported, so only its slot and pending amounts are
 * released. Rows of caps are locked in the order in which calls reserve them: groups by id, then
 * buyers by id, then traffic sources by id.
 */
export const EXPIRE_RESERVATIONS = statement(
  'routing.expire_reservations',
  sql`
    WITH expired AS (
      SELECT r.company_id, r.id
      FROM call_holds r
      WHERE r.expires_at <= {now}::timestamptz
      ORDER BY r.expires_at
      LIMIT 500
      FOR UPDATE SKIP LOCKED
    ),
    deleted AS (
      DELETE FROM call_holds r
      USING expired
      WHERE r.company_id = expired.company_id AND r.id = expired.id
      RETURNING r.company_id, r.id, r.created_at, r.direct, r.slots
    ),
    released AS (
      SELECT deleted.company_id, deleted.created_at, deleted.direct, slot.*
      FROM deleted, jsonb_to_recordset(deleted.slots) AS slot(
        call_limit_id bigint, connections int, conversions int, revenue numeric
      )
    ),
    locked AS (
      SELECT
        l.company_id,
        l.id,
        l.last_call_at,
        l.totals_reset_at,
        l.hourly_resets_at - interval '1 hour' AS hour,
        ((l.daily_resets_at AT TIME ZONE l.zone) - interval '1 day') AT TIME ZONE l.zone AS day,
        ((l.monthly_resets_at AT TIME ZONE l.zone) - interval '1 month') AT TIME ZONE l.zone
          AS month
      FROM call_limits l
      WHERE (l.company_id, l.id) IN (SELECT company_id, call_limit_id FROM released)
      ORDER BY
        l.company_id, (l.buyer_group_id IS NULL), l.buyer_group_id, l.buyer_id, l.traffic_source_id
      FOR NO KEY UPDATE
    ),
    sums AS (
      SELECT
        k.company_id,
        k.id,
        count(*)::int AS slots,
        sum(r.connections)::int AS connections,
        sum(r.conversions)::int AS conversions,
        sum(r.revenue) AS revenue,
        count(*) FILTER (WHERE NOT r.direct)::int AS calls,
        count(*) FILTER (
          WHERE NOT r.direct AND r.created_at > coalesce(k.totals_reset_at, '-infinity')
        )::int AS total,
        count(*) FILTER (WHERE NOT r.direct AND r.created_at >= k.month)::int AS monthly,
        count(*) FILTER (WHERE NOT r.direct AND r.created_at >= k.day)::int AS daily,
        count(*) FILTER (WHERE NOT r.direct AND r.created_at >= k.hour)::int AS hourly,
        bool_or(NOT r.direct AND r.created_at = k.last_call_at) AS is_last
      FROM locked k
      JOIN released r ON r.company_id = k.company_id AND r.call_limit_id = k.id
      GROUP BY k.company_id, k.id
    ),
    updated AS (
      UPDATE call_limits l
      SET
        changed_by = pg_current_xact_id(),
        concurrency_cap_used = greatest(0, l.concurrency_cap_used - s.slots),
        pending_connections = l.pending_connections - s.connections,
        pending_conversions = l.pending_conversions - s.conversions,
        pending_revenue = l.pending_revenue - s.revenue,
        calls_count = greatest(0, l.calls_count - s.calls),
        attempt_total_used = greatest(0, l.attempt_total_used - s.total),
        attempt_monthly_used = greatest(0, l.attempt_monthly_used - s.monthly),
        attempt_daily_used = greatest(0, l.attempt_daily_used - s.daily),
        attempt_hourly_used = greatest(0, l.attempt_hourly_used - s.hourly),
        last_call_at = CASE
          WHEN s.is_last AND l.buyer_id IS NOT NULL THEN (
            SELECT max(a.created_at)
            FROM call_attempts a
            WHERE a.company_id = l.company_id AND a.buyer_id = l.buyer_id
          )
          ELSE l.last_call_at
        END
      FROM sums s
      WHERE l.company_id = s.company_id AND l.id = s.id
    )
    SELECT count(*)::int AS n FROM deleted
  `,
  { prepared: true },
);
