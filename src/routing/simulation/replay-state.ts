import { copyCandidate, copyGroup, type Candidate, type CandidateGroup } from '../engine/candidate';
import { openCaps, type CapsOwner } from './caps';
import { EventQueue } from './event-queue';
import { openLedger, type Ledger, type Owner } from './ledger';
import { noFigures, type Configuration, type Replay, type ReplayedCall } from './model';
import { conversionsAt, type Expectations, type PaidFor } from './outcome';

/** The state of a replay, changed in place call by call. */
export interface ReplayState {
  seed: string;
  expected: Expectations;
  queue: EventQueue;
  /** By id. */
  buyers: ReadonlyMap<number, Owner>;
  groups: ReadonlyMap<number, Owner>;
  /** The subjects of `buyers`. */
  candidates: readonly Candidate[];
  /** The buyer that each caller was last connected to in the replay. */
  connected_to: Map<number, number>;
  ledger: Ledger;
}

const NO_LISTS: Candidate['suppressed_by'] = [];

export function openReplay(
  { buyers, groups, payouts }: Configuration,
  { seed, start, expected }: Omit<Replay, 'calls'>,
): ReplayState {
  const ownerOf = (
    subject: Owner['subject'],
    caps: CapsOwner,
    conversions: readonly PaidFor[] = [],
  ): Owner => ({ caps: openCaps(caps, start), subject, conversions, figures: noFigures() });
  // The subjects are copies, since calls change them in place.
  const group_owners = new Map(
    groups.map(({ group, caps }) => [group.id, ownerOf(copyGroup(group, null), caps)]),
  );
  const buyer_owners = new Map(
    buyers.map(({ candidate, caps, conversions }) => {
      const own_groups = candidate.groups.map(
        ({ id }) => group_owners.get(id)!.subject as CandidateGroup,
      );
      const subject = copyCandidate(candidate, { groups: own_groups, last_call_at: null });
      return [candidate.id, ownerOf(subject, caps, conversions)];
    }),
  );
  return {
    seed,
    expected,
    queue: new EventQueue(),
    buyers: buyer_owners,
    groups: group_owners,
    candidates: [...buyer_owners.values()].map(({ subject }) => subject as Candidate),
    connected_to: new Map(),
    ledger: openLedger(payouts, seed),
  };
}

/** Updates every candidate for a call at an instant. */
export function refreshCandidates(
  { buyers, groups }: ReplayState,
  { suppressed }: ReplayedCall,
  now: Date,
): void {
  for (const owner of groups.values()) owner.subject.used_up = owner.caps.usedUp(now, 0);
  for (const owner of buyers.values()) {
    const buyer = owner.subject as Candidate;
    const open = conversionsAt(owner.conversions, buyer.zone, now);
    buyer.current_conversion_revenue = open[0]?.revenue ?? null;
    buyer.most_revenue = Math.max(0, ...open.map(({ revenue }) => revenue));
    buyer.suppressed_by = suppressed.get(buyer.id) ?? NO_LISTS;
    buyer.used_up = owner.caps.usedUp(now, buyer.most_revenue);
  }
}
