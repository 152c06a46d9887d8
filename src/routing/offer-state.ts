import type { CapsSeen } from './caps-seen';
import { basisOf, type Basis } from './engine/basis';
import { copyCandidate, copyGroup, type Candidate, type CandidateGroup } from './engine/candidate';
import { changedLineup, lineupOf, type Lineup } from './engine/lineup';
import { plainCandidates, type OfferSnapshot } from './offer-snapshot';

// The buyers of an offer within one minute: their settings, and the state that calls have changed.

export interface OfferState {
  /** The candidates as last read. An array that was returned is never changed. */
  current: readonly Candidate[];
  basis: Basis;
  /** Columns of `current`. */
  lineup: Lineup | undefined;
  /** Indexes of candidates by the ids of their buyers. */
  places: ReadonlyMap<number, number>;
  /** Groups as last read, by their rows of caps. */
  groups: Map<number, CandidateGroup>;
}

/** The cache must hold the state of all caps of the offer. */
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

export const limitIdsOf = ({ places, groups }: OfferSnapshot): number[] => [
  ...places.keys(),
  ...groups.map(({ limit_id }) => limit_id),
];

/** Minutes usually share one basis. */
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

/** Replaces changed groups in their members, and returns the indexes of these. */
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
