import { writeFileSync } from 'node:fs';
import { CAPS, INTERVALS, METRICS, type Interval, type Metric } from '../src/buyers/caps';

// Writes the SQL over the 20 counters of 5 metrics and 4 intervals. A test of tests/buyers/ fails
// when a file is not what this script makes.

/** How a statement has what a call adds: as its parameters, or as columns of rows `m`. */
type Added = 'parameters' | 'columns';

const number = (name: string, as: Added, type = 'int'): string =>
  as === 'parameters' ? `{${name}}::${type}` : `m.${name}`;

/** What calls under way may still use, and what a reservation adds to that. */
const PENDING: Partial<Record<Metric, { column: string; held: string; type?: string }>> = {
  connection: { column: 'pending_connections', held: 'held_connections' },
  buyer_conversion: { column: 'pending_conversions', held: 'held_conversions' },
  revenue: { column: 'pending_revenue', held: 'held_revenue', type: 'numeric' },
  earned_revenue: { column: 'pending_revenue', held: 'held_revenue', type: 'numeric' },
};
const WINDOWS = ['hourly', 'daily', 'monthly'] as const;
const NEXT = { hourly: 'next_hour', daily: 'next_day', monthly: 'next_month' } as const;

/** How much a call adds to a counter; rows `m` are reservations, which count attempts alone. */
function added(metric: Metric, as: Added): string | undefined {
  if (as === 'columns') return metric === 'attempt' ? 'm.calls' : undefined;
  return number(metric, as, metric.endsWith('revenue') ? 'numeric' : 'int');
}

function usedNow(metric: Metric, interval: Interval): string {
  const counter = `l.${metric}_${interval}_used`;
  return interval === 'total' ? counter : `used_now(${counter}, l.${interval}_resets_at, {now})`;
}

/** The parts in one line, or in one line each when they are too long for one. */
function lines(start: string, parts: string[], end: string, separator = ', '): string {
  const line = `${start}${parts.join(separator)}${end}`;
  if (line.length + 2 <= 100) return line;
  const indented = parts.map((part) => `\n    ${part}`).join(separator.trimEnd());
  return `${start.trimEnd()}${indented}${end.startsWith(')') ? '\n  ' : ''}${end}`;
}

/** Undefined for a counter that nothing changes. */
function counter(metric: Metric, interval: Interval, as: Added): string | undefined {
  if (interval === 'total' && added(metric, as) === undefined) return undefined;
  const sum = [usedNow(metric, interval), added(metric, as)].filter(Boolean).join(' + ');
  return lines(`${metric}_${interval}_used = `, [sum], ',');
}

/** The same, where a row `x` says how much is added. A call in progress adds no attempt. */
function counterOfRow(metric: Metric, interval: Interval): string {
  const sum = [usedNow(metric, interval), ...(metric === 'attempt' ? [] : [`x.${metric}`])];
  return lines(`${metric}_${interval}_used = `, [sum.join(' + ')], ',');
}

const windowEnd = (interval: (typeof WINDOWS)[number]): string =>
  `${interval}_resets_at = CASE
    WHEN l.${interval}_resets_at > {now} THEN l.${interval}_resets_at
    ELSE ${NEXT[interval]}({now}, l.zone)
  END`;

/** The condition that a cap has room; `row` has the limit. */
function room(metric: Metric, interval: Interval, row: 'l' | 'h', as: Added): string {
  const pending = PENDING[metric];
  const used = usedNow(metric, interval) + (pending ? ` + l.${pending.column}` : '');
  const adding = [added(metric, as), pending && number(pending.held, as, pending.type)]
    .filter(Boolean)
    .join(' + ');
  return lines('AND has_room(', [`${row}.${metric}_${interval}_limit`, used, adding], ')');
}

const each = (
  intervals: readonly Interval[],
  line: (m: Metric, i: Interval) => string | undefined,
): string =>
  intervals
    .flatMap((interval) => METRICS.flatMap((metric) => line(metric, interval) ?? []))
    .map((text) => `  ${text}`)
    .join('\n');

const hourlyLimits = (line: (column: string) => string, separator: string): string =>
  METRICS.map((metric) => line(`${metric}_hourly_limit`)).join(separator);

