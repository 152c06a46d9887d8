import { safeCell } from '../../../data/projection/projection-sql';
import { sql, SqlText, statement } from '../../../data/sql';
import type { BoundStatement } from '../../../data/statement';
import {
  buildSelection,
  GROUPED_SUMS,
  groupedBy,
  GROUPED_SUMS_OF_PERIODS,
  type KeyPosition,
} from './grouped-sums';

/** Figures of sums `f`, of a row or in total. Money that the caller sees of no call is null. */
const FIGURES = sql`
        f.calls,
        f.connects,
        CASE WHEN {sale}::boolean THEN f.conversions END AS conversions,
        CASE WHEN {purchase}::boolean THEN f.traffic_source_conversions END
          AS traffic_source_conversions,
        coalesce(round(f.connects::numeric / nullif(f.calls, 0), 4), 0) AS connect_rate,
        CASE
          WHEN {sale}::boolean THEN
            coalesce(round(f.conversions::numeric / nullif(f.connects, 0), 4), 0)
        END AS conversion_rate,
        CASE WHEN {sale}::boolean THEN f.revenue END AS revenue,
        CASE WHEN {purchase}::boolean THEN f.payout END AS payout,
        CASE WHEN {sale}::boolean AND {purchase}::boolean THEN f.profit END AS profit,
        CASE WHEN {sale}::boolean THEN coalesce(round(f.revenue / nullif(f.calls, 0), 4), 0) END
          AS epc,
        coalesce(round(f.duration::numeric / nullif(f.calls, 0), 1), 0) AS average_duration`;

const IS_ASCENDING = sql`{order_dir}::text = 'asc'`;

/** Ordered by a figure or by none, and then by the keys. */
const RANKED_SUMS = sql`
      SELECT
        f.*,
        CASE {order}::text
          WHEN 'calls' THEN f.calls
          WHEN 'connects' THEN f.connects
          WHEN 'conversions' THEN f.conversions
          WHEN 'traffic_source_conversions' THEN f.traffic_source_conversions
          WHEN 'connect_rate' THEN f.connects::numeric / f.calls
          WHEN 'conversion_rate' THEN
            coalesce(f.conversions::numeric / nullif(f.connects, 0), 0)
          WHEN 'revenue' THEN f.revenue
          WHEN 'payout' THEN f.payout
          WHEN 'profit' THEN f.profit
          WHEN 'epc' THEN f.revenue / f.calls
          WHEN 'average_duration' THEN f.duration::numeric / f.calls
        END AS figure
      FROM sums f`;

/** PostgreSQL leaves out what does not depend on the row. */
const ORDER_BY = sql`
      ORDER BY
        CASE WHEN ${IS_ASCENDING} THEN f.figure END,
        CASE WHEN ${IS_ASCENDING} THEN f.id_1 END,
        CASE WHEN ${IS_ASCENDING} THEN f.text_1 END,
        CASE WHEN ${IS_ASCENDING} THEN f.id_2 END,
        CASE WHEN ${IS_ASCENDING} THEN f.text_2 END,
        CASE WHEN ${IS_ASCENDING} THEN f.id_3 END,
        CASE WHEN ${IS_ASCENDING} THEN f.text_3 END,
        CASE WHEN NOT ${IS_ASCENDING} THEN f.figure END DESC,
        CASE WHEN NOT ${IS_ASCENDING} THEN f.id_1 END DESC,
        CASE WHEN NOT ${IS_ASCENDING} THEN f.text_1 END DESC,
        CASE WHEN NOT ${IS_ASCENDING} THEN f.id_2 END DESC,
        CASE WHEN NOT ${IS_ASCENDING} THEN f.text_2 END DESC,
        CASE WHEN NOT ${IS_ASCENDING} THEN f.id_3 END DESC,
        CASE WHEN NOT ${IS_ASCENDING} THEN f.text_3 END DESC`;

/** The key of a group at a position, formatted for people, and the name of its record. */
const namedKey = (n: KeyPosition): SqlText => {
  const by = groupedBy(n);
  const [id, text] = [new SqlText(`f.id_${n}`), new SqlText(`f.text_${n}`)];
  const label = new SqlText(`({labels_${n}}::bigint[])[f.id_${n}]`);
  return sql`
      LATERAL (
        SELECT
          CASE ${by}
            WHEN 'number' THEN '+' || ${id}
            WHEN 'sub_id' THEN ${text}
            WHEN 'state' THEN ${text}
            WHEN 'token' THEN ${text}
            WHEN 'month' THEN to_char(to_timestamp(${label}), 'YYYY-MM')
            WHEN 'week' THEN to_char(to_timestamp(${label}), 'YYYY-MM-DD')
            WHEN 'day' THEN to_char(to_timestamp(${label}), 'YYYY-MM-DD')
            WHEN 'hour' THEN iso_local(to_timestamp(${label}), {zone}::text)
            ELSE ${id}::text
          END AS key,
          CASE ${by}
            WHEN 'buyer' THEN (
              SELECT b.name FROM buyers b WHERE b.company_id = {company_id} AND b.id = ${id}
            )
            WHEN 'buyer_group' THEN (
              SELECT g.name FROM buyer_groups g WHERE g.company_id = {company_id} AND g.id = ${id}
            )
            WHEN 'offer' THEN (
              SELECT o.name FROM offers o WHERE o.company_id = {company_id} AND o.id = ${id}
            )
            WHEN 'schedule' THEN (
              SELECT s.name FROM schedules s WHERE s.company_id = {company_id} AND s.id = ${id}
            )
            WHEN 'traffic_source' THEN (
              SELECT s.name
              FROM traffic_sources s
              WHERE s.company_id = {company_id} AND s.id = ${id}
            )
          END AS name
      ) ${new SqlText(`named_${n}`)}`;
};

