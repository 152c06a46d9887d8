import type { Schemas } from '../contract';
import { visible, visibleBuyer } from '../db/access-scope';
import { byReference, type Reference } from '../db/records';
import { callReportOf, leadReportOf, type ReportStatements } from './queries/reports';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { copyOut } from '../http/copy-out';
import { Json, type Csv } from '../http/reply';
import { ianaName } from '../time/zone';

interface Query {
  created_at_from?: string;
  created_at_to?: string;
  time_zone?: string;
  offer_id?: Reference;
  buyer_id?: Reference;
  traffic_source_id?: Reference;
  root?: boolean;
  format?: 'json' | 'csv';
}

const RANGE = {
  created_at_from: 't.created_at >= {created_at_from}::timestamptz',
  created_at_to: 't.created_at <= {created_at_to}::timestamptz',
};

/** What the records of a report must meet; that of the buyer is apart. */
function conditionsOf(
  query: Query,
  table: 'calls' | 'leads',
  { accessScope }: Db,
): { conditions: string[]; of_buyer: string | undefined } {
  const ranges = Object.entries(RANGE).flatMap(([name, sql]) =>
    query[name as keyof typeof RANGE] === undefined ? [] : sql,
  );
  const { buyer_id, ...named } = byReference(query, {
    offer_id: 'offers',
    traffic_source_id: 'traffic_sources',
    buyer_id: 'buyers',
  });
  const within = accessScope
    ? [visible(table)!, ...(buyer_id ? [visibleBuyer('t.buyer_id')] : [])]
    : [];
  return { conditions: [...ranges, ...Object.values(named), ...within], of_buyer: buyer_id };
}

interface Asked {
  db: Db;
  now: Date;
  category: string;
  name: string;
}

/** The rows and their totals, the bare rows with root=false, or the rows as CSV. */
async function answer<T>(
  query: Query,
  report: ReportStatements,
  { db, now, category, name }: Asked,
): Promise<Json<T> | Csv> {
  const { time_zone = 'UTC', root = true, format } = query;
  const values = {
    ...query,
    ...db.accessScope,
    company_id: db.company_id,
    now: now.toISOString(),
    zone: ianaName(time_zone),
  };
  if (format === 'csv') return copyOut(db, report.csv(values), name);
  const [found] = await db.query<{ rows: string; totals: string; total_count: number }>(
    report.json(values),
  );
  const { rows, totals, total_count } = found!;
  if (!root) return new Json(rows);
  const metadata = { root: 'rows', category, time_zone, total_count };
  return new Json(
    `{"status":200,"success":true,"rows":${rows},"totals":${totals},"metadata":${JSON.stringify(metadata)}}`,
  );
}

/** What calls and leads came to. */
export const callReports = ({ clock }: Deps) =>
  ({
    reportCalls: async ({ query, db }) => {
      const { category = 'buyer' } = query;
      const { conditions, of_buyer } = conditionsOf(query, 'calls', db);
      // Who is granted an offer alone sees what came to it, and not which buyer did what of it.
      const buyers = [
        of_buyer,
        db.accessScope && category === 'buyer' ? visibleBuyer('t.buyer_id') : undefined,
      ].filter((condition) => condition !== undefined);
      return answer<Schemas['CallReportList']>(
        query,
        callReportOf(category, conditions, buyers.length > 0 ? buyers.join(' AND ') : undefined),
        {
          db,
          now: clock(),
          category,
          name: 'call_report',
        },
      );
    },

    reportLeads: async ({ query, db }) => {
      const { category = 'offer' } = query;
      const { conditions, of_buyer } = conditionsOf(query, 'leads', db);
      const report = leadReportOf(category, [...conditions, ...(of_buyer ? [of_buyer] : [])]);
      return answer<Schemas['LeadReportList']>(query, report, {
        db,
        now: clock(),
        category,
        name: 'lead_report',
      });
    },
  }) satisfies Partial<Handlers>;
