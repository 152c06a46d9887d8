import { buildVisibleCondition, buildBuyerCondition } from '../../../data/access/scope';
import { buildMoneyJoin } from '../../../data/access/money';
import { sql, SqlText, statement } from '../../../data/sql';
import { TOTAL_DURATION, UNBILLED_REASON } from '../columns';
import { safeCell } from '../../../data/projection/projection-sql';

// Reports add up calls by a category. Records are grouped by `record_id`, days and hours by
// `period`, the time at which they begin; the other one is null. Filters that are not given are
// null, and so are the teams of a caller who may see all. The statements are not prepared:
// PostgreSQL plans them for their values, without the filters that are null and the branches of
// other categories.

const VISIBLE_CALL = new SqlText(buildVisibleCondition('calls')!);
const VISIBLE_BUYER = new SqlText(buildBuyerCondition('t.buyer_id'));
/** Visibility of revenue and payout of a call `t` for a caller with a limited access scope. */
const SIDES = new SqlText(buildMoneyJoin('calls'));
const DURATION = new SqlText(TOTAL_DURATION);
const REASON = new SqlText(UNBILLED_REASON);
const SAFE_NAME = new SqlText(safeCell('g.name'));

const IS_PERSON = sql`(
          t.routed AND t.answered_by IN ('human', 'unknown')
        )`;

/** A condition on the buyer of `t`: a call, an attempt, or a buyer that was passed over. */
const BUYER_CONDITION = sql`
        ({buyer_id}::bigint IS NULL OR t.buyer_id = {buyer_id}::bigint)
        AND ({scope_teams}::bigint[] IS NULL OR {category}::text <> 'buyer' OR ${VISIBLE_BUYER})`;

/**
 * A call counts under its buyer, an attempt under the buyer that was dialed, a reason under the
 * buyer that was passed over.
 */
