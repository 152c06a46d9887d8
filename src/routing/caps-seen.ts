import type { UsedUpCap } from './engine/candidate';
import type { OwnerState } from './queries/call-state';
import { capOf } from './used-up-cap';

// Cache of the caps of a company: only caps that calls need, and their state within one minute,
// since hours and windows of caps change at full minutes. A read returns the rows written since an
// earlier read; reads may overlap, and return in any order.

/** The transactions that a read covers: all before `xmax`, except those that were running. */
export interface Seen {
  xmax: bigint;
  running: readonly string[];
}

/** Parses a snapshot in the format of PostgreSQL. */
export function readSeen(snapshot: string): Seen {
  const [, xmax, running = ''] = snapshot.split(':');
  return { xmax: BigInt(xmax!), running: running === '' ? [] : running.split(',') };
}

/** A read with this mark replaces every cached state. */
export const LATEST: Seen = { xmax: 2n ** 64n, running: [] };

/** True when the first read covers all transactions that the second one covers. */
const hasSeen = (one: Seen, other: Seen): boolean =>
  one.xmax > other.xmax || (one.xmax === other.xmax && one.running.length <= other.running.length);

export interface Standing {
  used_up: UsedUpCap | null;
  last_call_at: Date | null;
}

interface SeenStanding extends Standing {
  seen: Seen;
}

interface Read {
  base: Seen | null;
  seen: Seen;
  /** Rows of caps that the read has checked, whenever they were written. */
  looked_at: readonly number[];
}

export class CapsSeen {
  /** All commits that it covers are cached; null before the first read. */
  seen: Seen | null = null;
  private readonly standings = new Map<number, SeenStanding>();

  /** Undefined while the cap is unused. */
  standingOf(limit_id: number): Standing | undefined {
    return this.standings.get(limit_id);
  }

  /** A copy, for changes that other calls must not see. */
  copy(): CapsSeen {
    const copy = new CapsSeen();
    copy.seen = this.seen;
    for (const [limit_id, standing] of this.standings) copy.standings.set(limit_id, standing);
    return copy;
  }

  /**
   * Adds the result of a read: all rows written since `base`, or without it only some rows. A row
   * of `looked_at` that is not returned is unused, since the caps of a buyer also change with its
   * hours and conversions. Returns the rows of caps whose state is newer than the cached one.
   */
  add(rows: readonly OwnerState[], { base, seen, looked_at }: Read): number[] {
    this.seen = this.seenAfter(base, seen);
    const added: number[] = [];
    const returned = new Set<number>();
    for (const { limit_id, cap, last_call_at } of rows) {
      returned.add(limit_id);
      const known = this.standings.get(limit_id);
      if (known && !hasSeen(seen, known.seen)) continue;
      this.standings.set(limit_id, {
        seen,
        used_up: capOf(cap),
        last_call_at: last_call_at === null ? null : new Date(last_call_at),
      });
      added.push(limit_id);
    }
    for (const limit_id of looked_at) {
      const known = this.standings.get(limit_id);
      if (!known || returned.has(limit_id) || !hasSeen(seen, known.seen)) continue;
      this.standings.set(limit_id, { seen, used_up: null, last_call_at: null });
      added.push(limit_id);
    }
    return added;
  }

  private seenAfter(base: Seen | null, seen: Seen): Seen {
    const known = this.seen;
    if (known === null) return seen;
    // A read without `base` does not cover earlier writes of the rows that it left out.
    if (base === null) return hasSeen(known, seen) ? seen : known;
    return hasSeen(known, base) && hasSeen(seen, known) ? seen : known;
  }
}
