import { drawBy } from './draw';
import type { OwnedCap } from './caps';
import type { Candidate, Reason } from './eligibility';
import { drawKey, type Considered, type Route } from './route';

export type Action = 'dial' | 'fallback' | 'hang_up';

export type DecidedBuyer = Omit<Considered, 'available'> & { chosen: boolean };

/** What was decided about a call. */
export interface Verdict {
  round: number;
  /** ISO 8601. */
  at: string;
  seed: string;
  offer_id: number | null;
  action: Action;
  /** Why nobody is dialed; null when somebody is. */
  reason: string | null;
  message: string | null;
  buyer_ids: number[];
  caps: OwnedCap[];
}

/** The answer to why a call went where it went. */
export interface Decision extends Verdict {
  candidates: DecidedBuyer[];
}

interface StoredFault {
  reason: Reason;
  message: string | null;
  details: Record<string, unknown> | null;
}

/** A value and how many in a row have it. */
type Runs<Value> = [Value, number][];

/** What is kept of some candidates, one entry each, in their order. */
interface Columns {
  ids: number[];
  tiers: Runs<number>;
  weights: Runs<number>;
  by: Runs<Candidate['route_by_type']>;
}

/**
 * A decision as it is stored, one for every call: what many candidates have in common stands once, and what can be told from the rest not at all
 * (a draw from the seed, a share from the weights). Reports read `faults` in SQL.
 */
export interface StoredDecision extends Verdict {
  /** Those that could take the call, in the order of the draw. `at_once`: how many ring as one group, 0 of those that ring alone. */
  open: Columns & { group_ids: (number | null)[]; at_once: Runs<number> };
  /** The reasons, each with those that were passed over for it. */
  faults: (StoredFault & Columns)[];
}

/** What is told of a decision. */
export function told(verdict: Verdict, considered: readonly Considered[]): Decision {
  const dialed = new Set(verdict.buyer_ids);
  const candidates = considered.map(({ available, ...candidate }) => ({ ...candidate, chosen: available && dialed.has(candidate.buyer_id) }));
  return { ...verdict, candidates };
}

/** What is stored of a decision; `unpacked` tells it again. Pure. */
export function packed(verdict: Verdict, { choices, considered }: Route): StoredDecision {
  const open: Considered[] = [];
  const faults = new Map<string, { fault: StoredFault; candidates: Considered[] }>();
  for (const candidate of considered) {
    const { reason, message, details } = candidate;
    if (reason === null) {
      open.push(candidate);
      continue;
    }
    const key = `${reason}\n${message}`;
    const known = faults.get(key);
    if (known) known.candidates.push(candidate);
    else faults.set(key, { fault: { reason, message, details }, candidates: [candidate] });
  }
  return {
    ...verdict,
    open: {
      ...columnsOf(open),
      group_ids: open.map(({ buyer_group_id }) => buyer_group_id),
      at_once: runsOf(choices.flatMap(({ group, members }) => members.map(() => (group ? members.length : 0)))),
    },
    faults: [...faults.values()].map(({ fault, candidates }) => ({ ...fault, ...columnsOf(candidates) })),
  };
}

const columnsOf = (candidates: readonly Considered[]): Columns => ({
  ids: candidates.map(({ buyer_id }) => buyer_id),
  tiers: runsOf(candidates.map(({ tier }) => tier)),
  weights: runsOf(candidates.map(({ weight }) => weight)),
  by: runsOf(candidates.map(({ route_by_type }) => route_by_type)),
});

function runsOf<Value>(values: readonly Value[]): Runs<Value> {
  const runs: Runs<Value> = [];
  for (const value of values) {
    const last = runs.at(-1);
    if (last?.[0] === value) last[1]++;
    else runs.push([value, 1]);
  }
  return runs;
}

const valuesOf = <Value>(runs: Runs<Value>): Value[] => runs.flatMap(([value, times]) => Array<Value>(times).fill(value));

type Names = ReadonlyMap<number, string | null>;

/** A stored decision as it is told; `names` are those of buyers. */
export function unpacked({ open, faults, ...verdict }: StoredDecision, names: Names): Decision {
  const passed_over = faults.flatMap(({ reason, message, details, ...columns }) =>
    rowsOf(columns, names).map((row): Considered => ({
      ...row,
      available: false,
      reason,
      message,
      details,
      rank: null,
      share: null,
      draw: null,
      buyer_group_id: null,
    })),
  );
  return told(verdict, [...ranked(verdict, open, names), ...passed_over.sort((a, b) => a.tier - b.tier || a.buyer_id - b.buyer_id)]);
}

type Row = Pick<Considered, 'buyer_id' | 'name' | 'tier' | 'weight' | 'route_by_type'>;

function rowsOf({ ids, tiers, weights, by }: Columns, names: Names): Row[] {
  const [tier, weight, route_by_type] = [valuesOf(tiers), valuesOf(weights), valuesOf(by)];
  return ids.map((buyer_id, n) => ({ buyer_id, name: names.get(buyer_id) ?? null, tier: tier[n]!, weight: weight[n]!, route_by_type: route_by_type[n]! }));
}

function ranked({ seed }: Verdict, { group_ids, at_once, ...columns }: StoredDecision['open'], names: Names): Considered[] {
  const draw = drawBy(seed);
  const together = valuesOf(at_once);
  const sums = new Map<number, number>();
  let rank = 0;
  // Members of a group that rings all at once share one place, and count once.
  let rest = 0;
  const rows = rowsOf(columns, names).map((row, n) => {
    const buyer_group_id = group_ids[n]!;
    if (rest === 0) {
      rank++;
      rest = together[n] || 1;
      sums.set(row.tier, (sums.get(row.tier) ?? 0) + row.weight);
    }
    rest--;
    const key = drawKey(row.buyer_id, together[n]! > 0 ? buyer_group_id! : undefined);
    return { ...row, available: true, reason: null, message: null, details: null, rank, draw: draw({ key, weight: row.weight }), buyer_group_id };
  });
  return rows.map((row) => ({ ...row, share: row.weight / (sums.get(row.tier) || 1) }));
}
