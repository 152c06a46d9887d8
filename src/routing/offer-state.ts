import type { CapsSeen } from './caps-seen';
import { basisOf, type Basis } from './engine/basis';
import { copyCandidate, copyGroup, type Candidate, type CandidateGroup } from './engine/candidate';
import { changedLineup, lineupOf, type Lineup } from './engine/lineup';
import { plainCandidates, type OfferSnapshot } from './offer-snapshot';

// The buyers of an offer within one minute: as they are set up, with what calls have changed.

/** The buyers of an offer in one minute. */
export interface OfferState {
  /** The candidates as last read. An array that was handed out is never changed. */
  current: readonly Candidate[];
  basis: Basis;
  /** Of `current`. */
  lineup: Lineup | undefined;
  /** Places of candidates by the ids of their buyers. */
  places: ReadonlyMap<number, number>;
  /** As last read, by their rows of caps. */
  groups: Map<number, CandidateGroup>;
}

/** The state of an offer, of whose caps all is known. */
export function offerStateOf(snapshot: OfferSnapshot, caps: CapsSeen, now: Date): OfferState {
  const plain = plainCandidates(snapshot, now);
  const basis = basisWith(snapshot, plain);
  const state: OfferState = {
    current: plain,
    basis,
    lineup: lineupOf(plain, basis, now),
    places: new Map(plain.map(({ id }, place) => [id, place])),
    groups: new Map(snapshot.groups.map(({ limit_id, group }) => [limit_id, group])),
  };
  apply(snapshot, state, { caps, added: limitIdsOf(snapshot), now });
  return state;
}

/** The rows of caps of an offer. */
export const limitIdsOf = ({ places, groups }: OfferSnapshot): number[] => [
  ...places.keys(),
  ...groups.map(({ limit_id }) => limit_id),
];

/** From one minute to the next it usually is the same. */
const basis_of = new WeakMap<OfferSnapshot, Basis>();
function basisWith(snapshot: OfferSnapshot, plain: readonly Candidate[]): Basis {
  const basis = basisOf(plain);
  const known = basis_of.get(snapshot);
  if (known?.hash === basis.hash) return known;
  basis_of.set(snapshot, basis);
  return basis;
}

/** Rebuilds only the candidates whose caps changed since the last read; usually none or one. */
export function apply(
  { places }: OfferSnapshot,
  state: OfferState,
  { caps, added, now }: { caps: CapsSeen; added: readonly number[]; now: Date },
): void {
  let current: Candidate[] | undefined;
  const replaced: number[] = [];
  const changed_groups = new Map<number, CandidateGroup>();
  for (const limit_id of added) {
    const standing = caps.standingOf(limit_id);
    if (!standing) continue;
    const place = places.get(limit_id);
    if (place !== undefined) {
      current ??= [...state.current];
      current[place] = copyCandidate(current[place]!, standing);
      replaced.push(place);
      continue;
    }
    const group = state.groups.get(limit_id);
    if (!group || (group.used_up === null && standing.used_up === null)) continue;
    const changed = copyGroup(group, standing.used_up);
    state.groups.set(limit_id, changed);
    changed_groups.set(changed.id, changed);
  }
  if (changed_groups.size > 0) {
    current ??= [...state.current];
    replaced.push(...applyGroups(current, changed_groups));
  }
  if (!current) return;
  state.current = current;
  state.lineup &&= changedLineup(state.lineup, current, {
    places: replaced,
    basis: state.basis,
    now,
  });
}

/** Gives the members of changed groups the new copies, and returns their places. */
function applyGroups(
  candidates: Candidate[],
  changed: ReadonlyMap<number, CandidateGroup>,
): number[] {
  const places: number[] = [];
  candidates.forEach((one, place) => {
    if (!one.groups.some(({ id }) => changed.has(id))) return;
    const groups = one.groups.map((group) => changed.get(group.id) ?? group);
    candidates[place] = copyCandidate(one, { groups });
    places.push(place);
  });
  return places;
}
