import { toBasisRow, isSameRow, type Basis } from './basis';
import { isBidder } from './bids';
import type { Candidate } from './candidate';
import { findPathFault } from './caps';
import { hoursFault } from './hours';
import { pauseFault, type Fault } from './reasons';
import { toDrawKey, findTier } from './route';

/**
 * The candidates of an offer as columns, in their order. A decision about ten thousand candidates
 * reads a megabyte less than from the objects, and skips checks with the same result for every call
 * of a minute. Columns are immutable.
 */
export interface CandidateColumns {
  /** Keys in the draw. */
  keys: Float64Array;
  tiers: Float64Array;
  weights: Float64Array;
  /** Distinct lists of filters; `filters_of` has the index of each candidate's list. */
  filters: readonly (readonly string[])[];
  filters_of: Uint32Array;
  kinds: Uint8Array;
  /** The reasons of candidates of kind `lasting`, each once. */
  lasting: readonly LastingFault[];
  /** Indexes of candidates that differ from the basis. */
  differing: readonly number[];
}

interface LastingFault extends Fault {
  ids: number[];
}

export const KINDS = {
  /** Takes the call unless the caller, the filters or earlier calls exclude it. */
  open: 0,
  /** Takes no call in this minute: paused or closed. */
  lasting: 1,
  /** Must be evaluated for each call. */
  perCall: 2,
} as const;

/** Undefined when every candidate must be evaluated for each call. Pure. */
export function buildColumns(
  candidates: readonly Candidate[],
  basis: Basis,
  now: Date,
): CandidateColumns | undefined {
  const atOnce = candidates.some(({ groups }) =>
    groups.some(({ dial_buyers_type }) => dial_buyers_type === 'simultaneously'),
  );
  if (atOnce || candidates.some(({ route_by_type }) => route_by_type === 'epc')) return undefined;
  const kinds = Uint8Array.from(candidates, (candidate) => classifyCandidate(candidate, now));
  const lists = new Map<readonly string[], number>();
  const filterIndexes = Uint32Array.from(candidates, ({ record_token_filter_list: filters }) => {
    if (!lists.has(filters)) lists.set(filters, lists.size);
    return lists.get(filters)!;
  });
  return {
    keys: Float64Array.from(candidates, (candidate) => toDrawKey(candidate, null)),
    tiers: Float64Array.from(candidates, findTier),
    weights: Float64Array.from(candidates, ({ weight }) => weight),
    filters: [...lists.keys()],
    filters_of: filterIndexes,
    kinds,
    lasting: groupLastingFaults(candidates, kinds, now),
    differing: [...candidates.keys()].filter((index) => differs(candidates[index]!, basis, index)),
  };
}

/** Replaces candidates whose caps were changed by calls. Pure. */
export function updateColumns(
  columns: CandidateColumns,
  candidates: readonly Candidate[],
  { indexes, basis, now }: { indexes: readonly number[]; basis: Basis; now: Date },
): CandidateColumns {
  const changed = indexes
    .map((index) => ({ index, kind: classifyCandidate(candidates[index]!, now) }))
    .filter(({ kind, index }) => kind !== columns.kinds[index]);
  const differing = updateDiffering(columns, indexes, (index) =>
    differs(candidates[index]!, basis, index),
  );
  if (changed.length === 0)
    return differing === columns.differing ? columns : { ...columns, differing };
  const kinds = columns.kinds.slice();
  for (const { index, kind } of changed) kinds[index] = kind;
  const isLastingChanged = changed.some(
    ({ index, kind }) => kind === KINDS.lasting || columns.kinds[index] === KINDS.lasting,
  );
  const lasting = isLastingChanged ? groupLastingFaults(candidates, kinds, now) : columns.lasting;
  return { ...columns, kinds, lasting, differing };
}

function updateDiffering(
  { differing }: CandidateColumns,
  indexes: readonly number[],
  differsNow: (index: number) => boolean,
): readonly number[] {
  const after = new Set(differing);
  const changed = new Set(indexes.filter((index) => after.has(index) !== differsNow(index)));
  if (changed.size === 0) return differing;
  for (const index of changed) if (!after.delete(index)) after.add(index);
  return [...after].sort((a, b) => a - b);
}

function groupLastingFaults(
  candidates: readonly Candidate[],
  kinds: Uint8Array,
  now: Date,
): readonly LastingFault[] {
  const lasting = new Map<string, LastingFault>();
  candidates.forEach((candidate, index) => {
    if (kinds[index] !== KINDS.lasting) return;
    const fault = lastingFault(candidate, now)!;
    const key = JSON.stringify(fault);
    const knownFault = lasting.get(key);
    if (knownFault) knownFault.ids.push(candidate.id);
    else lasting.set(key, { ...fault, ids: [candidate.id] });
  });
  return [...lasting.values()];
}

const differs = (candidate: Candidate, { rows }: Basis, index: number): boolean =>
  !isSameRow(toBasisRow(candidate), rows[index]);

/** In the order of the reasons: a paused group comes before closed hours. */
function classifyCandidate(candidate: Candidate, now: Date): number {
  if (candidate.paused) return KINDS.lasting;
  if (findPathFault(candidate)) return KINDS.perCall;
  if (lastingFault(candidate, now)) return KINDS.lasting;
  const isOpen = !candidate.used_up && candidate.number?.trim() && !isBidder(candidate);
  return isOpen ? KINDS.open : KINDS.perCall;
}

const lastingFault = ({ paused, business_hours, zone }: Candidate, now: Date): Fault | undefined =>
  paused ? pauseFault('paused', 'the buyer') : hoursFault(business_hours, zone, now);
