import {
  RETURN_CREDIT,
  RETURN_ENTRIES,
  RETURNED_PAYOUT_ENTRY,
} from '../../money/queries/call-entries';
import { sql, statement } from '../../../data/sql';
import { RECORD_CHANGE } from '../../leads/queries/record-leads';
import { OLD_AND_NEW, CALL_BEFORE, RECORD_CALL_CHANGE } from './record-call';

export const READ_CONVERSIONS = statement(
  'calls.read_conversions',
  sql`
    SELECT
      v.id::text AS id, v.buyer_id::float8 AS buyer_id,
      a.buyer_group_id::float8 AS buyer_group_id, v.created_at AS converted_at,
      v.revenue::float8 AS revenue
    FROM conversions v
    LEFT JOIN call_attempts a
      ON a.company_id = v.company_id AND a.call_id = v.call_id AND a.buyer_id = v.buyer_id
    WHERE v.company_id = {company_id} AND v.call_id = {call_id}::bigint AND v.returned_at IS NULL
    ORDER BY v.id`,
  { prepared: true, nullable: ['buyer_group_id'] },
).returning<{ converted_at: Date }>();

/** Amounts that were counted for a call, and when; without those before a return. */
export const READ_AMOUNTS = statement(
  'calls.read_amounts',
  sql`
    SELECT
      e.event, e.buyer_id::float8 AS buyer_id, e.created_at,
      coalesce((e.details->>'to')::float8 - (e.details->>'from')::float8, 0) AS amount
    FROM call_events e
    WHERE e.company_id = {company_id}
      AND e.call_id = {call_id}::bigint
      AND (
        e.event = 'revenue_changed' AND NOT EXISTS (
          SELECT
          FROM call_events r
          WHERE r.company_id = e.company_id AND r.call_id = e.call_id AND r.id > e.id
            AND r.event = 'conversion_returned' AND r.buyer_id = e.buyer_id
        )
        OR e.event IN ('payout', 'payout_changed') AND NOT EXISTS (
          SELECT
          FROM call_events r
          WHERE r.company_id = e.company_id AND r.call_id = e.call_id AND r.id > e.id
            AND r.event = 'payout_returned'
        )
      )
    ORDER BY e.id`,
  { prepared: true, nullable: ['buyer_id'] },
);

/**
 * Subtracts returned amounts from the caps of buyers, groups and sources: from each window that
 * still runs and in which they were counted. Prepaid buyers get back what they were charged. Caps
 * are locked in the order in which calls reserve them: groups by id, then buyers by id, then the
 * traffic source.
 */
