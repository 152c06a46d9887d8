import { roundToCents } from '../../../platform/dollars';
import type { CapName, UsedUpCap } from '../caps';

/** A cap with a limit, at an instant (`cap_counters()` in the database). */
export interface CapCounter {
  cap: CapName;
  /** Includes what calls in progress may still use. */
  used: number;
  limit: number;
  /** End of the running window; null for a window that has not begun, and for what never resets. */
  resets_at: Date | string | null;
}

/** Rows of caps that had no room for a call, as the database describes them. */
export interface FullCaps {
  /** A row of call_limits. */
  limit_id: number;
  zone: string;
  /** In the order in which a used-up cap is named. */
  counters: readonly CapCounter[];
}

const countsDollars = ({ cap }: CapCounter): boolean =>
  cap === 'balance' || cap.includes('revenue');

/** Slots and dollars become free whenever a call ends, or someone pays. */
const hasWindow = ({ cap }: CapCounter): boolean => cap !== 'concurrency' && cap !== 'balance';

/**
 * The cap that keeps a call with up to `revenue` dollars from its owner; null when every cap has
 * room. Of several used-up caps, the first, with the time at which all have room. Pure.
 */
export function pickUsedUpCap(counters: readonly CapCounter[], revenue: number): UsedUpCap | null {
  const reached = counters.filter(({ used, limit }) => used >= limit);
  const blockingCap =
    reached[0] ??
    counters.find(
      (counter) => countsDollars(counter) && roundToCents(counter.used + revenue) > counter.limit,
    );
  if (!blockingCap) return null;
  const { cap, used, limit } = blockingCap;
  const windows = reached.length > 0 ? reached.filter(hasWindow) : [blockingCap];
  const never = limit === 0 || windows.some((counter) => counter.cap.endsWith('_total'));
  const ends = windows.flatMap(({ resets_at }) =>
    resets_at === null ? [] : new Date(resets_at).getTime(),
  );
  const resetsAt = never || ends.length === 0 ? null : new Date(Math.max(...ends));
  return { cap, used, limit, resets_at: resetsAt };
}