const NAMED_KEYS = sql`${namedKey(1)}, ${namedKey(2)}, ${namedKey(3)}`;

const buildReport = (sums: SqlText): SqlText => sql`
    WITH ${sums},
    totals AS (
      SELECT
        coalesce(sum(calls), 0)::bigint AS calls,
        coalesce(sum(connects), 0)::bigint AS connects,
        coalesce(sum(conversions), 0)::bigint AS conversions,
        coalesce(sum(traffic_source_conversions), 0)::bigint AS traffic_source_conversions,
        coalesce(sum(revenue), 0) AS revenue,
        coalesce(sum(payout), 0) AS payout,
        coalesce(sum(profit), 0) AS profit,
        coalesce(sum(duration), 0) AS duration,
        count(*)::int AS rows
      FROM sums
    ),
    page AS (
      SELECT f.*, row_number() OVER () AS place
      FROM (
        SELECT *
        FROM (${RANKED_SUMS}) f
        ${ORDER_BY}
        LIMIT {per_page}::bigint
        OFFSET {skipped}::bigint
      ) f
    ),
    listed AS (
      SELECT
        coalesce(
          json_agg(
            json_build_object(
              'groups', array_to_json(
                (ARRAY[
                  json_build_object('by', ${groupedBy(1)}, 'key', named_1.key,
                    'name', named_1.name),
                  json_build_object('by', ${groupedBy(2)}, 'key', named_2.key,
                    'name', named_2.name),
                  json_build_object('by', ${groupedBy(3)}, 'key', named_3.key,
                    'name', named_3.name)
                ])[:cardinality({group_by}::text[])]
              ),
              'calls', r.calls,
              'connects', r.connects,
              'conversions', r.conversions,
              'traffic_source_conversions', r.traffic_source_conversions,
              'connect_rate', r.connect_rate,
              'conversion_rate', r.conversion_rate,
              'revenue', r.revenue,
              'payout', r.payout,
              'profit', r.profit,
              'epc', r.epc,
              'average_duration', r.average_duration
            )
            ORDER BY f.place
          ),
          '[]'
        ) AS rows
      FROM page f, ${NAMED_KEYS}, LATERAL (SELECT ${FIGURES}) r
    )
    SELECT
      listed.rows::text AS rows,
      (SELECT row_to_json(r) FROM (SELECT ${FIGURES}) r)::text AS totals,
      f.rows AS total_count
    FROM totals f, listed`;

const buildCsv = (sums: SqlText): SqlText => sql`
    WITH ${sums}
    SELECT
      ${new SqlText(safeCell('named_1.key'))} AS key_1,
      ${new SqlText(safeCell('named_1.name'))} AS name_1,
      ${new SqlText(safeCell('named_2.key'))} AS key_2,
      ${new SqlText(safeCell('named_2.name'))} AS name_2,
      ${new SqlText(safeCell('named_3.key'))} AS key_3,
      ${new SqlText(safeCell('named_3.name'))} AS name_3,
      r.*
    FROM (${RANKED_SUMS}) f, ${NAMED_KEYS}, LATERAL (SELECT ${FIGURES}) r
    ${ORDER_BY}`;

const OPTIONS = { prepared: false, search: true };

export const GROUPED_REPORT = statement('calls.grouped_report', buildReport(GROUPED_SUMS), OPTIONS);

export const GROUPED_REPORT_CSV = statement(
  'calls.grouped_report_csv',
  buildCsv(GROUPED_SUMS),
  OPTIONS,
);

export const PERIODIC_REPORT = statement(
  'calls.periodic_report',
  buildReport(GROUPED_SUMS_OF_PERIODS),
  OPTIONS,
);

export const PERIODIC_REPORT_CSV = statement(
  'calls.periodic_report_csv',
  buildCsv(GROUPED_SUMS_OF_PERIODS),
  OPTIONS,
);

/**
 * Adds a column for each key, with its name, and one for the names of records. Names in the
 * contract are also names of columns.
 */
export function withKeyColumns(
  { text, ...bound }: BoundStatement,
  keys: readonly { by: string; has_name: boolean }[],
): BoundStatement {
  const columns = keys.flatMap(({ by, has_name }, n) => [
    `key_${n + 1} AS ${by}`,
    ...(has_name ? [`name_${n + 1} AS ${by}_name`] : []),
  ]);
  return {
    ...bound,
    text: `
      SELECT
        ${columns.join(', ')},
        calls, connects, conversions, traffic_source_conversions, connect_rate, conversion_rate,
        revenue, payout, profit, epc, average_duration
      FROM (${text}) r`,
  };
}

/**
 * How many of the calls of a report are of the sandbox. Counted apart, from an index that has only
 * those: the index of the reports is not larger for them.
 */
export const COUNT_SANDBOX_CALLS = statement(
  'calls.count_sandbox_calls',
  sql`
    SELECT count(*)::int AS n
    ${buildSelection(sql`AND t.carrier = 'sandbox'`)}`,
  { prepared: false },
);
