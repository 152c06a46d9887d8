import { isOpenAt } from '../../platform/time/opening-hours';
import { toInstant, minuteOfWeek, offsetAt } from '../../platform/time/zone';
import {
  CAPS,
  METRICS,
  type Interval,
  type LimitName,
  type Metric,
  type Usage,
  type UsedName,
  type UsedUpCap,
} from '../caps/caps';
import { cents } from '../money/engine/payout';

// Caps in memory, counted as the database counts them for live calls; a test compares the two
// change by change.

export type Limits = Partial<Record<LimitName | 'concurrency_cap_limit', number | null>>;

/** An entry of a buyer's business hours; the first open one has the hourly limits. */
export interface HoursEntry {
  open: readonly number[];
  limits: Limits;
}

export interface CapsOwner {
  /** IANA name. */
  zone: string;
  limits: Limits;
  /** Only for a buyer; the hourly limits of a group are in `limits`. */
  hours?: readonly HoursEntry[] | undefined;
  /** Usage before the start, in the windows that contain the start. */
  used?: Partial<Record<UsedName, number>> | undefined;
  /** Dollars that a prepaid buyer can pay at the start; null or absent for others. */
  funds?: number | null | undefined;
}

/** The amount that a call in progress may still use. */
export interface Pending {
  connections: number;
  conversions: number;
  /** Dollars. */
  revenue: number;
}

export interface CapsChange {
  usage: Usage;
  /** Slots: 1 takes one, -1 releases one. */
  concurrency?: number;
  pending?: Pending;
}

/** The caps of one owner. Times passed to it must never decrease. */
export interface Caps {
  /** The cap that keeps away a call with up to `revenue` dollars; null when all have room. */
  usedUp(now: Date, revenue: number): UsedUpCap | null;
  /** Reserves everything that a call needs, or nothing. */
  reserve(move: CapsChange, now: Date): boolean;
  /** Counts completed usage, even when it exceeds a cap. */
  record(move: CapsChange, now: Date): void;
}

type Window = Exclude<Interval, 'total'>;
const WINDOWS = ['hourly', 'daily', 'monthly'] as const satisfies readonly Window[];
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const NOTHING: Pending = { connections: 0, conversions: 0, revenue: 0 };
const isMoney = (metric: Metric) => metric === 'revenue' || metric === 'earned_revenue';

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

function readPending(metric: Metric, { connections, conversions, revenue }: Pending): number {
  switch (metric) {
    case 'attempt':
      return 0;
    case 'connection':
      return connections;
    case 'buyer_conversion':
      return conversions;
    default:
      return revenue;
  }
}

const hasLimit = (limits: Limits) =>
  Object.values(limits).some((limit) => limit !== null && limit !== undefined);

const UNLIMITED: Caps = { usedUp: () => null, reserve: () => true, record: () => undefined };

export function openCaps(owner: CapsOwner, start: Date): Caps {
  const isLimited =
    hasLimit(owner.limits) ||
    typeof owner.funds === 'number' ||
    owner.hours?.some(({ limits }) => hasLimit(limits));
  return isLimited ? new CountedCaps(owner, start) : UNLIMITED;
}

/** A cap with its limit now, and its usage, pending included. */
interface LimitedCap {
  metric: Metric;
  interval: Interval;
  limit: number;
  usedAmount: number;
}

class CountedCaps implements Caps {
  private readonly used: Record<UsedName, number>;
  private readonly ends: Record<Window, Date>;
  private readonly slot_limit: number;
  private funds: number;
  private pending = NOTHING;
  private slots = 0;
  /** Valid until the next count, the end of a window or a change of business hours. */
  private lastResult: { revenue: number; until: number; cap: UsedUpCap | null } | undefined;

