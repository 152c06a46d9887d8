import { isBidder } from '../routing/engine/bids';
import {
  copyCandidate,
  copyGroup,
  type Candidate,
  type CandidateGroup,
} from '../routing/engine/candidate';
import { openCaps, type Caps, type CapsOwner } from './caps';
import { openLedger, type Ledger, type Owner } from './ledger';
import { noFigures, type Configuration, type Replay, type ReplayedCall } from './model';
import { listPayingTerms, type Expectations, type PayingTerms } from './outcome';

export interface Source {
  caps: Caps;
  /** IANA name. */
  zone: string;
}

/** Changed in place, call by call. */
export interface ReplayState {
  seed: string;
  expected: Expectations;
  queue: EventQueue;
  /** By id. */
  buyers: ReadonlyMap<number, Owner>;
  groups: ReadonlyMap<number, Owner>;
  /** Sources with caps, by id. */
  sources: ReadonlyMap<number, Source>;
  /** The subjects of `buyers`. */
  candidates: readonly Candidate[];
  /** The buyer that each caller was last connected to in the replay. */
  connected_to: Map<number, number>;
  /** When each buyer was last dialed, by id. */
  last_calls: Map<number, Date>;
  ledger: Ledger;
}

const NO_LISTS: Candidate['suppressed_by'] = [];

export function openReplay(
  { buyers, groups, sources, payouts }: Configuration,
  { seed, start, expected }: Omit<Replay, 'calls'>,
): ReplayState {
  const openOwner = (
    subject: Owner['subject'],
    caps: CapsOwner,
    conversions: readonly PayingTerms[] = [],
  ): Owner => ({ caps: openCaps(caps, start), subject, conversions, figures: noFigures() });
  // The subjects are copies, since calls change them in place.
  const groupOwners = new Map(
    groups.map(({ group, caps }) => [group.id, openOwner(copyGroup(group, null), caps)]),
  );
  const buyerOwners = new Map(
    buyers.map(({ candidate, caps, conversions }) => {
      const ownGroups = candidate.groups.map(
        ({ id }) => groupOwners.get(id)!.subject as CandidateGroup,
      );
      const subject = copyCandidate(candidate, { groups: ownGroups });
      return [candidate.id, openOwner(subject, caps, conversions)];
    }),
  );
  return {
    seed,
    expected,
    queue: new EventQueue(),
    buyers: buyerOwners,
    groups: groupOwners,
    sources: new Map(
      [...sources].map(([id, caps]) => [id, { caps: openCaps(caps, start), zone: caps.zone }]),
    ),
    candidates: [...buyerOwners.values()].map(({ subject }) => subject as Candidate),
    connected_to: new Map(),
    last_calls: new Map(),
    ledger: openLedger(payouts, seed),
  };
}

export function refreshCandidates(
  { buyers, groups }: ReplayState,
  { suppressed, bids }: ReplayedCall,
  now: Date,
): void {
  for (const owner of groups.values()) owner.subject.used_up = owner.caps.usedUp(now, 0);
  for (const owner of buyers.values()) {
    const buyer = owner.subject as Candidate;
    const bid = isBidder(buyer) ? bids?.get(buyer.id) : undefined;
    const { conversions } = owner;
    const open = listPayingTerms(bid, { conversions, zone: buyer.zone, now });
    buyer.bid = bid ?? null;
    buyer.number = bid?.number ?? buyer.number;
    buyer.current_conversion_revenue = open[0]?.revenue ?? null;
    buyer.most_revenue = Math.max(0, ...open.map(({ revenue }) => revenue));
    buyer.suppressed_by = suppressed.get(buyer.id) ?? NO_LISTS;
    buyer.used_up = owner.caps.usedUp(now, buyer.most_revenue);
  }
}

interface Event {
  at: number;
  order: number;
  run: () => void;
}

const isBefore = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order);

/** Future events of a replay: the earliest first, at the same time in the order added. A heap. */
class EventQueue {
  private readonly heap: Event[] = [];
  private order = 0;

  /** `at` is in milliseconds. */
  add(at: number, run: () => void): void {
    const { heap } = this;
    heap.push({ at, order: this.order++, run });
    for (let child = heap.length - 1; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!isBefore(heap[child]!, heap[parent]!)) return;
      this.swap(child, parent);
      child = parent;
    }
  }

  /** Runs the next event that is due by `until`; false when there is none. */
  runNext(until: number): boolean {
    const [first] = this.heap;
    if (!first || first.at > until) return false;
    this.removeFirst();
    first.run();
    return true;
  }

  private removeFirst(): void {
    const { heap } = this;
    const last = heap.pop()!;
    if (heap.length > 0) heap[0] = last;
    for (let at = 0; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && isBefore(heap[child]!, heap[least]!)) least = child;
      if (least === at) return;
      this.swap(at, least);
      at = least;
    }
  }

  private swap(a: number, b: number): void {
    [this.heap[a], this.heap[b]] = [this.heap[b]!, this.heap[a]!];
  }
}