export const RETURN_USAGE = statement(
  'calls.return_usage',
  sql`
    WITH counted AS (
      SELECT *
      FROM jsonb_to_recordset({counted}::jsonb) AS x(
        buyer_id bigint, buyer_group_id bigint, traffic_source_id bigint, at timestamptz,
        conversions int, revenue numeric, earned_revenue numeric
      )
    ),
    locked AS (
      SELECT
        l.id, l.buyer_id, l.buyer_group_id, l.traffic_source_id,
        coalesce(l.totals_reset_at, '-infinity') AS totals_reset_at,
        CASE WHEN l.hourly_resets_at > {now}::timestamptz
          THEN l.hourly_resets_at - interval '1 hour'
        END AS hour,
        CASE WHEN l.daily_resets_at > {now}::timestamptz
          THEN ((l.daily_resets_at AT TIME ZONE l.zone) - interval '1 day') AT TIME ZONE l.zone
        END AS day,
        CASE WHEN l.monthly_resets_at > {now}::timestamptz
          THEN ((l.monthly_resets_at AT TIME ZONE l.zone) - interval '1 month') AT TIME ZONE l.zone
        END AS month
      FROM call_limits l
      WHERE l.company_id = {company_id}
        AND (
          l.buyer_id IN (SELECT buyer_id FROM counted)
          OR l.buyer_group_id IN (SELECT buyer_group_id FROM counted)
          OR l.traffic_source_id IN (SELECT traffic_source_id FROM counted)
        )
      ORDER BY (l.buyer_group_id IS NULL), l.buyer_group_id, l.buyer_id, l.traffic_source_id
      FOR NO KEY UPDATE
    ),
    parts AS (
      SELECT
        k.id, x.conversions, x.revenue, x.earned_revenue,
        x.at > k.totals_reset_at AS in_total,
        coalesce(x.at >= k.month, false) AS in_month,
        coalesce(x.at >= k.day, false) AS in_day,
        coalesce(x.at >= k.hour, false) AS in_hour
      FROM locked k
      JOIN counted x
        ON x.buyer_id = k.buyer_id OR x.buyer_group_id = k.buyer_group_id
        OR x.traffic_source_id = k.traffic_source_id
    ),
    sums AS (
      SELECT
        p.id,
        coalesce(sum(p.conversions) FILTER (WHERE p.in_total), 0)::int AS total_conversions,
        coalesce(sum(p.conversions) FILTER (WHERE p.in_month), 0)::int AS month_conversions,
        coalesce(sum(p.conversions) FILTER (WHERE p.in_day), 0)::int AS day_conversions,
        coalesce(sum(p.conversions) FILTER (WHERE p.in_hour), 0)::int AS hour_conversions,
        coalesce(sum(p.revenue) FILTER (WHERE p.in_total), 0) AS total_revenue,
        coalesce(sum(p.revenue) FILTER (WHERE p.in_month), 0) AS month_revenue,
        coalesce(sum(p.revenue) FILTER (WHERE p.in_day), 0) AS day_revenue,
        coalesce(sum(p.revenue) FILTER (WHERE p.in_hour), 0) AS hour_revenue,
        coalesce(sum(p.earned_revenue) FILTER (WHERE p.in_total), 0) AS total_earned,
        coalesce(sum(p.earned_revenue) FILTER (WHERE p.in_month), 0) AS month_earned,
        coalesce(sum(p.earned_revenue) FILTER (WHERE p.in_day), 0) AS day_earned,
        coalesce(sum(p.earned_revenue) FILTER (WHERE p.in_hour), 0) AS hour_earned
      FROM parts p
      GROUP BY p.id
    )
    UPDATE call_limits l
    SET
      changed_by = pg_current_xact_id(),
      balance = l.balance + ${RETURN_CREDIT},
      buyer_conversion_total_used =
        greatest(0, l.buyer_conversion_total_used - s.total_conversions),
      buyer_conversion_monthly_used =
        greatest(0, l.buyer_conversion_monthly_used - s.month_conversions),
      buyer_conversion_daily_used = greatest(0, l.buyer_conversion_daily_used - s.day_conversions),
      buyer_conversion_hourly_used =
        greatest(0, l.buyer_conversion_hourly_used - s.hour_conversions),
      revenue_total_used = greatest(0, l.revenue_total_used - s.total_revenue),
      revenue_monthly_used = greatest(0, l.revenue_monthly_used - s.month_revenue),
      revenue_daily_used = greatest(0, l.revenue_daily_used - s.day_revenue),
      revenue_hourly_used = greatest(0, l.revenue_hourly_used - s.hour_revenue),
      earned_revenue_total_used = l.earned_revenue_total_used - s.total_earned,
      earned_revenue_monthly_used = l.earned_revenue_monthly_used - s.month_earned,
      earned_revenue_daily_used = l.earned_revenue_daily_used - s.day_earned,
      earned_revenue_hourly_used = l.earned_revenue_hourly_used - s.hour_earned
    FROM sums s
    WHERE l.company_id = {company_id} AND l.id = s.id`,
  { prepared: true },
);

const LEAD_WAS = sql`
    held AS MATERIALIZED (
      SELECT w AS was, w.id
      FROM call
      JOIN leads w ON w.company_id = {company_id} AND w.id = call.lead_id
      FOR NO KEY UPDATE OF w
    )`;

