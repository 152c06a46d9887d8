import { isOpenAt } from '../../platform/time/opening-hours';
import { minuteOfWeek } from '../../platform/time/zone';
import {
  CAPS,
  type HeldUsage,
  type LimitName,
  type Usage,
  type UsedName,
  type UsedUpCap,
} from '../caps/caps';
import {
  applyChange,
  hasRoom,
  listCounters,
  windowEnd,
  type CapChange,
  type CapRow,
} from '../caps/engine/cap-row';
import { pickUsedUpCap, type CapCounter } from '../caps/engine/used-up-cap';

// Caps of owners during a replay, counted as the database counts them for live calls.

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

export type Pending = HeldUsage;

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

const MINUTE_MS = 60_000;

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

class CountedCaps implements Caps {
  private row: CapRow;
  /** Valid until the next count, the end of a window or a change of business hours. */
  private lastResult: { revenue: number; until: number; cap: UsedUpCap | null } | undefined;

  constructor(
    private readonly owner: CapsOwner,
    start: Date,
  ) {
    this.row = openRow(owner, start);
  }

  usedUp(now: Date, revenue: number): UsedUpCap | null {
    const { lastResult } = this;
    if (lastResult?.revenue === revenue && now.getTime() < lastResult.until) return lastResult.cap;
    const usedUp = pickUsedUpCap(this.counters(now), revenue);
    // A replay does not show when a cap frees.
    const cap = usedUp && { ...usedUp, resets_at: null };
    // Business hours have limits of their own, and change at full minutes.
    const minute = this.owner.hours?.length
      ? Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS + MINUTE_MS
      : Infinity;
    const hour = windowEnd('hourly', this.owner.zone, now).getTime();
    this.lastResult = { revenue, cap, until: Math.min(minute, hour) };
    return cap;
  }

  reserve(move: CapsChange, now: Date): boolean {
    const isReserved = hasRoom(this.counters(now), toCapChange(move));
    if (isReserved) this.record(move, now);
    return isReserved;
  }

  record(move: CapsChange, now: Date): void {
    this.lastResult = undefined;
    this.row = applyChange(this.row, toCapChange(move), now);
  }

  private counters(now: Date): CapCounter[] {
    const { zone, hours } = this.owner;
    const hourly = hours
      ? (hours.find(({ open }) => isOpenAt(open, minuteOfWeek(zone, now)))?.limits ?? {})
      : this.row;
    return listCounters(this.row, now, hourly);
  }
}

const toCapChange = ({ usage, concurrency = 0, pending }: CapsChange): CapChange => ({
  ...usage,
  slots: concurrency,
  ...(pending && { held: pending }),
  charge: usage.revenue ?? 0,
});

const NOTHING_USED = Object.fromEntries(CAPS.map(({ used }) => [used, 0])) as Record<
  UsedName,
  number
>;

/** Usage at the start was counted in the windows that contain it. */
const openRow = ({ zone, limits, used, funds = null }: CapsOwner, start: Date): CapRow => ({
  zone,
  ...limits,
  concurrency_cap_limit: limits.concurrency_cap_limit ?? null,
  ...NOTHING_USED,
  ...used,
  monthly_resets_at: windowEnd('monthly', zone, start),
  daily_resets_at: windowEnd('daily', zone, start),
  hourly_resets_at: windowEnd('hourly', zone, start),
  concurrency_cap_used: 0,
  pending_connections: 0,
  pending_conversions: 0,
  pending_revenue: 0,
  balance: funds,
  credit_limit: 0,
});