  constructor(
    private readonly owner: CapsOwner,
    start: Date,
  ) {
    const { zone, limits, used = {} } = owner;
    this.slot_limit = limits.concurrency_cap_limit ?? Infinity;
    this.funds = owner.funds ?? Infinity;
    this.used = Object.fromEntries(CAPS.map(({ used: name }) => [name, used[name] ?? 0])) as Record<
      UsedName,
      number
    >;
    this.ends = Object.fromEntries(
      WINDOWS.map((window) => [window, windowEnd(window, zone, start)]),
    ) as Record<Window, Date>;
  }

  usedUp(now: Date, revenue: number): UsedUpCap | null {
    const { lastResult } = this;
    if (lastResult?.revenue === revenue && now.getTime() < lastResult.until) return lastResult.cap;
    const cap = this.find(now, revenue);
    // Business hours have limits of their own, and change at full minutes.
    const minute = this.owner.hours?.length
      ? Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS + MINUTE_MS
      : Infinity;
    this.lastResult = { revenue, cap, until: Math.min(minute, this.ends.hourly.getTime()) };
    return cap;
  }

  reserve(move: CapsChange, now: Date): boolean {
    const { usage, concurrency = 0, pending = NOTHING } = move;
    if (concurrency > 0 && this.slots + concurrency > this.slot_limit) return false;
    if (!this.canPay(pending.revenue)) return false;
    const hasRoom = this.states(now).every(
      ({ metric, usedAmount, limit }) =>
        usedAmount < limit &&
        cents(usedAmount + (usage[metric] ?? 0) + readPending(metric, pending)) <= limit,
    );
    if (hasRoom) this.record(move, now);
    return hasRoom;
  }

  record({ usage, concurrency = 0, pending = NOTHING }: CapsChange, now: Date): void {
    this.roll(now);
    this.lastResult = undefined;
    for (const { metric, used } of CAPS)
      this.used[used] = cents(this.used[used] + (usage[metric] ?? 0));
    this.pending = {
      connections: this.pending.connections + pending.connections,
      conversions: this.pending.conversions + pending.conversions,
      revenue: cents(this.pending.revenue + pending.revenue),
    };
    this.slots = Math.max(0, this.slots + concurrency);
    this.funds = cents(this.funds - (usage.revenue ?? 0));
  }

  private canPay(revenue: number): boolean {
    const { pending, funds } = this;
    return pending.revenue < funds && cents(pending.revenue + revenue) <= funds;
  }

  private find(now: Date, revenue: number): UsedUpCap | null {
    const states = this.states(now);
    const reached = states.find(({ usedAmount, limit }) => usedAmount >= limit);
    if (!reached && this.slots >= this.slot_limit)
      return { cap: 'concurrency', used: this.slots, limit: this.slot_limit, resets_at: null };
    const cap =
      reached ??
      states.find(
        ({ metric, usedAmount, limit }) => isMoney(metric) && cents(usedAmount + revenue) > limit,
      );
    if (!cap)
      return this.canPay(revenue)
        ? null
        : { cap: 'balance', used: this.pending.revenue, limit: this.funds, resets_at: null };
    // A replay does not show when a cap frees.
    const { metric, interval, usedAmount, limit } = cap;
    return { cap: `${metric}_${interval}`, used: usedAmount, limit, resets_at: null };
  }

  private states(now: Date): LimitedCap[] {
    this.roll(now);
    const { zone, limits, hours } = this.owner;
    const hourly = hours
      ? hours.find(({ open }) => isOpenAt(open, minuteOfWeek(zone, now)))?.limits
      : limits;
    return CAPS.flatMap((cap) => {
      const limit = (cap.interval === 'hourly' ? hourly : limits)?.[cap.limit];
      if (limit === null || limit === undefined) return [];
      const usedAmount = cents(this.used[cap.used] + readPending(cap.metric, this.pending));
      return [{ metric: cap.metric, interval: cap.interval, limit, usedAmount }];
    });
  }

  /** Starts new windows in place of ended ones. */
  private roll(now: Date): void {
    for (const window of WINDOWS) {
      if (this.ends[window] > now) continue;
      for (const metric of METRICS) this.used[`${metric}_${window}_used`] = 0;
      this.ends[window] = windowEnd(window, this.owner.zone, now);
    }
  }
}
