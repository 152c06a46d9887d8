import { TOTAL_DURATION } from '../columns';
import { leadProjection } from '../../leads/columns';
import { safeCell } from '../../db/projection';
import { template, type BoundStatement } from '../../db/statement';

/** What a report has rows for. */
interface Grouping {
  /** SQL over the record t. Days and hours are grouped as times, which is quicker than as texts. */
  group: string;
  /** SQL of the key as it is shown and of its name, over the sums f. */
  key: string;
  name: string;
}

const LOCAL = 't.created_at AT TIME ZONE {zone}::text';
const recordOf = (table: string, column: string): Grouping => ({
  group: `t.${column}`,
  key: 'f.key',
  name: `(SELECT n.name FROM ${table} n WHERE n.company_id = {company_id} AND n.id = f.key)`,
});
const TIMES = {
  day: { group: `(${LOCAL})::date`, key: `to_char(f.key, 'YYYY-MM-DD')`, name: 'NULL::text' },
  // The moment an hour begins, not its local name: in the night the clocks go back there are two of one name.
  hour: {
    group: `t.created_at - (${LOCAL} - date_trunc('hour', ${LOCAL}))`,
    key: 'iso_local(f.key, {zone}::text)',
    name: 'NULL::text',
  },
};
const OFFER = recordOf('offers', 'offer_id');
const TRAFFIC_SOURCE = recordOf('traffic_sources', 'traffic_source_id');

const CALL_GROUPINGS = {
  buyer: recordOf('buyers', 'buyer_id'),
  offer: OFFER,
  traffic_source: TRAFFIC_SOURCE,
  ...TIMES,
} satisfies Record<string, Grouping>;
const LEAD_GROUPINGS = {
  offer: OFFER,
  schedule: recordOf('schedules', 'schedule_id'),
  traffic_source: TRAFFIC_SOURCE,
  status: {
    group: 't.status',
    key: 'f.key',
    name: `(SELECT ${leadProjection.columns.human_status} FROM (SELECT f.key AS status) t)`,
  },
  ...TIMES,
} satisfies Record<string, Grouping>;

export type CallCategory = keyof typeof CALL_GROUPINGS;
export type LeadCategory = keyof typeof LEAD_GROUPINGS;

/** Columns of a report after key and name, over its sums f. */
const PROFIT = { revenue: 'f.revenue', payout: 'f.payout', profit: 'f.revenue - f.payout' };
const own = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, `f.${name}`]));

const CALL_COUNTS = ['calls', 'attempts', 'connects', 'conversions', 'traffic_source_conversions'];
const CALL_COLUMNS = {
  ...own(CALL_COUNTS),
  ...PROFIT,
  epc: 'coalesce(round(f.revenue / nullif(f.calls, 0), 4), 0)',
  average_duration: 'coalesce(round(f.duration / nullif(f.calls, 0), 1), 0)',
  skip_reasons: `coalesce(f.skip_reasons, '{}')`,
};
const CALL_SUMS = [...CALL_COUNTS, 'revenue', 'payout', 'duration'];

const LEAD_COUNTS = ['leads', 'live', 'contacted', 'connected', 'converted', 'opted_out'];
const LEAD_COLUMNS = { ...own(LEAD_COUNTS), ...PROFIT };
const LEAD_SUMS = [...LEAD_COUNTS, 'revenue', 'payout'];

interface Report {
  grouping: Grouping;
  /** Common table expressions, the last of which is `sums`: a row a key. */
  tables: string;
  columns: Record<string, string>;
  /** SQL of each sum of all rows of `sums`. */
  totals: string;
}

const added = (names: readonly string[]) =>
  names.map((name) => `coalesce(sum(${name}), 0) AS ${name}`).join(', ');
const where = (conditions: readonly string[]) =>
  ['t.company_id = {company_id}', 't.deleted_at IS NULL', ...conditions].join(' AND ');

/**
 * Calls count under their buyer, attempts under the one that was rung, reasons under the one that was passed over: `of_buyer` is a condition on that one's
 * buyer_id. Conditions are SQL over t.
 */