const assignments = (as: Added) => `${each(INTERVALS, (m, i) => counter(m, i, as))}
  \${WINDOW_ENDS},
  calls_count = l.calls_count + ${number('calls', as)},
  last_call_at = CASE
    WHEN ${number('calls', as)} > 0 THEN greatest(l.last_call_at, {now})
    ELSE l.last_call_at
  END,
  pending_connections = l.pending_connections + ${number('held_connections', as)},
  pending_conversions = l.pending_conversions + ${number('held_conversions', as)},
  pending_revenue = l.pending_revenue + ${number('held_revenue', as, 'numeric')},
  concurrency_cap_used =
    greatest(0, l.concurrency_cap_used + ${number(as === 'columns' ? 'calls' : 'slots', as)}),
  changed_by = pg_current_xact_id()`;

const slotIsFree = (slots: string): string => `(
    ${slots} <= 0
    OR l.concurrency_cap_limit IS NULL
    OR l.concurrency_cap_used + ${slots} <= l.concurrency_cap_limit
  )`;

const isSpaced = (as: Added): string => `(
    ${number('spacing_seconds', as)} = 0
    OR l.last_call_at IS NULL
    OR l.last_call_at <= {now}::timestamptz - ${number('spacing_seconds', as)} * interval '1 second'
  )`;

const allButHourly = (as: Added): string =>
  each(
    INTERVALS.filter((interval) => interval !== 'hourly'),
    (metric, interval) => room(metric, interval, 'l', as),
  );

const reserveForBuyer = `export const RESERVE_FOR_BUYER = statement(
  'buyers.reserve_for_buyer',
  sql\`
UPDATE call_limits l
SET
  \${COUNTERS}
FROM (
  SELECT own.id AS limit_id, open_hours.*
  FROM (
    SELECT o.id, o.company_id, o.buyer_id, o.zone
    FROM call_limits o
    WHERE o.company_id = {company_id} AND o.buyer_id = {owner_id}
  ) own
  LEFT JOIN LATERAL (
    SELECT
${hourlyLimits((column) => `      x.${column}`, ',\n')}
    FROM buyer_business_hours x
    WHERE x.company_id = own.company_id
      AND x.buyer_id = own.buyer_id
      AND is_open(x.open_minutes, local_minute_of_week({now}, own.zone))
    ORDER BY x.position
    LIMIT 1
  ) open_hours ON true
) h
WHERE l.id = h.limit_id
  AND l.company_id = {company_id}
  AND l.buyer_id = {owner_id}
  AND \${ALL_BUT_HOURLY_HAVE_ROOM}
${each(['hourly'], (metric, interval) => room(metric, interval, 'h', 'parameters'))}
RETURNING
  l.*,
  json_build_object(
${hourlyLimits((column) => `    '${column}', h.${column}`, ',\n')}
  ) AS hourly_limits\`,
  { prepared: true },
).returning<Row<'buyers.reserve_for_group'> & { hourly_limits: HourlyLimits }>();`;

const reserveForGroup = `export const RESERVE_FOR_GROUP = statement(
  'buyers.reserve_for_group',
  sql\`
UPDATE call_limits l
SET
  \${COUNTERS}
WHERE l.company_id = {company_id}
  AND l.buyer_group_id = {owner_id}
  AND \${ALL_BUT_HOURLY_HAVE_ROOM}
${each(['hourly'], (metric, interval) => room(metric, interval, 'l', 'parameters'))}
RETURNING l.*\`,
  { prepared: true },
);`;

const record = (
  owner: 'buyer' | 'group',
  column: string,
) => `export const RECORD_FOR_${owner.toUpperCase()} = statement(
  'buyers.record_for_${owner}',
  sql\`
UPDATE call_limits l
SET
  \${COUNTERS}
WHERE l.company_id = {company_id} AND l.${column} = {owner_id}
RETURNING l.id\`,
  { prepared: true },
);`;

const capCounters = `import { sql, statement, type Row } from '../../db/sql';
import type { LimitName } from '../caps';
import { WINDOW_ENDS } from './cap-use';

// Generated by \`npm run generate:caps\` (scripts/generate-cap-counters.ts).
//
// Counting use, one statement for each kind of owner. The row of call_limits decides: two calls
// that want the last free place wait for each other, and the second sees what the first has taken.

/** The hourly limits in force now: a buyer's are those of its open business hours. */
export type HourlyLimits = Partial<Record<LimitName, number | null>>;

/** Adds to every counter; those whose window has ended start from 0 in a new window. */
const COUNTERS = sql\`
${assignments('parameters')}\`;

/**
 * That a slot is free, that the last call was long enough ago, and that no cap is used up. Without
 * a spacing, a call that began later but was reserved earlier does not matter.
 */
const ALL_BUT_HOURLY_HAVE_ROOM = sql\`
  ${slotIsFree('{slots}::int')}
  AND ${isSpaced('parameters')}
${allButHourly('parameters')}\`;

/**
 * Hourly limits are read from the buyer's business hours as the statement finds them: unlike the
 * counters, they are not read again after waiting for another call.
 */
${reserveForBuyer}

${reserveForGroup}

/** Without conditions: what has happened is counted even when it exceeds a cap. */
${record('buyer', 'buyer_id')}

${record('group', 'buyer_group_id')}
`;

