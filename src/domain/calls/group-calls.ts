import type { Schemas } from '../../platform/contract/contract';
import { loadVisibleMoney } from '../../data/access/money';
import type { Params } from '../../data/sql';
import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { copyOut } from '../../api/records/copy-out';
import { Json, type Csv } from '../../api/reply/reply';
import { ianaName } from '../../platform/time/zone';
import {
  COUNT_SANDBOX_CALLS,
  GROUPED_REPORT,
  GROUPED_REPORT_CSV,
  PERIODIC_REPORT,
  PERIODIC_REPORT_CSV,
  withKeyColumns,
} from './queries/grouped-reports';
import { LOCAL_TIMES } from './queries/local-times';
import { toFilterParams, type ReportFilters } from './report-filters';

type Group = Schemas['CallReportGroup'];

export interface GroupedReportQuery extends ReportFilters {
  group_by?: Group[];
  token_key?: string;
  time_zone?: string;
  order?: Schemas['GroupedCallReportOrder'];
  order_dir?: Schemas['OrderDirection'];
  page?: number;
  per_page?: number;
  root?: boolean;
  format?: Schemas['ListFormat'];
}

const LOCAL: ReadonlySet<Group> = new Set([
  'month',
  'week',
  'day',
  'hour',
  'hour_of_day',
  'day_of_week',
]);
const PERIODS: readonly Group[] = ['day', 'week', 'month'];
const RECORDS: ReadonlySet<Group> = new Set([
  'buyer',
  'buyer_group',
  'offer',
  'schedule',
  'traffic_source',
]);

/**
 * Figures of calls by up to three keys: a page of the rows with the totals of all, the bare rows of
 * the page with root=false, or all rows as CSV.
 */
export async function groupCalls(
  db: Db,
  query: GroupedReportQuery,
  now: Date,
): Promise<Json<Schemas['GroupedCallReport']> | Csv> {
  const { group_by = ['day'], time_zone = 'UTC', page = 1, per_page = 25, root = true } = query;
  requireTokenKey(group_by, query.token_key);
  const common = {
    ...toFilterParams(db, query),
    zone: ianaName(time_zone)!,
    now: now.toISOString(),
  };
  const localTimes = await loadLocalTimes(db, group_by, common);
  const { periods } = localTimes;
  const values = {
    ...common,
    ...(await loadVisibleMoney(db)),
    ...localTimes,
    group_by,
    token_key: query.token_key ?? null,
    order: query.order ?? null,
    order_dir: query.order_dir ?? 'asc',
  };
  if (query.format === 'csv') {
    const csv = periods === null ? GROUPED_REPORT_CSV : PERIODIC_REPORT_CSV;
    const bound = csv.bind({ ...values, company_id: db.company_id });
    const keys = group_by.map((by) => ({ by, has_name: RECORDS.has(by) }));
    return copyOut(db, withKeyColumns(bound, keys), 'grouped_call_report');
  }
  const skipped = (page - 1) * per_page;
  const paged = { ...values, per_page, skipped };
  const [result] =
    periods === null
      ? await db.sql(GROUPED_REPORT, paged)
      : await db.sql(PERIODIC_REPORT, { ...paged, periods });
  const { rows, totals, total_count } = result!;
  if (!root) return new Json(rows);
  const totalPages = Math.ceil(total_count / per_page);
  const [sandbox] = await db.sql(COUNT_SANDBOX_CALLS, { ...common, group_by });
  const counts = { page, per_page, total_pages: totalPages, total_count };
  const metadata = JSON.stringify({
    ...{ root: 'rows', group_by, time_zone, ...counts },
    sandbox_calls: sandbox!.n,
  });
  return new Json(
    `{"status":200,"success":true,"rows":${rows},"totals":${totals},"metadata":${metadata}}`,
  );
}

/** Throws 422 for `token` without its key, and for a key without `token`. */
function requireTokenKey(groupBy: readonly Group[], tokenKey: string | undefined): void {
  const groupsByToken = groupBy.includes('token');
  if (groupsByToken === (tokenKey !== undefined)) return;
  throw groupsByToken
    ? HttpProblem.field('token_key', 'missing_field', 'is required with group_by=token')
    : HttpProblem.field('token_key', 'invalid_value', 'is only allowed with group_by=token');
}

/**
 * For each key that is a local time: when its periods begin, and their labels. `periods` are those
 * of the key `period`, the shortest that is a day or more: shorter ones have few calls each.
 */
async function loadLocalTimes(
  db: Db,
  groupBy: readonly Group[],
  span: Omit<Params<'calls.local_times'>, 'units' | 'company_id'>,
) {
  const units = groupBy.filter((by) => LOCAL.has(by));
  const times = units.length > 0 ? await db.sql(LOCAL_TIMES, { ...span, units }) : [];
  const [first, second, third] = [0, 1, 2].map((n) =>
    times.find(({ unit }) => unit === groupBy[n]),
  );
  const period = PERIODS.find((unit) => groupBy.includes(unit)) ?? null;
  return {
    period,
    periods: times.find(({ unit }) => unit === period)?.bounds ?? null,
    bounds_1: first?.bounds ?? null,
    labels_1: first?.labels ?? null,
    bounds_2: second?.bounds ?? null,
    labels_2: second?.labels ?? null,
    bounds_3: third?.bounds ?? null,
    labels_3: third?.labels ?? null,
  };
}
