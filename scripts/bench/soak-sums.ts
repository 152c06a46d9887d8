import type { Sums } from './soak-load';
import type { SoakWorld } from './soak-world';
import { query } from './world';

// Sums that must be exact after a load, whatever was served at the same time.

/**
 * Statements with $1 the company and $2 the start of the load; `expected` and `found` must be
 * equal.
 */
const EQUAL: Record<string, string> = {
  'slots and concurrency of calls that have ended': `
    SELECT 0 AS expected, (SELECT count(*) FROM call_slots WHERE company_id = $1) +
      sum(concurrency_cap_used + pending_connections + pending_conversions + pending_revenue)
        AS found
    FROM call_limits WHERE company_id = $1 AND $2::timestamptz IS NOT NULL`,
  'calls in progress': `
    SELECT 0 AS expected, count(*) AS found FROM calls
    WHERE company_id = $1 AND created_at >= $2 AND ended_at IS NULL`,
  'caps that differ from attempts, connections and conversions': `
    WITH used AS (
      SELECT buyer_id, NULL::bigint AS buyer_group_id, count(*) AS attempts,
        count(connected_at) AS connections
      FROM call_attempts WHERE company_id = $1 GROUP BY 1
      UNION ALL
      SELECT NULL, buyer_group_id, count(*), count(connected_at)
      FROM call_attempts WHERE company_id = $1 AND buyer_group_id IS NOT NULL GROUP BY 2
    ), paying AS (
      SELECT v.buyer_id, a.buyer_group_id, v.revenue, v.payout
      FROM conversions v
      JOIN call_attempts a ON a.company_id = v.company_id AND a.call_id = v.call_id
        AND a.buyer_id = v.buyer_id
      WHERE v.company_id = $1 AND v.created_at >= $2
    ), paid AS (
      SELECT buyer_id, NULL::bigint AS buyer_group_id, count(*) AS n, sum(revenue) AS revenue,
        sum(payout) AS payout
      FROM paying GROUP BY 1
      UNION ALL
      SELECT NULL, buyer_group_id, count(*), sum(revenue), sum(payout) FROM paying GROUP BY 2
    )
    SELECT 0 AS expected, count(*) AS found
    FROM call_limits l
    LEFT JOIN used u ON u.buyer_id = l.buyer_id OR u.buyer_group_id = l.buyer_group_id
    LEFT JOIN paid p ON p.buyer_id = l.buyer_id OR p.buyer_group_id = l.buyer_group_id
    WHERE l.company_id = $1 AND (
      (l.attempt_total_used, l.connection_total_used, l.buyer_conversion_total_used,
        l.revenue_total_used, l.earned_revenue_total_used) IS DISTINCT FROM
      (coalesce(u.attempts, 0)::int, coalesce(u.connections, 0)::int, coalesce(p.n, 0)::int,
        coalesce(p.revenue, 0), coalesce(p.revenue - p.payout, 0))
      OR l.attempt_daily_used <> (
        SELECT count(*) FROM call_attempts a
        WHERE a.company_id = $1
          AND (a.buyer_id = l.buyer_id OR a.buyer_group_id = l.buyer_group_id)
          AND a.created_at < l.daily_resets_at
          AND a.created_at >= (l.daily_resets_at AT TIME ZONE l.zone - interval '1 day')
            AT TIME ZONE l.zone))`,
  'attempts of all caps together': `
    SELECT (SELECT count(*) FROM call_attempts WHERE company_id = $1) AS expected,
      sum(attempt_total_used) AS found
    FROM call_limits
    WHERE company_id = $1 AND buyer_id IS NOT NULL AND $2::timestamptz IS NOT NULL`,
  'dollars of calls and of their conversions': `
    SELECT sum(revenue) || ' ' || sum(payout) AS expected,
      (SELECT sum(revenue) || ' ' || sum(payout) FROM calls WHERE company_id = $1) AS found
    FROM conversions
    WHERE company_id = $1 AND returned_at IS NULL AND $2::timestamptz IS NOT NULL`,
  'calls whose dollars differ from their conversion': `
    SELECT 0 AS expected, count(*) AS found
    FROM calls c
    LEFT JOIN conversions v ON v.company_id = c.company_id AND v.call_id = c.id
    WHERE c.company_id = $1 AND c.created_at >= $2 AND (c.buyer_converted <> (v.id IS NOT NULL)
      OR c.revenue <> coalesce(v.revenue, 0) OR c.payout <> coalesce(v.payout, 0))`,
  'calls counted for traffic sources': `
    SELECT count(*) AS expected, (SELECT sum(n) FROM traffic_source_call_counts
      WHERE company_id = $1) AS found
    FROM calls
    WHERE company_id = $1 AND traffic_source_id IS NOT NULL AND $2::timestamptz IS NOT NULL`,
};

