import { sql, SqlText } from '../../../data/sql';
import { CAPS, factsOf, METRICS, type Metric } from '../caps';

// Parts of statements that read rows of caps `l`, by the hourly limits `hourly.limits` (an array in
// the order of the metrics) and the dollars `pays.revenue` that a call may bring.

/** The amount that calls in progress, and the call itself, may still add to a metric. */
function added(metric: Metric): string {
  const { pending, is_money } = factsOf(metric);
  return `${pending === null ? '0' : `l.${pending}`}${is_money ? ' + pays.revenue' : ''}`;
}

/**
 * A cheap first look, which finds every row without room, and some that have it: whether windows
 * have ended does not matter to it. A cap without a limit costs one comparison.
 */
export const MAY_LACK_ROOM = new SqlText(
  [
    ...CAPS.map(({ metric, interval, limit, used }) => {
      const column =
        interval === 'hourly' ? `hourly.limits[${METRICS.indexOf(metric) + 1}]` : `l.${limit}`;
      return `greatest(l.${used}, 0) + ${added(metric)} >= ${column}`;
    }),
    'l.concurrency_cap_used >= l.concurrency_cap_limit',
    'l.pending_revenue + pays.revenue >= l.balance + l.credit_limit',
  ].join('\n  OR '),
);

/** The caps of a row that have a limit, as `CapCounter[]`; `l.own` is the row as one value. */
export const COUNTERS = sql`
  SELECT json_agg(
    json_build_object('cap', c.cap, 'used', c.used, 'limit', c.cap_limit, 'resets_at', c.resets_at)
    ORDER BY c.n
  )
  FROM cap_counters(l.own, hourly.limits, {now}::timestamptz) c
  WHERE c.cap_limit IS NOT NULL
`;
