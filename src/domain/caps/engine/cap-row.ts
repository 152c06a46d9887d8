import { offsetAt, toInstant } from '../../../platform/time/zone';
import { roundToCents } from '../../../platform/dollars';
import {
  CAPS,
  factsOf,
  METRICS,
  RESETS,
  type HeldUsage,
  type LimitName,
  type Metric,
  type Usage,
  type UsedName,
} from '../caps';
import type { CapCounter } from './used-up-cap';

// The rules of a row of caps in memory: one twin of prisma/sql/caps/. A test compares the two after
// random changes, at changes of the clocks too.

type Limits = Partial<Record<LimitName, number | null>>;

/** A row of call_limits: limits, usage, and the ends of windows (null: not used yet). */
export type CapRow = Limits &
  Record<UsedName, number> &
  Record<(typeof RESETS)[keyof typeof RESETS], Date | string | null> & {
    /** IANA name. */
    zone: string;
    concurrency_cap_limit: number | null;
    concurrency_cap_used: number;
    pending_connections: number;
    pending_conversions: number;
    /** Dollars. */
    pending_revenue: number;
    /** Dollars that a prepaid buyer has; null for others. */
    balance: number | null;
    credit_limit: number;
  };

/** A change of a row, as change_caps() takes it; what is absent does not change. */
export interface CapChange extends Usage {
  /** Slots of concurrency: 1 takes one, -1 releases one. */
  slots?: number;
  held?: HeldUsage;
  /** Dollars by which the balance of a prepaid buyer falls. */
  charge?: number;
}

type Window = keyof typeof RESETS;
const WINDOWS = Object.keys(RESETS) as Window[];
const HOUR_MS = 3_600_000;

/**
 * The end of the local hour, day or month of an instant. At a change of the clocks a day has 23 or
 * 25 hours, and an hour that comes twice counts as two.
 */
export function windowEnd(interval: Window, zone: string, now: Date): Date {
  const offset = offsetAt(zone, now);
  const local = new Date(now.getTime() + offset);
  if (interval === 'hourly')
    return new Date(Math.floor(local.getTime() / HOUR_MS) * HOUR_MS + HOUR_MS - offset);
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  return toInstant(
    new Date(interval === 'daily' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1)),
    zone,
  );
}

/** The amount that calls in progress may still add to a metric. */
function readPending(metric: Metric, row: CapRow): number {
  const { pending } = factsOf(metric);
  return pending === null ? 0 : row[pending];
}

/**
 * The caps of a row that have a limit, in the order in which a used-up cap is named. `hourly` has
 * the hourly limits: those of buyers are in their business hours.
 */
export function listCounters(
  row: CapRow,
  now: Date,
  hourly: Limits | undefined = row,
): CapCounter[] {
  const counters = CAPS.flatMap(({ metric, interval, limit: name, used }): CapCounter[] => {
    const limit = (interval === 'hourly' ? hourly : row)?.[name];
    if (limit === null || limit === undefined) return [];
    const end = interval === 'total' ? null : row[RESETS[interval]];
    const runningEnd = end !== null && new Date(end) > now ? end : null;
    const counted = interval === 'total' || runningEnd ? row[used] : 0;
    const amount = roundToCents(counted + readPending(metric, row));
    return [{ cap: `${metric}_${interval}`, used: amount, limit, resets_at: runningEnd }];
  });
  const { concurrency_cap_limit: slots, concurrency_cap_used, balance } = row;
  const other = { resets_at: null };
  if (slots !== null)
    counters.push({ cap: 'concurrency', used: concurrency_cap_used, limit: slots, ...other });
  if (balance !== null) {
    const limit = roundToCents(balance + row.credit_limit);
    counters.push({ cap: 'balance', used: row.pending_revenue, limit, ...other });
  }
  return counters;
}

/** True if every cap can take what a call may use. A used-up one takes nothing, not even 0. */
export const hasRoom = (counters: readonly CapCounter[], added: CapChange): boolean =>
  counters.every(
    ({ cap, used, limit }) =>
      (cap === 'concurrency' && !added.slots) ||
      (used < limit && roundToCents(used + readAdded(cap, added)) <= limit),
  );

function readAdded(cap: CapCounter['cap'], { attempt = 0, slots = 0, held }: CapChange): number {
  if (cap === 'concurrency') return slots;
  if (cap.startsWith('attempt_')) return attempt;
  if (cap.startsWith('connection_')) return held?.connections ?? 0;
  return (cap.startsWith('buyer_conversion_') ? held?.conversions : held?.revenue) ?? 0;
}

/** The row after a change, which counts even when it exceeds a cap. Ended windows begin again. */
export function applyChange(row: CapRow, change: CapChange, now: Date): CapRow {
  const next = { ...row };
  for (const window of WINDOWS) {
    const end = row[RESETS[window]];
    if (end !== null && new Date(end) > now) continue;
    for (const metric of METRICS) next[`${metric}_${window}_used`] = 0;
    next[RESETS[window]] = windowEnd(window, row.zone, now);
  }
  for (const { metric, used } of CAPS)
    next[used] = roundToCents(next[used] + (change[metric] ?? 0));
  const { slots = 0, held, charge = 0 } = change;
  next.pending_connections += held?.connections ?? 0;
  next.pending_conversions += held?.conversions ?? 0;
  next.pending_revenue = roundToCents(next.pending_revenue + (held?.revenue ?? 0));
  next.concurrency_cap_used = Math.max(0, next.concurrency_cap_used + slots);
  if (next.balance !== null) next.balance = roundToCents(next.balance - charge);
  return next;
}
