import type { UsedUpCap } from './caps';
import { pickUsedUpCap, type CapCounter } from './engine/used-up-cap';

// Cache of the caps of a company: only caps that calls need, and their state within one minute,
// since hours and windows of caps change at full minutes. A read returns the rows written since an
// earlier read; reads may overlap, and return in any order.

/** The transactions that a read covers: all before `xmax`, except those that were running. */
export interface SnapshotMark {
  xmax: bigint;
  running: readonly string[];
}

/** Parses a snapshot in the format of PostgreSQL. */
export function parseSnapshotMark(snapshot: string): SnapshotMark {
  const [, xmax, running = ''] = snapshot.split(':');
  return { xmax: BigInt(xmax!), running: running === '' ? [] : running.split(',') };
}

/** A read with this mark replaces every cached state. */
export const SUPERSEDES_ALL: SnapshotMark = { xmax: 2n ** 64n, running: [] };

/** True when the first read covers all transactions that the second one covers. */
const covers = (mark: SnapshotMark, earlierMark: SnapshotMark): boolean =>
  mark.xmax > earlierMark.xmax ||
  (mark.xmax === earlierMark.xmax && mark.running.length <= earlierMark.running.length);

/** The state of a buyer or group that calls change; `limit_id` is its row of call_limits. */
export interface OwnerState {
  limit_id: number;
  /** Null where every cap has room. */
  counters: readonly CapCounter[] | null;
  /** Dollars: the most that a call may bring. */
  revenue: number;
  last_call_at: string | null;
}

export interface CapState {
  used_up: UsedUpCap | null;
  last_call_at: Date | null;
}

interface MarkedCapState extends CapState {
  mark: SnapshotMark;
}

export interface CapRead {
  base: SnapshotMark | null;
  mark: SnapshotMark;
  /** Rows of caps that the read has checked, whenever they were written. */
  looked_at: readonly number[];
}

export class CapCache {
  /** All commits that it covers are cached; null before the first read. */
  mark: SnapshotMark | null = null;
  private readonly states = new Map<number, MarkedCapState>();

  /** Undefined while the cap is unused. */
  getState(limitId: number): CapState | undefined {
    return this.states.get(limitId);
  }

  /** A copy, for changes that other calls must not see. */
  copy(): CapCache {
    const copy = new CapCache();
    copy.mark = this.mark;
    for (const [limitId, state] of this.states) copy.states.set(limitId, state);
    return copy;
  }

  /**
   * Adds the result of a read: all rows written since `base`, or without it only some rows. A row
   * of `looked_at` that is not returned is unused, since the caps of a buyer also change with its
   * hours and conversions. Returns the rows of caps whose state is newer than the cached one.
   */
  add(rows: readonly OwnerState[], { base, mark, looked_at }: CapRead): number[] {
    this.mark = this.merge(base, mark);
    const added: number[] = [];
    const returned = new Set<number>();
    for (const { limit_id, counters, revenue, last_call_at } of rows) {
      returned.add(limit_id);
      const knownState = this.states.get(limit_id);
      if (knownState && !covers(mark, knownState.mark)) continue;
      this.states.set(limit_id, {
        mark,
        used_up: counters && pickUsedUpCap(counters, revenue),
        last_call_at: last_call_at === null ? null : new Date(last_call_at),
      });
      added.push(limit_id);
    }
    for (const limitId of looked_at) {
      const knownState = this.states.get(limitId);
      if (!knownState || returned.has(limitId) || !covers(mark, knownState.mark)) continue;
      this.states.set(limitId, { mark, used_up: null, last_call_at: null });
      added.push(limitId);
    }
    return added;
  }

  private merge(base: SnapshotMark | null, mark: SnapshotMark): SnapshotMark {
    const currentMark = this.mark;
    if (currentMark === null) return mark;
    // A read without `base` does not cover earlier writes of the rows that it left out.
    if (base === null) return covers(currentMark, mark) ? mark : currentMark;
    return covers(currentMark, base) && covers(mark, currentMark) ? mark : currentMark;
  }
}
