import type { CapCache } from '../caps/cap-cache';
import { buildBasis, type Basis } from './engine/basis';
import { copyCandidate, copyGroup, type Candidate, type CandidateGroup } from './engine/candidate';
import { updateColumns, buildColumns, type CandidateColumns } from './engine/lineup';
import { buildPlainCandidates, type OfferSnapshot } from './offer-snapshot';

// The buyers of an offer within one minute: their settings, and the state that calls have changed.

export interface OfferState {
  /** The candidates as last read. An array that was returned is never changed. */
  current: readonly Candidate[];
  basis: Basis;
  /** Columns of `current`. */
  columns: CandidateColumns | undefined;
  /** Indexes of candidates by the ids of their buyers. */
  indexByBuyerId: ReadonlyMap<number, number>;
  /** Groups as last read, by their rows of caps. */
  groups: Map<number, CandidateGroup>;
}

/** The cache must hold the state of all caps of the offer. */
export function buildOfferState(snapshot: OfferSnapshot, caps: CapCache, now: Date): OfferState {
  const plain = buildPlainCandidates(snapshot, now);
  const basis = getBasis(snapshot, plain);
  const state: OfferState = {
    current: plain,
    basis,
    columns: buildColumns(plain, basis, now),
    indexByBuyerId: new Map(plain.map(({ id }, index) => [id, index])),
    groups: new Map(snapshot.groups.map(({ limit_id, group }) => [limit_id, group])),
  };
  applyCapChanges(snapshot, state, { caps, added: listLimitIds(snapshot), now });
  return state;
}

export const listLimitIds = ({ indexByLimitId, groups }: OfferSnapshot): number[] => [
  ...indexByLimitId.keys(),
  ...groups.map(({ limit_id }) => limit_id),
];

/** Minutes usually share one basis. */
const basisBySnapshot = new WeakMap<OfferSnapshot, Basis>();
function getBasis(snapshot: OfferSnapshot, plain: readonly Candidate[]): Basis {
  const basis = buildBasis(plain);
  const cachedBasis = basisBySnapshot.get(snapshot);
  if (cachedBasis?.hash === basis.hash) return cachedBasis;
  basisBySnapshot.set(snapshot, basis);
  return basis;
}

/** Rebuilds only the candidates whose caps changed since the last read; usually none or one. */
export function applyCapChanges(
  { indexByLimitId }: OfferSnapshot,
  state: OfferState,
  { caps, added, now }: { caps: CapCache; added: readonly number[]; now: Date },
): void {
  let current: Candidate[] | undefined;
  const replaced: number[] = [];
  const changedGroups = new Map<number, CandidateGroup>();
  for (const limitId of added) {
    const capState = caps.getState(limitId);
    if (!capState) continue;
    const index = indexByLimitId.get(limitId);
    if (index !== undefined) {
      current ??= [...state.current];
      current[index] = copyCandidate(current[index]!, capState);
      replaced.push(index);
      continue;
    }
    const group = state.groups.get(limitId);
    if (!group || (group.used_up === null && capState.used_up === null)) continue;
    const changed = copyGroup(group, capState.used_up);
    state.groups.set(limitId, changed);
    changedGroups.set(changed.id, changed);
  }
  if (changedGroups.size > 0) {
    current ??= [...state.current];
    replaced.push(...applyGroups(current, changedGroups));
  }
  if (!current) return;
  state.current = current;
  state.columns &&= updateColumns(state.columns, current, {
    indexes: replaced,
    basis: state.basis,
    now,
  });
}

/** Replaces changed groups in their members, and returns the indexes of these. */
function applyGroups(
  candidates: Candidate[],
  changed: ReadonlyMap<number, CandidateGroup>,
): number[] {
  const indexes: number[] = [];
  candidates.forEach((candidate, index) => {
    if (!candidate.groups.some(({ id }) => changed.has(id))) return;
    const groups = candidate.groups.map((group) => changed.get(group.id) ?? group);
    candidates[index] = copyCandidate(candidate, { groups });
    indexes.push(index);
  });
  return indexes;
}
