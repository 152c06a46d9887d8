import {
  CAPS,
  factsOf,
  INTERVALS,
  METRICS,
  RESETS,
  type Interval,
  type LimitName,
  type Metric,
  type UsedName,
} from './caps';

// SQL expressions over caps, for projections and routing. `l` is the owner's row of call_limits.
// `h` has the hourly limits: it is `l` for a group, and the open entry of the business hours for a
// buyer.

/** The time at which caps are read. */
export const NOW = '{now}::timestamptz';

function usedNow(metric: Metric, interval: Interval): string {
  const counter = `l.${metric}_${interval}_used`;
  return interval === 'total'
    ? `coalesce(${counter}, 0)`
    : `used_now(${counter}, l.${RESETS[interval]}, ${NOW})`;
}

/** The amount that is used now, plus the amount that calls in progress may still use. */
export function takenNow(metric: Metric, interval: Interval): string {
  const { pending } = factsOf(metric);
  const held = pending === null ? '0' : `coalesce(l.${pending}, 0)`;
  return `(${usedNow(metric, interval)} + ${held})`;
}

const toLimitColumn = (metric: Metric, interval: Interval, hourly: string): string =>
  `${interval === 'hourly' ? hourly : 'l'}.${metric}_${interval}_limit`;

/** Most limits are null, which is the cheapest condition: it comes first. */
function reached(metric: Metric, interval: Interval, hourly: string): string {
  const limit = toLimitColumn(metric, interval, hourly);
  return `(${limit} IS NOT NULL AND ${takenNow(metric, interval)} >= ${limit})`;
}

const anyReached = (interval: Interval, hourly: string): string =>
  `(${METRICS.map((metric) => reached(metric, interval, hourly)).join(' OR ')})`;

export function capColumns(hourly: 'h' | 'l') {
  return {
    ...eachCap('used', usedNow),
    ...eachCap('limit', (metric, interval) => toLimitColumn(metric, interval, hourly)),
    concurrency_cap_limit: 'l.concurrency_cap_limit',
    concurrency_cap_used: 'coalesce(l.concurrency_cap_used, 0)',
    maxed_out_by: maxedOutBy(hourly),
    cap_reset_at: capResetAt(hourly),
  };
}

function eachCap<Of extends 'used' | 'limit'>(
  of: Of,
  sql: (metric: Metric, interval: Interval) => string,
): Record<Of extends 'used' ? UsedName : LimitName, string> {
  const columns = CAPS.map((cap) => [cap[of], sql(cap.metric, cap.interval)]);
  return Object.fromEntries(columns) as ReturnType<typeof eachCap<Of>>;
}

/** The cap that is used up; of several, the one that resets last. */
function maxedOutBy(hourly: string): string {
  const cases = CAPS.map(
    ({ metric, interval }) =>
      `WHEN ${reached(metric, interval, hourly)} THEN '${metric}_${interval}'`,
  );
  return `CASE
    ${cases.join('\n    ')}
    WHEN l.concurrency_cap_used >= l.concurrency_cap_limit THEN 'concurrency'
    WHEN l.pending_revenue >= l.balance + l.credit_limit THEN 'balance'
  END`;
}

/** When all caps that are used up have reset; null when none is used up, or a total is. */
function capResetAt(hourly: string): string {
  const resets = INTERVALS.filter((interval) => interval !== 'total').map(
    (interval) => `CASE WHEN ${anyReached(interval, hourly)} THEN l.${RESETS[interval]} END`,
  );
  return `CASE WHEN NOT ${anyReached('total', hourly)} THEN greatest(${resets.join(', ')}) END`;
}

export function usedSql(used: UsedName): string {
  const { metric, interval } = CAPS.find((cap) => cap.used === used)!;
  return usedNow(metric, interval);
}

export const limitsJoin = (owner: 'buyer_id' | 'buyer_group_id' | 'traffic_source_id'): string =>
  `LEFT JOIN call_limits l ON l.company_id = t.company_id AND l.${owner} = t.id`;

/** The first entry of the business hours of buyer `t` that is open now. */
export const openHoursJoin = (name: string): string => `LEFT JOIN LATERAL (
    SELECT x.*
    FROM buyer_business_hours x
    WHERE x.company_id = t.company_id
      AND x.buyer_id = t.id
      AND is_open(x.open_minutes, local_minute_of_week(${NOW}, l.zone))
    ORDER BY x.position
    LIMIT 1
  ) ${name} ON true`;