const CALL_SUMS = sql`
    selected AS MATERIALIZED (
      SELECT
        t.id, t.buyer_id, t.connected_at, t.buyer_converted, t.traffic_source_converted,
        t.revenue, t.payout, ${DURATION} AS duration, t.abandoned,
        ${IS_PERSON} AS by_person, ${REASON} AS unbilled_reason,
        t.carrier = 'sandbox' AS is_sandbox,
        {scope_teams}::bigint[] IS NULL OR sides.sale AS is_sale,
        {scope_teams}::bigint[] IS NULL OR sides.purchase AS is_purchase,
        CASE {category}::text
          WHEN 'buyer' THEN t.buyer_id
          WHEN 'offer' THEN t.offer_id
          WHEN 'schedule' THEN t.schedule_id
          WHEN 'traffic_source' THEN t.traffic_source_id
        END AS record_id,
        CASE {category}::text
          WHEN 'day' THEN date_trunc('day', t.created_at, {zone}::text)
          WHEN 'hour' THEN date_trunc('hour', t.created_at, {zone}::text)
        END AS period
      FROM calls t
      ${SIDES}
      WHERE t.company_id = {company_id}
        AND t.deleted_at IS NULL
        AND ({created_at_from}::timestamptz IS NULL
          OR t.created_at >= {created_at_from}::timestamptz)
        AND ({created_at_to}::timestamptz IS NULL
          OR t.created_at <= {created_at_to}::timestamptz)
        AND ({offer_id}::bigint IS NULL OR t.offer_id = {offer_id}::bigint)
        AND ({traffic_source_id}::bigint IS NULL
          OR t.traffic_source_id = {traffic_source_id}::bigint)
        AND ({call_category}::text IS NULL OR t.direction = {call_category}::text)
        AND ({scope_teams}::bigint[] IS NULL OR ${VISIBLE_CALL})
        AND ({scope_teams}::bigint[] IS NULL OR {buyer_id}::bigint IS NULL OR ${VISIBLE_BUYER})
        AND (
          {scope_teams}::bigint[] IS NULL
          OR sides.purchase
          OR {traffic_source_id}::bigint IS NULL AND {category}::text <> 'traffic_source'
        )
    ),
    reasons AS (
      SELECT
        CASE {category}::text WHEN 'buyer' THEN t.buyer_id ELSE c.record_id END AS record_id,
        c.period, t.reason, count(*) AS n
      FROM selected c
      JOIN call_decisions d ON d.company_id = {company_id} AND d.call_id = c.id,
      LATERAL (
        SELECT passed_over.id::bigint AS buyer_id, fault->>'reason' AS reason
        FROM json_array_elements(d.decision->'faults') fault,
          json_array_elements_text(fault->'ids') AS passed_over(id)
      ) t
      WHERE ${BUYER_CONDITION}
      GROUP BY 1, 2, 3
    ),
    unbilled AS (
      SELECT t.record_id, t.period, t.unbilled_reason AS reason, count(*) AS n
      FROM selected t
      WHERE t.unbilled_reason IS NOT NULL AND t.is_sale AND ${BUYER_CONDITION}
      GROUP BY 1, 2, 3
    ),
    parts AS (
      SELECT
        t.record_id, t.period, count(*) AS calls, 0 AS attempts,
        count(t.connected_at) AS connects,
        count(*) FILTER (WHERE t.buyer_converted AND t.is_sale) AS conversions,
        count(*) FILTER (WHERE t.traffic_source_converted AND t.is_purchase)
          AS traffic_source_conversions,
        sum(t.revenue) FILTER (WHERE t.is_sale) AS revenue,
        sum(t.payout) FILTER (WHERE t.is_purchase) AS payout,
        sum(t.revenue - t.payout) FILTER (WHERE t.is_sale AND t.is_purchase) AS profit,
        sum(t.duration) AS duration,
        count(*) FILTER (WHERE t.by_person) AS by_person,
        count(*) FILTER (WHERE t.abandoned) AS abandoned,
        count(*) FILTER (WHERE t.is_sandbox) AS sandbox_calls,
        NULL::jsonb AS skip_reasons, NULL::jsonb AS unbilled_reasons
      FROM selected t
      WHERE ${BUYER_CONDITION}
      GROUP BY 1, 2
      UNION ALL
      SELECT
        CASE {category}::text WHEN 'buyer' THEN t.buyer_id ELSE c.record_id END,
        c.period, 0, count(*), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL
      FROM selected c
      JOIN call_attempts t ON t.company_id = {company_id} AND t.call_id = c.id
      WHERE ${BUYER_CONDITION}
      GROUP BY 1, 2
      UNION ALL
      SELECT
        record_id, period, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, jsonb_object_agg(reason, n), NULL
      FROM reasons
      GROUP BY 1, 2
      UNION ALL
      SELECT
        record_id, period, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, jsonb_object_agg(reason, n)
      FROM unbilled
      GROUP BY 1, 2
    ),
    sums AS (
      SELECT
        record_id, period, sum(calls) AS calls, sum(attempts) AS attempts,
        sum(connects) AS connects, sum(conversions) AS conversions,
        sum(traffic_source_conversions) AS traffic_source_conversions,
        coalesce(sum(revenue), 0) AS revenue, coalesce(sum(payout), 0) AS payout,
        coalesce(sum(profit), 0) AS profit, coalesce(sum(duration), 0) AS duration,
        sum(by_person) AS by_person, sum(abandoned) AS abandoned,
        sum(sandbox_calls) AS sandbox_calls,
        (array_agg(skip_reasons) FILTER (WHERE skip_reasons IS NOT NULL))[1] AS skip_reasons,
        (array_agg(unbilled_reasons) FILTER (WHERE unbilled_reasons IS NOT NULL))[1]
          AS unbilled_reasons
      FROM parts
      GROUP BY 1, 2
    )`;

const CALL_NAME = sql`
      LATERAL (
        SELECT
          CASE {category}::text
            WHEN 'buyer' THEN (
              SELECT b.name FROM buyers b WHERE b.company_id = {company_id} AND b.id = f.record_id
            )
            WHEN 'offer' THEN (
              SELECT o.name FROM offers o WHERE o.company_id = {company_id} AND o.id = f.record_id
            )
            WHEN 'schedule' THEN (
              SELECT s.name
              FROM schedules s
              WHERE s.company_id = {company_id} AND s.id = f.record_id
            )
            WHEN 'traffic_source' THEN (
              SELECT s.name
              FROM traffic_sources s
              WHERE s.company_id = {company_id} AND s.id = f.record_id
            )
          END AS name
      ) g`;

const CALL_FIGURES = sql`
        'calls', f.calls,
        'sandbox_calls', f.sandbox_calls,
        'attempts', f.attempts,
        'connects', f.connects,
        'conversions', CASE WHEN {sale}::boolean THEN f.conversions END,
        'traffic_source_conversions',
        CASE WHEN {purchase}::boolean THEN f.traffic_source_conversions END,
        'revenue', CASE WHEN {sale}::boolean THEN f.revenue END,
        'payout', CASE WHEN {purchase}::boolean THEN f.payout END,
        'profit', CASE WHEN {sale}::boolean AND {purchase}::boolean THEN f.profit END,
        'epc',
        CASE WHEN {sale}::boolean THEN coalesce(round(f.revenue / nullif(f.calls, 0), 4), 0) END,
        'average_duration', coalesce(round(f.duration / nullif(f.calls, 0), 1), 0),
        'skip_reasons', coalesce(f.skip_reasons, '{}'),
        'unbilled_reasons',
        CASE WHEN {sale}::boolean THEN coalesce(f.unbilled_reasons, '{}') END,
        'answered_by_person', f.by_person,
        'abandoned', f.abandoned,
        'abandoned_rate', coalesce(round(f.abandoned::numeric / nullif(f.by_person, 0), 4), 0)`;

