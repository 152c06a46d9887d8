import { INTERVALS, METRICS, type Interval, type Metric } from '../src/domain/caps/caps';

// Terms of the SQL over the 20 counters of 5 metrics and 4 intervals
// (scripts/generate-cap-counters.ts).

/** Source of the amounts that a call adds: parameters, or columns of rows `m`. */
type UsageSource = 'parameters' | 'columns';

const number = (name: string, as: UsageSource, type = 'int'): string =>
  as === 'parameters' ? `{${name}}::${type}` : `m.${name}`;

/**
 * Columns with the amounts that calls in progress may still use, and the amounts that a reservation
 * adds to them.
 */
export const PENDING: Partial<Record<Metric, { column: string; held: string; type?: string }>> = {
  connection: { column: 'pending_connections', held: 'held_connections' },
  buyer_conversion: { column: 'pending_conversions', held: 'held_conversions' },
  revenue: { column: 'pending_revenue', held: 'held_revenue', type: 'numeric' },
  earned_revenue: { column: 'pending_revenue', held: 'held_revenue', type: 'numeric' },
};
export const WINDOWS = ['hourly', 'daily', 'monthly'] as const;
const NEXT = { hourly: 'next_hour', daily: 'next_day', monthly: 'next_month' } as const;

/**
 * The amount that a call adds to a counter; rows `m` are reservations, which count only attempts.
 */
function usageTerm(metric: Metric, as: UsageSource): string | undefined {
  if (as === 'columns') return metric === 'attempt' ? 'm.calls' : undefined;
  return number(metric, as, metric.endsWith('revenue') ? 'numeric' : 'int');
}

function usedNow(metric: Metric, interval: Interval): string {
  const counter = `l.${metric}_${interval}_used`;
  return interval === 'total' ? counter : `used_now(${counter}, l.${interval}_resets_at, {now})`;
}

/** Joins the parts on one line, or puts each on its own line when they are too long. */
export function lines(start: string, parts: string[], end: string, separator = ', '): string {
  const line = `${start}${parts.join(separator)}${end}`;
  if (line.length + 2 <= 100) return line;
  const indented = parts.map((part) => `\n    ${part}`).join(separator.trimEnd());
  return `${start.trimEnd()}${indented}${end.startsWith(')') ? '\n  ' : ''}${end}`;
}

/** Undefined for a counter that nothing changes. */
function counter(metric: Metric, interval: Interval, as: UsageSource): string | undefined {
  if (interval === 'total' && usageTerm(metric, as) === undefined) return undefined;
  const sum = [usedNow(metric, interval), usageTerm(metric, as)].filter(Boolean).join(' + ');
  return lines(`${metric}_${interval}_used = `, [sum], ',');
}

/** Like `counter`, with the amounts of a row `x`. A call in progress adds no attempt. */
export function rowCounter(metric: Metric, interval: Interval): string {
  const sum = [usedNow(metric, interval), ...(metric === 'attempt' ? [] : [`x.${metric}`])];
  return lines(`${metric}_${interval}_used = `, [sum.join(' + ')], ',');
}

export const windowEnd = (interval: (typeof WINDOWS)[number]): string =>
  `${interval}_resets_at = CASE
    WHEN l.${interval}_resets_at > {now} THEN l.${interval}_resets_at
    ELSE ${NEXT[interval]}({now}, l.zone)
  END`;

/** The condition that a cap has room; `row` has the limit. */
export function room(metric: Metric, interval: Interval, row: 'l' | 'h', as: UsageSource): string {
  const pending = PENDING[metric];
  const used = usedNow(metric, interval) + (pending ? ` + l.${pending.column}` : '');
  const adding = [usageTerm(metric, as), pending && number(pending.held, as, pending.type)]
    .filter(Boolean)
    .join(' + ');
  return lines('AND has_room(', [`${row}.${metric}_${interval}_limit`, used, adding], ')');
}

export const joinCounters = (
  intervals: readonly Interval[],
  line: (m: Metric, i: Interval) => string | undefined,
): string =>
  intervals
    .flatMap((interval) => METRICS.flatMap((metric) => line(metric, interval) ?? []))
    .map((text) => `  ${text}`)
    .join('\n');

export const hourlyLimits = (line: (column: string) => string, separator: string): string =>
  METRICS.map((metric) => line(`${metric}_hourly_limit`)).join(separator);

export const assignments = (
  as: UsageSource,
) => `${joinCounters(INTERVALS, (m, i) => counter(m, i, as))}
  \${WINDOW_ENDS},
  calls_count = l.calls_count + ${number('calls', as)},
  last_call_at = CASE
    WHEN ${number('calls', as)} > 0 THEN greatest(l.last_call_at, {now})
    ELSE l.last_call_at
  END,
  pending_connections = l.pending_connections + ${number('held_connections', as)},
  pending_conversions = l.pending_conversions + ${number('held_conversions', as)},
  pending_revenue = l.pending_revenue + ${number('held_revenue', as, 'numeric')},${
    as === 'parameters' ? `\n  balance = l.balance - {revenue}::numeric,` : ''
  }
  concurrency_cap_used =
    greatest(0, l.concurrency_cap_used + ${number('slots', as)}),
  changed_by = pg_current_xact_id()`;

export const slotIsFree = (slots: string): string => `(
    ${slots} <= 0
    OR l.concurrency_cap_limit IS NULL
    OR l.concurrency_cap_used + ${slots} <= l.concurrency_cap_limit
  )`;

export const isSpaced = (as: UsageSource): string => `(
    ${number('spacing_seconds', as)} = 0
    OR l.last_call_at IS NULL
    OR l.last_call_at <= {now}::timestamptz - ${number('spacing_seconds', as)} * interval '1 second'
  )`;

/** The condition that a prepaid buyer can pay for the calls in progress and the added ones. */
export const canPay = (as: UsageSource): string =>
  lines(
    'has_room(',
    ['l.balance + l.credit_limit', 'l.pending_revenue', number('held_revenue', as, 'numeric')],
    ')',
  );

export const allButHourly = (as: UsageSource): string =>
  joinCounters(
    INTERVALS.filter((interval) => interval !== 'hourly'),
    (metric, interval) => room(metric, interval, 'l', as),
  );
