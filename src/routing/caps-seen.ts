import type { UsedUpCap } from './engine/candidate';
import type { OwnerState } from './queries/call-state';
import { capOf } from './used-up-cap';

// What is known of the caps of a company: as far as calls need them, and as they are within one
// minute, since hours and windows of caps change at full minutes. A read returns what was written
// since an earlier one; reads may overlap, and return in any order.

/** What a read has seen: all transactions before `xmax`, except those that were running. */
export interface Seen {
  xmax: bigint;
  running: readonly string[];
}

/** A snapshot as PostgreSQL writes it. */
export function readSeen(snapshot: string): Seen {
  const [, xmax, running = ''] = snapshot.split(':');
  return { xmax: BigInt(xmax!), running: running === '' ? [] : running.split(',') };
}

/** What replaces all that is known. */
export const LATEST: Seen = { xmax: 2n ** 64n, running: [] };

/** Whether one read has seen all that the other has. */
const hasSeen = (one: Seen, other: Seen): boolean =>
  one.xmax > other.xmax || (one.xmax === other.xmax && one.running.length <= other.running.length);

/** What calls have changed of a buyer or a group. */
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
  /** Rows of caps that it has looked at, whenever they were written. */
  looked_at: readonly number[];
}

/** The caps of a company in one minute. */
export class CapsSeen {
  /** All that was committed before is known; null before the first read. */
  seen: Seen | null = null;
  private readonly standings = new Map<number, SeenStanding>();

  /** Undefined where there is nothing to say. */
  standingOf(limit_id: number): Standing | undefined {
    return this.standings.get(limit_id);
  }

  /** The same, to add what others may not know. */
  copy(): CapsSeen {
    const copy = new CapsSeen();
    copy.seen = this.seen;
    for (const [limit_id, standing] of this.standings) copy.standings.set(limit_id, standing);
    return copy;
  }

  /**
   * Adds what a read has returned: all that was written since `base`, or without one only some
   * rows. Of `looked_at`, those that are not returned have nothing to say: the caps of a buyer also
   * change with its hours and conversions. Returns the rows of caps whose standing it knows better
   * than was known.
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
    // Of what it did not read, it cannot tell what was written up to then.
    if (base === null) return hasSeen(known, seen) ? seen : known;
    return hasSeen(known, base) && hasSeen(seen, known) ? seen : known;
  }
}
