import {
  CAPS,
  INTERVALS,
  METRICS,
  RESETS,
  type Interval,
  type LimitName,
  type Metric,
  type UsedName,
} from './caps';

/**
 * The caps of buyers and groups in SQL. `l` is the owner's row of call_limits; `h` is where the hourly limits stand: l itself for a group, the
 * open entry of the business hours for a buyer. `{now}` is the time that decides.
 */

/** SQL of the time that decides. */
export const NOW = '{now}::timestamptz';

/** What is used of a cap now: once its window has passed it is 0, without anybody having written that. */
export function usedNow(metric: Metric, interval: Interval): string {
  const counter = `l.${metric}_${interval}_used`;
  return interval === 'total'
    ? `coalesce(${counter}, 0)`
    : `CASE WHEN l.${RESETS[interval]} > ${NOW} THEN ${counter} ELSE 0 END`;
}

export const limitOf = (metric: Metric, interval: Interval, hourly: string): string =>
  `${interval === 'hourly' ? hourly : 'l'}.${metric}_${interval}_limit`;
/** What calls under way may still come to. */
const PENDING: Record<Metric, string> = {
  attempt: '0',
  connection: 'coalesce(l.pending_connections, 0)',
  buyer_conversion: 'coalesce(l.pending_conversions, 0)',
  revenue: 'coalesce(l.pending_revenue, 0)',
  earned_revenue: 'coalesce(l.pending_revenue, 0)',
};

/** SQL of what is taken of a cap now: what is used, and what calls under way may still use. */
export const takenNow = (metric: Metric, interval: Interval): string =>
  `((${usedNow(metric, interval)}) + ${PENDING[metric]})`;
/** Few owners have many limits: that there is none is the quickest to tell. */
const reached = (metric: Metric, interval: Interval, hourly: string): string =>
  `(${limitOf(metric, interval, hourly)} IS NOT NULL AND ${takenNow(metric, interval)} >= ${limitOf(metric, interval, hourly)})`;
const anyReached = (interval: Interval, hourly: string): string =>
  `(${METRICS.map((metric) => reached(metric, interval, hourly)).join(' OR ')})`;
const CONCURRENCY_FULL = 'l.concurrency_cap_used >= l.concurrency_cap_limit';

function columnsOf(of: 'used' | 'limit', sql: (metric: Metric, interval: Interval) => string) {
  return Object.fromEntries(
    CAPS.map(({ metric, interval }) => [`${metric}_${interval}_${of}`, sql(metric, interval)]),
  );
}

/** Columns of caps and their use for a projection. */
export function capColumns(hourly: 'h' | 'l') {
  const maxed_out_by = `CASE ${CAPS.map(({ metric, interval }) => `WHEN ${reached(metric, interval, hourly)} THEN '${metric}_${interval}'`).join('\n')} WHEN ${CONCURRENCY_FULL} THEN 'concurrency' END`;
  const windows = INTERVALS.filter((interval) => interval !== 'total');
  const resets = windows.map(
    (interval) => `CASE WHEN ${anyReached(interval, hourly)} THEN l.${RESETS[interval]} END`,
  );
  return {
    ...(columnsOf('used', usedNow) as Record<UsedName, string>),
    ...(columnsOf('limit', (metric, interval) => limitOf(metric, interval, hourly)) as Record<
      LimitName,
      string
    >),
    concurrency_cap_limit: 'l.concurrency_cap_limit',
    concurrency_cap_used: 'coalesce(l.concurrency_cap_used, 0)',
    maxed_out_by,
    cap_reset_at: `CASE WHEN ${anyReached('total', hourly)} THEN NULL ELSE greatest(${resets.join(', ')}) END`,
  };
}

/** SQL of one used counter, for sorting. */
export const usedSql = (used: UsedName): string => {
  const cap = CAPS.find((candidate) => candidate.used === used)!;
  return `(${usedNow(cap.metric, cap.interval)})`;
};

/** The owner's row of call_limits. */
export const limitsJoin = (owner: 'buyer_id' | 'buyer_group_id'): string =>
  `LEFT JOIN call_limits l ON l.company_id = t.company_id AND l.${owner} = t.id`;

/** The first entry of the business hours of the buyer t that is open now. */
export const openHoursJoin = (
  name: string,
): string => `LEFT JOIN LATERAL (SELECT x.* FROM buyer_business_hours x WHERE x.company_id = t.company_id AND x.buyer_id = t.id
  AND is_open(x.open_minutes, local_minute_of_week(${NOW}, l.zone)) ORDER BY x.position LIMIT 1) ${name} ON true`;
