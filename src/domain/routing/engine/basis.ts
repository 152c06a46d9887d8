import { createHash } from 'node:crypto';
import type { Candidate } from './candidate';
import { findTier, bestGroup } from './route';

/** Run-length encoding: a value and the number of repetitions. */
export type Runs<Value> = [Value, number][];

/**
 * The part that decisions about an offer have in common: the settings of its candidates, in the
 * order of their ids. Stored once for many decisions. `steps` are the differences from one id to
 * the next.
 */
export interface StoredBasis {
  steps: Runs<number>;
  tiers: Runs<number>;
  weights: Runs<number>;
  by: Runs<Candidate['route_by_type']>;
  group_ids: Runs<number | null>;
}

/** The settings of a candidate, and its best group while all groups are open. */
export interface BasisRow {
  buyer_id: number;
  tier: number;
  weight: number;
  route_by_type: Candidate['route_by_type'];
  buyer_group_id: number | null;
}

export interface Basis {
  /** A hash of the content: equal candidates have equal hashes. */
  hash: string;
  text: string;
  rows: readonly BasisRow[];
  /** Set once the basis is in the database. */
  is_stored: boolean;
}

/**
 * Shows a candidate as a decision does: members of a group that rings them all at once get the tier
 * and weight of the group.
 */
export function toBasisRow(candidate: Candidate): BasisRow {
  const group = bestGroup(candidate);
  const asOne = group?.dial_buyers_type === 'simultaneously';
  return {
    buyer_id: candidate.id,
    tier: asOne ? group.tier : findTier(candidate),
    weight: asOne ? group.weight : candidate.weight,
    route_by_type: candidate.route_by_type,
    buyer_group_id: group?.id ?? null,
  };
}

export const isSameRow = (row: BasisRow, basisRow: BasisRow | undefined): boolean =>
  basisRow?.buyer_id === row.buyer_id &&
  basisRow.tier === row.tier &&
  basisRow.weight === row.weight &&
  basisRow.route_by_type === row.route_by_type &&
  basisRow.buyer_group_id === row.buyer_group_id;

/** Builds the basis from candidates without the effect of any call. Pure. */
export function buildBasis(candidates: readonly Candidate[]): Basis {
  const rows = candidates.map(toBasisRow);
  const storedBasis: StoredBasis = {
    steps: encodeRuns(
      rows.map(({ buyer_id }, n) => buyer_id - (n === 0 ? 0 : rows[n - 1]!.buyer_id)),
    ),
    tiers: encodeRuns(rows.map(({ tier }) => tier)),
    weights: encodeRuns(rows.map(({ weight }) => weight)),
    by: encodeRuns(rows.map(({ route_by_type }) => route_by_type)),
    group_ids: encodeRuns(rows.map(({ buyer_group_id }) => buyer_group_id)),
  };
  const text = JSON.stringify(storedBasis);
  const hash = createHash('sha256').update(text).digest('base64url');
  return { hash, text, rows, is_stored: false };
}

export function unpackBasis({ steps, tiers, weights, by, group_ids }: StoredBasis): BasisRow[] {
  const [tier, weight, routeByType] = [decodeRuns(tiers), decodeRuns(weights), decodeRuns(by)];
  const groupId = decodeRuns(group_ids);
  let id = 0;
  return decodeRuns(steps).map((step, n) => ({
    buyer_id: (id += step),
    tier: tier[n]!,
    weight: weight[n]!,
    route_by_type: routeByType[n]!,
    buyer_group_id: groupId[n]!,
  }));
}

function encodeRuns<Value>(values: readonly Value[]): Runs<Value> {
  const runs: Runs<Value> = [];
  for (const value of values) {
    const last = runs.at(-1);
    if (last?.[0] === value) last[1]++;
    else runs.push([value, 1]);
  }
  return runs;
}

const decodeRuns = <Value>(runs: Runs<Value>): Value[] =>
  runs.flatMap(([value, times]) => Array<Value>(times).fill(value));