/** A cap of row `r` as it was before a call; `u` is what the call and later ones have added. */
function standing(metric: Metric, interval: Interval, n: number): string {
  const pending = PENDING[metric];
  const before =
    `r.${metric}_${interval}_used` +
    (metric === 'attempt' ? ' - u.calls' : '') +
    (pending ? ` + r.${pending.column} - u.${pending.held}` : '');
  const limit = interval === 'hourly' ? `r.open_${metric}_hourly_limit` : undefined;
  const resets_at = interval === 'total' ? 'NULL' : `r.${interval}_resets_at`;
  return lines(
    '  (',
    [`${n}, '${metric}_${interval}'`, before, limit ?? `r.${metric}_${interval}_limit`, resets_at],
    ')',
  );
}

const capReservations = `import { sql } from '../../db/sql';
import { WINDOW_ENDS } from './cap-use';

// Generated by \`npm run generate:caps\` (scripts/generate-cap-counters.ts).
//
// Reserving the caps of several calls in one statement. Rows \`m\` are what the calls take together
// of each row \`l\` of call_limits; rows \`h\` have the hourly limits in force now.

/** Adds what calls take; windows that have ended start from 0 in a new window. */
export const RESERVED_COUNTERS = sql\`
${assignments('columns')}\`;

/** That there is room for all of it, and that the last call was long enough ago. */
export const HAVE_ROOM = sql\`
  ${slotIsFree('m.calls')}
  AND ${isSpaced('columns')}
${allButHourly('columns')}
${each(['hourly'], (metric, interval) => room(metric, interval, 'h', 'columns'))}\`;

/** The hourly limits of rows \`h\`, kept beside those of the row itself. */
export const OPEN_LIMITS = sql\`
${hourlyLimits((column) => `  h.${column} AS open_${column}`, ',\n')}\`;

/**
 * The caps of a reserved row \`r\` as they were before a call, as rows of a VALUES list: place,
 * cap, used, limit and end of the window. \`u\` is what the call and later ones of the statement
 * have added.
 */
export const CAPS_BEFORE = sql\`
${CAPS.map(({ metric, interval }, n) => standing(metric, interval, n)).join(',\n')},
  (${CAPS.length}, 'concurrency', r.concurrency_cap_used - u.calls, r.concurrency_cap_limit, NULL)\`;
`;

const capUse = `import { sql } from '../../db/sql';

// Generated by \`npm run generate:caps\` (scripts/generate-cap-counters.ts).

/** Windows that have ended are followed by the one that has \`now\`. */
export const WINDOW_ENDS = sql\`
${WINDOWS.map((interval) => `  ${windowEnd(interval)}`).join(',\n')}\`;

/**
 * Counts what a call in progress has used, and takes off what it gives back of what it held, in a
 * statement that has a row \`x\` for each row of call_limits. Counters whose window has ended start
 * from 0 in a new window.
 */
export const USE_OF_ROW = sql\`
${each(INTERVALS, counterOfRow)}
  \${WINDOW_ENDS},
  pending_connections = l.pending_connections - x.given_connections,
  pending_conversions = l.pending_conversions - x.given_conversions,
  pending_revenue = l.pending_revenue - x.given_revenue,
  concurrency_cap_used = greatest(0, l.concurrency_cap_used - x.given_slots),
  changed_by = pg_current_xact_id()\`;
`;

/** The files by path. */
export const FILES = {
  'src/buyers/queries/cap-counters.ts': capCounters,
  'src/buyers/queries/cap-reservations.ts': capReservations,
  'src/buyers/queries/cap-use.ts': capUse,
} as const;

if (require.main === module)
  for (const [path, text] of Object.entries(FILES)) writeFileSync(path, text);