export const CALL_REPORT = statement(
  'calls.call_report',
  sql`
    WITH ${CALL_SUMS},
    totals AS (
      SELECT
        coalesce(sum(calls), 0) AS calls,
        coalesce(sum(attempts), 0) AS attempts,
        coalesce(sum(connects), 0) AS connects,
        coalesce(sum(conversions), 0) AS conversions,
        coalesce(sum(traffic_source_conversions), 0) AS traffic_source_conversions,
        coalesce(sum(revenue), 0) AS revenue,
        coalesce(sum(payout), 0) AS payout,
        coalesce(sum(profit), 0) AS profit,
        coalesce(sum(duration), 0) AS duration,
        coalesce(sum(by_person), 0) AS by_person,
        coalesce(sum(abandoned), 0) AS abandoned,
        coalesce(sum(sandbox_calls), 0) AS sandbox_calls,
        (
          SELECT jsonb_object_agg(reason, n)
          FROM (SELECT reason, sum(n) AS n FROM reasons GROUP BY 1) by_reason
        ) AS skip_reasons,
        (
          SELECT jsonb_object_agg(reason, n)
          FROM (SELECT reason, sum(n) AS n FROM unbilled GROUP BY 1) by_reason
        ) AS unbilled_reasons,
        count(*)::int AS rows
      FROM sums
    ),
    listed AS (
      SELECT
        coalesce(
          json_agg(
            json_build_object(
              'key',
              CASE {category}::text
                WHEN 'day' THEN
                  to_json(to_char(f.period AT TIME ZONE {zone}::text, 'YYYY-MM-DD'))
                WHEN 'hour' THEN to_json(iso_local(f.period, {zone}::text))
                ELSE to_json(f.record_id::text)
              END,
              'name', g.name,
              ${CALL_FIGURES}
            )
            ORDER BY f.record_id, f.period
          ),
          '[]'
        ) AS rows
      FROM sums f, ${CALL_NAME}
    )
    SELECT
      listed.rows::text AS rows,
      json_build_object(${CALL_FIGURES})::text AS totals,
      f.rows AS total_count
    FROM totals f, listed`,
  { prepared: false, search: true },
);

export const CALL_REPORT_CSV = statement(
  'calls.call_report_csv',
  sql`
    WITH ${CALL_SUMS}
    SELECT
      CASE {category}::text
        WHEN 'day' THEN to_char(f.period AT TIME ZONE {zone}::text, 'YYYY-MM-DD')
        WHEN 'hour' THEN iso_local(f.period, {zone}::text)
        ELSE f.record_id::text
      END AS key,
      ${SAFE_NAME} AS name,
      f.calls, f.attempts, f.connects,
      CASE WHEN {sale}::boolean THEN f.conversions END AS conversions,
      CASE WHEN {purchase}::boolean THEN f.traffic_source_conversions END
        AS traffic_source_conversions,
      CASE WHEN {sale}::boolean THEN f.revenue END AS revenue,
      CASE WHEN {purchase}::boolean THEN f.payout END AS payout,
      CASE WHEN {sale}::boolean AND {purchase}::boolean THEN f.profit END AS profit,
      CASE WHEN {sale}::boolean THEN coalesce(round(f.revenue / nullif(f.calls, 0), 4), 0) END
        AS epc,
      coalesce(round(f.duration / nullif(f.calls, 0), 1), 0) AS average_duration,
      coalesce(f.skip_reasons, '{}') AS skip_reasons,
      CASE WHEN {sale}::boolean THEN coalesce(f.unbilled_reasons, '{}') END AS unbilled_reasons,
      f.by_person AS answered_by_person, f.abandoned,
      coalesce(round(f.abandoned::numeric / nullif(f.by_person, 0), 4), 0) AS abandoned_rate,
      f.sandbox_calls
    FROM sums f, ${CALL_NAME}
    ORDER BY f.record_id, f.period`,
  { prepared: false, search: true },
);