export const RETURN_CONVERSIONS = statement(
  'calls.return_conversions',
  sql`
    WITH was AS (${CALL_BEFORE}
    ),
    returned AS (
      UPDATE conversions
      SET returned_at = {now}::timestamptz, return_reason = {reason}
      WHERE company_id = {company_id} AND id = ANY({conversion_ids}::bigint[])
      RETURNING id, buyer_id
    ),
    entries AS (${RETURN_ENTRIES}
    ),
    call AS (
      UPDATE calls c
      SET
        buyer_converted = false,
        revenue = c.revenue - {revenue}::numeric,
        buyer_revenue = c.buyer_revenue - {revenue}::numeric,
        updated_at = {now}::timestamptz,
        user_updated_at = {now}::timestamptz
      FROM was
      WHERE c.company_id = {company_id} AND c.id = was.id
      RETURNING c.lead_id, ${OLD_AND_NEW}
    ),
    ${LEAD_WAS},
    lead AS (
      UPDATE leads l
      SET revenue = l.revenue - {revenue}::numeric, updated_at = {now}::timestamptz
      FROM held
      WHERE l.company_id = {company_id} AND l.id = held.id
      RETURNING held.was, l AS is_now
    ),
    lead_recorded AS MATERIALIZED (
      SELECT ${RECORD_CHANGE}
      FROM lead x
    )
    SELECT ${RECORD_CALL_CHANGE}
    FROM call,
      (SELECT count(*) AS n FROM returned) returned,
      (SELECT count(*) AS n FROM lead_recorded) lead
    WHERE returned.n >= 0 AND lead.n >= 0`,
  { prepared: true, records: true },
);

/** A lead stays converted while another of its calls is. */
export const UNCONVERT_LEAD = statement(
  'calls.unconvert_lead',
  sql`
    WITH held AS MATERIALIZED (
      SELECT w AS was, w.id
      FROM calls c
      JOIN leads w ON w.company_id = c.company_id AND w.id = c.lead_id
      WHERE c.company_id = {company_id} AND c.id = {call_id}::bigint AND w.buyer_converted
      FOR NO KEY UPDATE OF w
    ),
    lead AS (
      UPDATE leads l
      SET buyer_converted = false
      FROM held
      WHERE l.company_id = {company_id}
        AND l.id = held.id
        AND NOT EXISTS (
          SELECT
          FROM calls other
          WHERE other.company_id = {company_id}
            AND other.lead_id = held.id
            AND other.id <> {call_id}::bigint
            AND other.buyer_converted
        )
      RETURNING held.was, l AS is_now
    )
    SELECT count(${RECORD_CHANGE}) AS n
    FROM lead x`,
  { prepared: true },
);

export const RETURN_PAYOUT = statement(
  'calls.return_payout',
  sql`
    WITH was AS (${CALL_BEFORE}
    ),
    unpaid AS (
      UPDATE conversions
      SET payout = 0
      WHERE company_id = {company_id} AND call_id = {call_id}::bigint AND returned_at IS NULL
    ),
    entry AS (${RETURNED_PAYOUT_ENTRY}
    ),
    call AS (
      UPDATE calls c
      SET
        traffic_source_converted = false,
        payout = c.payout - {payout}::numeric,
        updated_at = {now}::timestamptz,
        user_updated_at = {now}::timestamptz
      FROM was
      WHERE c.company_id = {company_id} AND c.id = was.id
      RETURNING c.lead_id, ${OLD_AND_NEW}
    ),
    ${LEAD_WAS},
    lead AS (
      UPDATE leads l
      SET
        payout = l.payout - {payout}::numeric,
        offer_converted = EXISTS (
          SELECT
          FROM calls other
          WHERE other.company_id = {company_id}
            AND other.lead_id = l.id
            AND other.id <> {call_id}::bigint
            AND other.traffic_source_converted
        ),
        updated_at = {now}::timestamptz
      FROM held
      WHERE l.company_id = {company_id} AND l.id = held.id
      RETURNING held.was, l AS is_now
    ),
    lead_recorded AS MATERIALIZED (
      SELECT ${RECORD_CHANGE}
      FROM lead x
    )
    SELECT ${RECORD_CALL_CHANGE}
    FROM call, (SELECT count(*) AS n FROM lead_recorded) lead
    WHERE lead.n >= 0`,
  { prepared: true, records: true },
);
