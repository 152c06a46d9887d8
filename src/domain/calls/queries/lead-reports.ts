import { buildVisibleCondition, buildBuyerCondition } from '../../../data/access/scope';
import { buildMoneyJoin } from '../../../data/access/money';
import { sql, SqlText, statement } from '../../../data/sql';
import { HUMAN_STATUS as HUMAN_STATUS_SQL } from '../../leads/columns';
import { safeCell } from '../../../data/projection/projection-sql';

// Works like call-reports.ts; statuses of leads are grouped by `status`.

const VISIBLE_LEAD = new SqlText(buildVisibleCondition('leads')!);
const VISIBLE_BUYER = new SqlText(buildBuyerCondition('t.buyer_id'));
/** Visibility of revenue and payout of a lead `t` for a caller with a limited access scope. */
const SIDES = new SqlText(buildMoneyJoin('leads'));
const IS_SALE = sql`({scope_teams}::bigint[] IS NULL OR sides.sale)`;
const IS_PURCHASE = sql`({scope_teams}::bigint[] IS NULL OR sides.purchase)`;
const HUMAN_STATUS = new SqlText(HUMAN_STATUS_SQL);
const SAFE_NAME = new SqlText(safeCell('g.name'));

const LEAD_SUMS = sql`
    sums AS (
      SELECT
        CASE {category}::text
          WHEN 'offer' THEN t.offer_id
          WHEN 'schedule' THEN t.schedule_id
          WHEN 'traffic_source' THEN t.traffic_source_id
        END AS record_id,
        CASE {category}::text
          WHEN 'day' THEN date_trunc('day', t.created_at, {zone}::text)
          WHEN 'hour' THEN date_trunc('hour', t.created_at, {zone}::text)
        END AS period,
        CASE {category}::text WHEN 'status' THEN t.status END AS status,
        count(*) AS leads,
        count(*) FILTER (WHERE t.is_live) AS live,
        count(*) FILTER (WHERE t.contact_attempts > 0) AS contacted,
        count(t.connected_call_id) AS connected,
        count(*) FILTER (WHERE t.buyer_converted AND ${IS_SALE}) AS converted,
        count(k.id) AS opted_out,
        coalesce(sum(t.revenue) FILTER (WHERE ${IS_SALE}), 0) AS revenue,
        coalesce(sum(t.payout) FILTER (WHERE ${IS_PURCHASE}), 0) AS payout,
        coalesce(sum(t.revenue - t.payout) FILTER (WHERE ${IS_SALE} AND ${IS_PURCHASE}), 0)
          AS profit
      FROM leads t
      ${SIDES}
      LEFT JOIN contacts k
        ON k.company_id = t.company_id AND k.caller_number = t.caller_number AND k.opt_out
      WHERE t.company_id = {company_id}
        AND t.deleted_at IS NULL
        AND ({created_at_from}::timestamptz IS NULL
          OR t.created_at >= {created_at_from}::timestamptz)
        AND ({created_at_to}::timestamptz IS NULL
          OR t.created_at <= {created_at_to}::timestamptz)
        AND ({offer_id}::bigint IS NULL OR t.offer_id = {offer_id}::bigint)
        AND ({traffic_source_id}::bigint IS NULL
          OR t.traffic_source_id = {traffic_source_id}::bigint)
        AND ({buyer_id}::bigint IS NULL OR t.buyer_id = {buyer_id}::bigint)
        AND ({scope_teams}::bigint[] IS NULL OR ${VISIBLE_LEAD})
        AND ({scope_teams}::bigint[] IS NULL OR {buyer_id}::bigint IS NULL OR ${VISIBLE_BUYER})
        AND (
          {traffic_source_id}::bigint IS NULL AND {category}::text <> 'traffic_source'
          OR ${IS_PURCHASE}
        )
      GROUP BY 1, 2, 3
    )`;

const LEAD_NAME = sql`
      LATERAL (
        SELECT
          CASE {category}::text
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
            WHEN 'status' THEN (SELECT ${HUMAN_STATUS} FROM (SELECT f.status) t)
          END AS name
      ) g`;

const LEAD_FIGURES = sql`
        'leads', f.leads,
        'live', f.live,
        'contacted', f.contacted,
        'connected', f.connected,
        'converted', CASE WHEN {sale}::boolean THEN f.converted END,
        'opted_out', f.opted_out,
        'revenue', CASE WHEN {sale}::boolean THEN f.revenue END,
        'payout', CASE WHEN {purchase}::boolean THEN f.payout END,
        'profit', CASE WHEN {sale}::boolean AND {purchase}::boolean THEN f.profit END`;

export const LEAD_REPORT = statement(
  'calls.lead_report',
  sql`
    WITH ${LEAD_SUMS},
    totals AS (
      SELECT
        coalesce(sum(leads), 0) AS leads,
        coalesce(sum(live), 0) AS live,
        coalesce(sum(contacted), 0) AS contacted,
        coalesce(sum(connected), 0) AS connected,
        coalesce(sum(converted), 0) AS converted,
        coalesce(sum(opted_out), 0) AS opted_out,
        coalesce(sum(revenue), 0) AS revenue,
        coalesce(sum(payout), 0) AS payout,
        coalesce(sum(profit), 0) AS profit,
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
                WHEN 'status' THEN to_json(f.status)
                ELSE to_json(f.record_id::text)
              END,
              'name', g.name,
              ${LEAD_FIGURES}
            )
            ORDER BY f.record_id, f.period, f.status
          ),
          '[]'
        ) AS rows
      FROM sums f, ${LEAD_NAME}
    )
    SELECT
      listed.rows::text AS rows,
      json_build_object(${LEAD_FIGURES})::text AS totals,
      f.rows AS total_count
    FROM totals f, listed`,
  { prepared: false, search: true },
);

export const LEAD_REPORT_CSV = statement(
  'calls.lead_report_csv',
  sql`
    WITH ${LEAD_SUMS}
    SELECT
      CASE {category}::text
        WHEN 'day' THEN to_char(f.period AT TIME ZONE {zone}::text, 'YYYY-MM-DD')
        WHEN 'hour' THEN iso_local(f.period, {zone}::text)
        WHEN 'status' THEN f.status
        ELSE f.record_id::text
      END AS key,
      ${SAFE_NAME} AS name,
      f.leads, f.live, f.contacted, f.connected,
      CASE WHEN {sale}::boolean THEN f.converted END AS converted,
      f.opted_out,
      CASE WHEN {sale}::boolean THEN f.revenue END AS revenue,
      CASE WHEN {purchase}::boolean THEN f.payout END AS payout,
      CASE WHEN {sale}::boolean AND {purchase}::boolean THEN f.profit END AS profit
    FROM sums f, ${LEAD_NAME}
    ORDER BY f.record_id, f.period, f.status`,
  { prepared: false, search: true },
);