function callReport(
  category: CallCategory,
  conditions: readonly string[],
  of_buyer: string,
): Report {
  const grouping = CALL_GROUPINGS[category];
  const key = category === 'buyer' ? 't.buyer_id' : 'c.key';
  const tables = `c AS MATERIALIZED (SELECT t.id, t.buyer_id, ${grouping.group} AS key, t.connected_at, t.buyer_converted, t.traffic_source_converted, t.revenue, t.payout, ${TOTAL_DURATION} AS duration
      FROM calls t WHERE ${where(conditions)}),
    reasons AS (SELECT ${key} AS key, t.reason, count(*) AS n FROM c JOIN call_decisions d ON d.company_id = {company_id} AND d.call_id = c.id,
      LATERAL (SELECT e.id::bigint AS buyer_id, f->>'reason' AS reason FROM json_array_elements(d.decision->'faults') f, json_array_elements_text(f->'ids') AS e(id)) t WHERE ${of_buyer} GROUP BY 1, 2),
    parts AS (SELECT t.key, count(*) AS calls, 0 AS attempts, count(t.connected_at) AS connects, count(*) FILTER (WHERE t.buyer_converted) AS conversions,
        count(*) FILTER (WHERE t.traffic_source_converted) AS traffic_source_conversions, sum(t.revenue) AS revenue, sum(t.payout) AS payout, sum(t.duration) AS duration, NULL::jsonb AS skip_reasons
        FROM c t WHERE ${of_buyer} GROUP BY 1
      UNION ALL SELECT ${key}, 0, count(*), 0, 0, 0, 0, 0, 0, NULL FROM c JOIN call_attempts t ON t.company_id = {company_id} AND t.call_id = c.id WHERE ${of_buyer} GROUP BY 1
      UNION ALL SELECT key, 0, 0, 0, 0, 0, 0, 0, 0, jsonb_object_agg(reason, n) FROM reasons GROUP BY 1),
    sums AS (SELECT key, ${added(CALL_SUMS)}, (array_agg(skip_reasons) FILTER (WHERE skip_reasons IS NOT NULL))[1] AS skip_reasons FROM parts GROUP BY 1)`;
  const all_reasons =
    '(SELECT jsonb_object_agg(reason, n) FROM (SELECT reason, sum(n) AS n FROM reasons GROUP BY 1) r) AS skip_reasons';
  return { grouping, tables, columns: CALL_COLUMNS, totals: `${added(CALL_SUMS)}, ${all_reasons}` };
}

function leadReport(category: LeadCategory, conditions: readonly string[]): Report {
  const grouping = LEAD_GROUPINGS[category];
  const tables = `sums AS (SELECT ${grouping.group} AS key, count(*) AS leads, count(*) FILTER (WHERE t.is_live) AS live, count(*) FILTER (WHERE t.contact_attempts > 0) AS contacted,
      count(t.connected_call_id) AS connected, count(*) FILTER (WHERE t.buyer_converted) AS converted, count(k.id) AS opted_out, sum(t.revenue) AS revenue, sum(t.payout) AS payout
      FROM leads t LEFT JOIN contacts k ON k.company_id = t.company_id AND k.caller_number = t.caller_number AND k.opt_out WHERE ${where(conditions)} GROUP BY 1)`;
  return { grouping, tables, columns: LEAD_COLUMNS, totals: added(LEAD_SUMS) };
}

/** A statement that answers the rows and the totals as JSON texts and how many rows there are. */
function jsonOf(
  { grouping, tables, columns, totals }: Report,
  values: Record<string, unknown>,
): BoundStatement {
  const object = (cells: Record<string, string>) =>
    `json_build_object(${Object.entries(cells)
      .map(([name, sql]) => `'${name}', ${sql}`)
      .join(', ')})`;
  const row = object({ key: grouping.key, name: grouping.name, ...columns });
  const sql = `WITH ${tables}
    SELECT (SELECT coalesce(json_agg(${row} ORDER BY f.key), '[]')::text FROM sums f) AS rows, (SELECT ${object(columns)}::text FROM (SELECT ${totals} FROM sums) f) AS totals,
      (SELECT count(*)::int FROM sums) AS total_count`;
  return template(sql, { prepared: false })(values);
}

/** A statement that answers the rows for COPY. */
function csvOf(
  { grouping, tables, columns }: Report,
  values: Record<string, unknown>,
): BoundStatement {
  const cells = Object.entries(columns).map(([name, sql]) => `${sql} AS ${name}`);
  const sql = `WITH ${tables} SELECT ${grouping.key} AS key, ${safeCell('g.name')} AS name, ${cells.join(', ')} FROM sums f, LATERAL (SELECT ${grouping.name} AS name) g ORDER BY f.key`;
  return template(sql, { prepared: false })(values);
}

/** A report as the two statements that can be asked for it. */
export interface ReportStatements {
  json(values: Record<string, unknown>): BoundStatement;
  csv(values: Record<string, unknown>): BoundStatement;
}

const statementsOf = (report: Report): ReportStatements => ({
  json: (values) => jsonOf(report, values),
  csv: (values) => csvOf(report, values),
});

/** What calls came to. Takes company_id, now, zone and the values of the conditions. */
export const callReportOf = (
  category: CallCategory,
  conditions: readonly string[],
  of_buyer = 'true',
): ReportStatements => statementsOf(callReport(category, conditions, of_buyer));

/** What leads came to. Takes company_id, now, zone and the values of the conditions. */
export const leadReportOf = (
  category: LeadCategory,
  conditions: readonly string[],
): ReportStatements => statementsOf(leadReport(category, conditions));
