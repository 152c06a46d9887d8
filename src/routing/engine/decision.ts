import type { OwnedCap } from '../../buyers/caps';
import type { Candidate } from './candidate';
import type { Reason } from './reasons';
import { ordered, type Considered, type ChoiceToOrder, type Route } from './route';

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
  /** Why no buyer is dialed; null when one is. */
  reason: string | null;
  message: string | null;
  buyer_ids: number[];
  caps: OwnedCap[];
}

/** Why a call went where it went. */
export interface Decision extends Verdict {
  candidates: DecidedBuyer[];
}

interface StoredFault {
  reason: Reason;
  message: string | null;
  details: Record<string, unknown> | null;
}

/** Run-length encoding: a value and how often it is repeated. */
type Runs<Value> = [Value, number][];

/** What is stored of candidates in addition to their ids, in the same order. */
interface Columns {
  tiers: Runs<number>;
  weights: Runs<number>;
  by: Runs<Candidate['route_by_type']>;
}

/**
 * A decision as it is stored for every call: what many candidates have in common is stored once,
 * and draws and the order are not stored, since they follow from the seed and the weights. Reports
 * read `faults` in SQL.
 */
export interface StoredDecision extends Verdict {
  /**
   * The buyers that could take the call, by tier and id. `steps`: differences from one id to the
   * next. `at_once`: groups that ring all members at once. `first`: the buyer to try first, which
   * need not be the one that was drawn.
   */
  open: Columns & {
    steps: Runs<number>;
    group_ids: Runs<number | null>;
    at_once: number[];
    first: number | null;
  };
  /** Each reason with the buyers that were passed over for it. */
  faults: (StoredFault & Columns & { ids: number[] })[];
}

/** A decision as the API shows it. */
export function decisionOf(verdict: Verdict, considered: readonly Considered[]): Decision {
  const dialed = new Set(verdict.buyer_ids);
  const candidates = considered.map(({ available, ...candidate }) => ({
    ...candidate,
    chosen: available && dialed.has(candidate.buyer_id),
  }));
  return { ...verdict, candidates };
}

/** What is stored of a decision; `unpackDecision` reverses it. Pure. */
export function packDecision(verdict: Verdict, { choices, considered }: Route): StoredDecision {
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
  open.sort((a, b) => a.tier - b.tier || a.buyer_id - b.buyer_id);
  return {
    ...verdict,
    open: {
      steps: runsOf(
        open.map(({ buyer_id }, n) => buyer_id - (n === 0 ? 0 : open[n - 1]!.buyer_id)),
      ),
      ...columnsOf(open),
      group_ids: runsOf(open.map(({ buyer_group_id }) => buyer_group_id)),
      at_once: choices.flatMap(({ group }) => group?.id ?? []),
      first: choices[0]?.members[0]?.buyer.id ?? null,
    },
    faults: [...faults.values()].map(({ fault, candidates }) => ({
      ...fault,
      ids: candidates.map(({ buyer_id }) => buyer_id),
      ...columnsOf(candidates),
    })),
  };
}

const columnsOf = (candidates: readonly Considered[]): Columns => ({
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

const valuesOf = <Value>(runs: Runs<Value>): Value[] =>
  runs.flatMap(([value, times]) => Array<Value>(times).fill(value));

/** Ids of the candidates that could take the call. */
const openIds = ({ steps }: StoredDecision['open']): number[] => {
  let id = 0;
  return valuesOf(steps).map((step) => (id += step));
};

/** Ids of all candidates. */
export const candidateIds = ({ open, faults }: StoredDecision): number[] => [
  ...openIds(open),
  ...faults.flatMap(({ ids }) => ids),
];

type Names = ReadonlyMap<number, string | null>;

/** A stored decision as the API shows it; `names` are the names of buyers by id. */
export function unpackDecision(
  { open, faults, ...verdict }: StoredDecision,
  names: Names,
): Decision {
  const passed_over = faults.flatMap(({ reason, message, details, ids, ...columns }) =>
    rowsOf(ids, columns, names).map((row): Considered => ({
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
  return decisionOf(verdict, [
    ...ranked(verdict, open, names),
    ...passed_over.sort((a, b) => a.tier - b.tier || a.buyer_id - b.buyer_id),
  ]);
}

type Row = Pick<Considered, 'buyer_id' | 'name' | 'tier' | 'weight' | 'route_by_type'>;

function rowsOf(ids: readonly number[], { tiers, weights, by }: Columns, names: Names): Row[] {
  const [tier, weight, route_by_type] = [valuesOf(tiers), valuesOf(weights), valuesOf(by)];
  return ids.map((buyer_id, n) => ({
    buyer_id,
    name: names.get(buyer_id) ?? null,
    tier: tier[n]!,
    weight: weight[n]!,
    route_by_type: route_by_type[n]!,
  }));
}

/** The buyers that could take the call, in the order of the draw. */
function ranked({ seed }: Verdict, open: StoredDecision['open'], names: Names): Considered[] {
  const choices = ordered(choicesOf(open, names), {
    seed,
    first_buyer_id: open.first ?? undefined,
  });
  return choices.flatMap(({ members, share, draw }, place) =>
    members.map(({ row, buyer_group_id }) => ({
      ...row,
      available: true,
      reason: null,
      message: null,
      details: null,
      rank: place + 1,
      share,
      draw,
      buyer_group_id,
    })),
  );
}

interface StoredMember {
  row: Row;
  buyer: { id: number };
  buyer_group_id: number | null;
}

interface StoredChoice extends ChoiceToOrder {
  readonly members: readonly StoredMember[];
}

/** The choices of a stored decision; `share` and `draw` are set by `ordered`. */
function choicesOf(open: StoredDecision['open'], names: Names): StoredChoice[] {
  const group_ids = valuesOf(open.group_ids);
  const groups = new Map(open.at_once.map((id) => [id, [] as StoredMember[]]));
  return rowsOf(openIds(open), open, names).flatMap((row, n): StoredChoice[] => {
    const buyer_group_id = group_ids[n]!;
    const member = { row, buyer: { id: row.buyer_id }, buyer_group_id };
    const { tier, weight } = row;
    const drawn = { tier, weight, share: 0, draw: 0 };
    const members = buyer_group_id === null ? undefined : groups.get(buyer_group_id);
    if (!members) return [{ members: [member], group: null, ...drawn }];
    // The first member stands for the group.
    const is_first = members.push(member) === 1;
    return is_first ? [{ members, group: { id: buyer_group_id! }, ...drawn }] : [];
  });
}