/** Lists whose total_count must equal the number of rows. */
const COUNTS: Record<string, string> = {
  calls: 'calls',
  'calls?buyer_converted=true': 'calls WHERE buyer_converted AND',
  'calls?no_buyer=true': 'calls WHERE buyer_id IS NULL AND',
  'calls?offer_converted=true': 'calls WHERE traffic_source_converted AND',
  'calls?either_converted=false':
    'calls WHERE NOT buyer_converted AND NOT traffic_source_converted AND',
  'calls?status=completed': `calls WHERE status = 'completed' AND`,
  leads: 'leads',
  'leads?status=scheduled': `leads WHERE status = 'scheduled' AND`,
  buyers: 'buyers',
  contacts: 'contacts',
};

export interface Check {
  what: string;
  expected: string;
  actual: string;
}

type Get = (path: string) => Promise<Record<string, unknown>>;

interface Context {
  soak: SoakWorld;
  began_at: Date;
  sentSums: Sums;
  get: Get;
}

async function checkReports({ soak, began_at, get }: Context): Promise<Check[]> {
  const { url, company_id } = soak.world;
  const checks: Check[] = [];
  const text = (row: Record<string, unknown>) =>
    ['calls', 'attempts', 'connects', 'conversions', 'revenue', 'payout']
      .map((name) => `${name} ${Number(row[name])}`)
      .join(', ');
  const [row] = await query(
    url,
    `SELECT count(*) AS calls, count(connected_at) AS connects, (SELECT count(*)
        FROM call_attempts WHERE company_id = $1) AS attempts,
      count(*) FILTER (WHERE buyer_converted) AS conversions, sum(revenue) AS revenue,
      sum(payout) AS payout
    FROM calls WHERE company_id = $1 AND created_at >= $2`,
    [company_id, began_at],
  );
  for (const category of ['buyer', 'offer', 'traffic_source', 'hour']) {
    const from = encodeURIComponent(began_at.toISOString());
    const report = await get(`calls/reports?category=${category}&created_at_from=${from}`);
    const actual = text(report.totals as Record<string, unknown>);
    checks.push({ what: `report of calls by ${category}`, expected: text(row!), actual });
  }
  return checks;
}

async function checkCounts({ soak, get }: Context): Promise<Check[]> {
  const { url, company_id } = soak.world;
  const checks: Check[] = [];
  for (const [path, rows] of Object.entries(COUNTS)) {
    const where = rows.includes('WHERE') ? '' : ' WHERE';
    const [row] = await query(
      url,
      `SELECT count(*) AS n FROM ${rows}${where} company_id = $1 AND deleted_at IS NULL`,
      [company_id],
    );
    const { metadata } = await get(`${path}${path.includes('?') ? '&' : '?'}per_page=1`);
    const actual = String((metadata as { total_count: number }).total_count);
    checks.push({ what: `total_count of ${path}`, expected: String(row!.n), actual });
  }
  return checks;
}

/** Compares answered requests with stored rows, and stored rows with one another. */
export async function checkSums(context: Context): Promise<Check[]> {
  const { soak, began_at, sentSums } = context;
  const { url, company_id } = soak.world;
  const checks: Check[] = [];
  for (const [what, statement] of Object.entries(EQUAL)) {
    const [row] = await query(url, statement, [company_id, began_at]);
    checks.push({ what, expected: String(row!.expected), actual: String(row!.found) });
  }
  const [storedCounts] = await query(
    url,
    `SELECT (SELECT count(*) FROM calls WHERE company_id = $1) - $3::int AS calls,
      (SELECT count(*) FROM leads WHERE company_id = $1 AND created_at >= $2) AS leads`,
    [company_id, began_at, soak.calls],
  );
  for (const what of ['calls', 'leads'] as const)
    checks.push({
      what: `${what} that were answered with 201`,
      expected: String(sentSums[what]),
      actual: String(storedCounts![what]),
    });
  return [...checks, ...(await checkReports(context)), ...(await checkCounts(context))].map(
    (check) => ({
      ...check,
      // PostgreSQL writes 0.00 where nothing is left.
      actual: Number(check.actual) === 0 ? '0' : check.actual,
    }),
  );
}
