import { isOpenAt } from '../../time/opening-hours';
import { instantOf, minuteOfWeek, offsetAt } from '../../time/zone';
import {
  CAPS,
  METRICS,
  type Interval,
  type LimitName,
  type Metric,
  type Usage,
  type UsedName,
} from '../../buyers/caps';
import type { UsedUpCap } from '../engine/eligibility';
import { cents } from '../engine/payout';

// Caps kept in memory, as db/call-limits.ts keeps them in the database: the two are held against each other in a test.

export type Limits = Partial<Record<LimitName | 'concurrency_cap_limit', number | null>>;

/** An entry of a buyer's business hours: the first that is open has the hourly limits. */
export interface HoursEntry {
  open: readonly number[];
  limits: Limits;
}

export interface CapsOwner {
  /** IANA name. */
  zone: string;
  limits: Limits;
  /** Of a buyer; a group has its hourly limits itself. */
  hours?: readonly HoursEntry[] | undefined;
  /** What was used before, in the windows that run at the start. */
  used?: Partial<Record<UsedName, number>> | undefined;
}

/** What a call under way may still come to. */
export interface Pending {
  connections: number;
  conversions: number;
  /** Dollars. */
  revenue: number;
}

export interface CapsMove {
  usage: Usage;
  /** Slots taken (1) or given back (-1). */
  concurrency?: number;
  pending?: Pending;
}

/** The caps of one owner. Times must not go back. */
export interface Caps {
  /** The cap that keeps a call away that may bring so many dollars; null when all have room. */
  usedUp(now: Date, revenue: number): UsedUpCap | null;
  /** Takes up all that a call needs, or nothing. */
  reserve(move: CapsMove, now: Date): boolean;
  /** Counts what has happened, whatever the caps say. */
  record(move: CapsMove, now: Date): void;
}

type Window = Exclude<Interval, 'total'>;
const WINDOWS = ['hourly', 'daily', 'monthly'] as const satisfies readonly Window[];
const HOUR = 3_600_000;
const MINUTE = 60_000;
const NOTHING: Pending = { connections: 0, conversions: 0, revenue: 0 };
const isMoney = (metric: Metric) => metric === 'revenue' || metric === 'earned_revenue';

/** When the local hour, day or month of an instant ends: a day of 23 or 25 hours is a day, and an hour that comes twice is two. */
export function windowEnd(interval: Window, zone: string, now: Date): Date {
  const offset = offsetAt(zone, now);
  const local = new Date(now.getTime() + offset);
  if (interval === 'hourly')
    return new Date(Math.floor(local.getTime() / HOUR) * HOUR + HOUR - offset);
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  return instantOf(
    new Date(interval === 'daily' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1)),
    zone,
  );
}

/** What is pending of a metric. */
const pendingOf = (metric: Metric, { connections, conversions, revenue }: Pending): number =>
  metric === 'attempt'
    ? 0
    : metric === 'connection'
      ? connections
      : metric === 'buyer_conversion'
        ? conversions
        : revenue;

export function openCaps({ zone, limits, hours, used: before = {} }: CapsOwner, start: Date): Caps {
  const isLimited = (some: Limits) =>
    Object.values(some).some((limit) => limit !== null && limit !== undefined);
  if (!isLimited(limits) && !hours?.some((entry) => isLimited(entry.limits))) return UNLIMITED;
  const used = Object.fromEntries(
    CAPS.map(({ used: name }) => [name, before[name] ?? 0]),
  ) as Record<UsedName, number>;
  const ends = Object.fromEntries(
    WINDOWS.map((window) => [window, windowEnd(window, zone, start)]),
  ) as Record<Window, Date>;
  let pending = NOTHING;
  let slots = 0;

  const roll = (now: Date) => {
    for (const window of WINDOWS) {
      if (ends[window] > now) continue;
      for (const metric of METRICS) used[`${metric}_${window}_used`] = 0;
      ends[window] = windowEnd(window, zone, now);
    }
  };
  /** Every cap with a limit now, and what is taken of it. */
  const standing = (now: Date) => {
    roll(now);
    const hourly = hours
      ? hours.find(({ open }) => isOpenAt(open, minuteOfWeek(zone, now)))?.limits
      : limits;
    return CAPS.flatMap((cap) => {
      const limit = (cap.interval === 'hourly' ? hourly : limits)?.[cap.limit];
      return limit === null || limit === undefined
        ? []
        : [{ ...cap, limit, taken: cents(used[cap.used] + pendingOf(cap.metric, pending)) }];
    });
  };
  /** What was found last: it holds until something is counted, a window ends or the next minute of the business hours begins. */
  let known: { revenue: number; until: number; cap: UsedUpCap | null } | undefined;
  const slot_limit = limits.concurrency_cap_limit ?? Infinity;
  const record = ({ usage, concurrency = 0, pending: more = NOTHING }: CapsMove, now: Date) => {
    roll(now);
    known = undefined;
    for (const { metric, used: name } of CAPS)
      used[name] = cents(used[name] + (usage[metric] ?? 0));
    pending = {
      connections: pending.connections + more.connections,
      conversions: pending.conversions + more.conversions,
      revenue: cents(pending.revenue + more.revenue),
    };
    slots = Math.max(0, slots + concurrency);
  };
  const find = (now: Date, revenue: number): UsedUpCap | null => {
    const all = standing(now);
    const reached = all.find(({ taken, limit }) => taken >= limit);
    if (!reached && slots >= slot_limit)
      return { cap: 'concurrency', used: slots, limit: slot_limit, resets_at: null };
    const cap =
      reached ??
      all.find(({ metric, taken, limit }) => isMoney(metric) && cents(taken + revenue) > limit);
    // When it frees is told to nobody.
    return cap
      ? { cap: `${cap.metric}_${cap.interval}`, used: cap.taken, limit: cap.limit, resets_at: null }
      : null;
  };
  return {
    usedUp: (now, revenue) => {
      if (known?.revenue === revenue && now.getTime() < known.until) return known.cap;
      const cap = find(now, revenue);
      const minute = hours?.length
        ? Math.floor(now.getTime() / MINUTE) * MINUTE + MINUTE
        : Infinity;
      known = { revenue, cap, until: Math.min(minute, ends.hourly.getTime()) };
      return cap;
    },
    reserve: (move, now) => {
      const { usage, concurrency = 0, pending: held = NOTHING } = move;
      if (concurrency > 0 && slots + concurrency > slot_limit) return false;
      const has_room = standing(now).every(
        ({ metric, taken, limit }) =>
          taken < limit && cents(taken + (usage[metric] ?? 0) + pendingOf(metric, held)) <= limit,
      );
      if (has_room) record(move, now);
      return has_room;
    },
    record,
  };
}

const UNLIMITED: Caps = { usedUp: () => null, reserve: () => true, record: () => undefined };
