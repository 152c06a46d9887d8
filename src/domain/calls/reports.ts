import type { Schemas } from '../../platform/contract/contract';
import { loadVisibleMoney } from '../../data/access/money';
import type { BoundStatement } from '../../data/statement';
import type { Db } from '../../data/db';
import { findRecord } from '../../data/records';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { copyOut } from '../../api/records/copy-out';
import { Json, type Csv } from '../../api/reply/reply';
import { ianaName } from '../../platform/time/zone';
import { groupCalls } from './group-calls';
import { CALL_REPORT, CALL_REPORT_CSV } from './queries/call-reports';
import { LEAD_REPORT, LEAD_REPORT_CSV } from './queries/lead-reports';
import { toFilterParams, type ReportFilters } from './report-filters';

interface Query extends ReportFilters {
  time_zone?: string;
  root?: boolean;
  format?: 'json' | 'csv';
}

const REPORTS = {
  calls: { json: CALL_REPORT, csv: CALL_REPORT_CSV, file: 'call_report' },
  leads: { json: LEAD_REPORT, csv: LEAD_REPORT_CSV, file: 'lead_report' },
};

interface ReportOptions {
  db: Db;
  now: Date;
  category: string;
  /** The category for callers who may not see what buyers pay. */
  without_sales?: string;
}

/**
 * Figures of calls and leads. A caller with access to some offers sees all figures of these, but
 * those of a buyer only if that buyer may be seen.
 */
export const callReports = ({ clock }: Deps) =>
  ({
    reportCalls: ({ query, db }) =>
      report<Schemas['CallReport']>('calls', query, {
        db,
        now: clock(),
        category: query.category ?? 'buyer',
        without_sales: query.category ?? 'traffic_source',
      }),

    reportGroupedCalls: ({ query, db }) => groupCalls(db, query, clock()),

    reportTrafficSource: async ({ params, query, db }) => {
      const id = await findRecord(db, 'traffic_sources', params.id);
      return groupCalls(db, { ...query, traffic_source_id: String(id) }, clock());
    },

    reportLeads: ({ query, db }) =>
      report<Schemas['LeadReport']>('leads', query, {
        db,
        now: clock(),
        category: query.category ?? 'offer',
      }),
  }) satisfies Partial<Handlers>;

/** The rows and their totals, the bare rows with root=false, or the rows as CSV. */
async function report<T>(
  of: keyof typeof REPORTS,
  query: Query,
  { db, now, without_sales, ...options }: ReportOptions,
): Promise<Json<T> | Csv> {
  const sides = await loadVisibleMoney(db);
  const category = (!sides.sale && without_sales) || options.category;
  const { time_zone = 'UTC', root = true, format } = query;
  const { json, csv, file } = REPORTS[of];
  const values = {
    category,
    zone: ianaName(time_zone)!,
    now: now.toISOString(),
    ...toFilterParams(db, query),
    ...sides,
  };
  if (format === 'csv') {
    const bound: BoundStatement = csv.bind({ ...values, company_id: db.company_id });
    return copyOut(db, bound, file);
  }
  const [result] = await db.sql(json, values);
  const { rows, totals, total_count } = result!;
  if (!root) return new Json(rows);
  const metadata = JSON.stringify({ root: 'rows', category, time_zone, total_count });
  return new Json(
    `{"status":200,"success":true,"rows":${rows},"totals":${totals},"metadata":${metadata}}`,
  );
}
