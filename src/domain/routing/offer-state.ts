import type { CapCache } from '../caps/cap-cache';
import { copyCandidate, copyGroup, type Candidate, type CandidateGroup } from './engine/candidate';
import { buildBasis, type Basis } from './engine/explain';
import { buildPlainCandidates, type OfferSnapshot } from './offer-snapshot';

// The buyers of an offer within one minute: their settings, and the state that calls have changed.

export interface OfferState {
  /** The candidates as last read. An array that was returned is never changed. */
  current: readonly Candidate[];
  basis: Basis;
  /** Indexes of candidates by the ids of their buyers. */
  indexByBuyerId: ReadonlyMap<number, number>;
  /** Groups as last read, by their rows of caps. */
  groups: Map<number, CandidateGroup>;
}

/** The cache must hold the state of all caps of the offer. */
export function buildOfferState(snapshot: OfferSnapshot, caps: CapCache, now: Date): OfferState {
  const plain = buildPlainCandidates(snapshot, now);
  const state: OfferState = {
    current: plain,
    basis: getBasis(snapshot, plain),
    indexByBuyerId: new Map(plain.map(({ id }, index) => [id, index])),
    groups: new Map(snapshot.groups.map(({ limit_id, group }) => [limit_id, group])),
  };
  applyCapChanges(snapshot, state, { caps, added: listLimitIds(snapshot) });
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
  { caps, added }: { caps: CapCache; added: readonly number[] },
): void {
  let current: Candidate[] | undefined;
  const changedGroups = new Map<number, CandidateGroup>();
  for (const limitId of added) {
    const capState = caps.getState(limitId);
    if (!capState) continue;
    const index = indexByLimitId.get(limitId);
    if (index !== undefined) {
      current ??= [...state.current];
      current[index] = copyCandidate(current[index]!, capState);
      continue;
    }
    const group = state.groups.get(limitId);
    if (!group || (group.used_up === null && capState.used_up === null)) continue;
    const changed = copyGroup(group, capState.used_up);
    state.groups.set(limitId, changed);
    changedGroups.set(changed.id, changed);
  }
  if (current) state.current = current;
  if (changedGroups.size > 0) state.current = replaceGroups(state.current, changedGroups);
}

const replaceGroups = (
  candidates: readonly Candidate[],
  changed: ReadonlyMap<number, CandidateGroup>,
): Candidate[] =>
  candidates.map((candidate) =>
    candidate.groups.some(({ id }) => changed.has(id))
      ? copyCandidate(candidate, {
          groups: candidate.groups.map((group) => changed.get(group.id) ?? group),
        })
      : candidate,
  );
