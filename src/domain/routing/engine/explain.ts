import { createHash } from 'node:crypto';
import type { OwnedCap } from '../../caps/caps';
import type { DecidedBid } from './bids';
import { bestGroup, findTier, ringsAtOnce, type Candidate } from './candidate';
import { toDrawKey } from './draw';
import type { Evaluation } from './evaluate';
import { orderChoices, sortChoices, type ChoiceToOrder } from './order';
import type { Fault, Reason } from './reasons';

// Decisions in the form of the API, and in that of the database.

export type Action = 'dial' | 'fallback' | 'hang_up';

export interface Verdict {
  round: number;
  /** ISO 8601. */
  at: string;
  seed: string;
  offer_id: number | null;
  action: Action;
  /** The reason why no buyer is dialed; null when one is. */
  reason: string | null;
  message: string | null;
  buyer_ids: number[];
  bids: DecidedBid[];
  caps: OwnedCap[];
}

export interface DecidedBuyer {
  buyer_id: number;
  name: string | null;
  reason: Reason | null;
  message: string | null;
  /** Facts behind the reason, for programs. */
  details: Record<string, unknown> | null;
  /** Position in the order, from 1; null when the buyer cannot take the call. */
  rank: number | null;
  tier: number;
  weight: number;
  share: number | null;
  draw: number | null;
  route_by_type: Candidate['route_by_type'];
  buyer_group_id: number | null;
  chosen: boolean;
}

export interface Decision extends Verdict {
  /** Every candidate once: those that can take the call in order, then the rest by tier. */
  candidates: DecidedBuyer[];
}

/** A decision with all its candidates. Pure. */
export function buildDecision(verdict: Verdict, evaluation: Evaluation): Decision {
  const { candidates, faults } = evaluation;
  const passedOver = candidates.flatMap((buyer, index): PassedOver[] => {
    const fault = faults[index];
    return fault ? [{ buyer, tier: findTier(buyer), fault }] : [];
  });
  return listBuyers(verdict, orderChoices(evaluation), passedOver);
}

/** How many candidates are passed over, by reason; the most frequent first. */
export function countPassedOver(
  candidates: readonly Pick<DecidedBuyer, 'reason'>[],
): { reason: Reason; count: number }[] {
  const counts = new Map<Reason, number>();
  for (const { reason } of candidates)
    if (reason !== null) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const passedOver = [...counts].map(([reason, count]) => ({ reason, count }));
  return passedOver.sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}

type NamedBuyer = Pick<Candidate, 'id' | 'name' | 'weight' | 'route_by_type'>;

interface NamedChoice extends ChoiceToOrder {
  readonly members: readonly { buyer: NamedBuyer; group: { id: number } | null }[];
}

interface PassedOver {
  buyer: NamedBuyer;
  tier: number;
  fault: Fault;
}

function listBuyers(
  verdict: Verdict,
  choices: readonly NamedChoice[],
  passedOver: PassedOver[],
): Decision {
  const dialed = new Set(verdict.buyer_ids);
  const candidates: DecidedBuyer[] = [];
  for (const [index, { members, tier, weight, share, draw }] of choices.entries())
    for (const { buyer, group } of members)
      candidates.push({
        buyer_id: buyer.id,
        name: buyer.name,
        reason: null,
        message: null,
        details: null,
        rank: index + 1,
        tier,
        weight,
        share,
        draw,
        route_by_type: buyer.route_by_type,
        buyer_group_id: group?.id ?? null,
        chosen: dialed.has(buyer.id),
      });
  passedOver.sort((a, b) => a.tier - b.tier || a.buyer.id - b.buyer.id);
  for (const { buyer, tier, fault } of passedOver)
    candidates.push({
      buyer_id: buyer.id,
      name: buyer.name,
      reason: fault.reason,
      message: fault.message,
      details: fault.details ?? null,
      rank: null,
      tier,
      weight: buyer.weight,
      share: null,
      draw: null,
      route_by_type: buyer.route_by_type,
      buyer_group_id: null,
      chosen: false,
    });
  return { ...verdict, candidates };
}

/** Run-length encoding: a value and the number of repetitions. */
type Runs<Value> = [Value, number][];

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

/**
 * The settings of a candidate, and its best group while all groups are open. Members of a group
 * that rings them all at once have the tier and weight of the group.
 */
interface BasisRow {
  id: number;
  tier: number;
  weight: number;
  route_by_type: Candidate['route_by_type'];
  group_id: number | null;
}

export interface Basis {
  /** A hash of the content: equal candidates have equal hashes. */
  hash: string;
  text: string;
  rows: readonly BasisRow[];
  /** Set once the basis is in the database. */
  is_stored: boolean;
}

/** Builds the basis from candidates without the effect of any call. Pure. */
export function buildBasis(candidates: readonly Candidate[]): Basis {
  const rows = candidates.map((candidate): BasisRow => {
    const group = bestGroup(candidate);
    const { id, route_by_type } = candidate;
    const { tier, weight } = ringsAtOnce(group)
      ? group
      : { tier: findTier(candidate), weight: candidate.weight };
    return { id, tier, weight, route_by_type, group_id: group?.id ?? null };
  });
  const storedBasis: StoredBasis = {
    steps: encodeRuns(rows.map(({ id }, n) => id - (n === 0 ? 0 : rows[n - 1]!.id))),
    tiers: encodeRuns(rows.map(({ tier }) => tier)),
    weights: encodeRuns(rows.map(({ weight }) => weight)),
    by: encodeRuns(rows.map(({ route_by_type }) => route_by_type)),
    group_ids: encodeRuns(rows.map(({ group_id }) => group_id)),
  };
  const text = JSON.stringify(storedBasis);
  const hash = createHash('sha256').update(text).digest('base64url');
  return { hash, text, rows, is_stored: false };
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

export const listCandidateIds = ({ steps }: StoredBasis): number[] => {
  let id = 0;
  return decodeRuns(steps).map((step) => (id += step));
};

type StoredDifference = [
  buyer_id: number,
  tier: number,
  weight: number,
  by: Candidate['route_by_type'],
  buyer_group_id: number | null,
];

/** A reason with the ids of the buyers passed over for it. */
interface StoredFault extends Required<Fault> {
  ids: number[];
}

/**
 * The stored form of a decision. Draws and the order follow from the seed, the weights and the
 * basis. Reports read `faults` in SQL.
 */
export interface StoredDecision extends Omit<Verdict, 'bids'> {
  /** Absent without bids, and in decisions of releases without bidding. */
  bids?: Verdict['bids'] | undefined;
  basis: string;
  /** Groups that ring all members at once. */
  at_once: number[];
  /** The buyer to try first, which may differ from the one drawn first. */
  first: number | null;
  differences: StoredDifference[];
  faults: StoredFault[];
}

/** `unpackDecision` reverses it. Pure. */
export function packDecision(
  verdict: Verdict,
  {
    candidates,
    faults,
    ringing,
    plain,
  }: Pick<Evaluation, 'candidates' | 'faults' | 'ringing' | 'plain'>,
  basis: Pick<Basis, 'hash' | 'rows'>,
): StoredDecision {
  const differences: StoredDifference[] = [];
  for (let index = 0; index < candidates.length; index++) {
    if (plain?.candidates[index] === candidates[index]) continue;
    const isPassedOver = faults[index] !== undefined;
    const difference = findDifference(candidates[index]!, basis.rows[index], isPassedOver);
    if (difference) differences.push(difference);
  }
  return {
    ...verdict,
    bids: verdict.bids.length > 0 ? verdict.bids : undefined,
    basis: basis.hash,
    at_once: ringing.map(({ group }) => group.id),
    first: verdict.buyer_ids[0] ?? null,
    differences,
    faults: groupFaults(candidates, faults),
  };
}

/** The group of a candidate that is passed over is ignored. */
function findDifference(
  candidate: Candidate,
  row: BasisRow | undefined,
  isPassedOver: boolean,
): StoredDifference | undefined {
  const { id, route_by_type } = candidate;
  const group = isPassedOver ? null : bestGroup(candidate);
  const tier = ringsAtOnce(group) ? group.tier : findTier(candidate);
  const weight = ringsAtOnce(group) ? group.weight : candidate.weight;
  const groupId = isPassedOver ? (row?.group_id ?? null) : (group?.id ?? null);
  const isSame =
    row?.id === id &&
    row.tier === tier &&
    row.weight === weight &&
    row.route_by_type === route_by_type &&
    row.group_id === groupId;
  return isSame ? undefined : [id, tier, weight, route_by_type, groupId];
}

function groupFaults(
  candidates: readonly Candidate[],
  faults: Evaluation['faults'],
): StoredFault[] {
  const byText = new Map<string, StoredFault>();
  // Most faults are shared by many candidates.
  const byFault = new Map<Fault, StoredFault>();
  for (let index = 0; index < faults.length; index++) {
    const fault = faults[index];
    if (!fault) continue;
    let storedFault = byFault.get(fault);
    if (!storedFault) {
      const { reason, message, details = null } = fault;
      const text = `${reason}\n${message}\n${JSON.stringify(details)}`;
      storedFault = byText.get(text) ?? { reason, message, details, ids: [] };
      byText.set(text, storedFault);
      byFault.set(fault, storedFault);
    }
    storedFault.ids.push(candidates[index]!.id);
  }
  return [...byText.values()];
}

type Names = ReadonlyMap<number, string | null>;

/** A stored decision in the form of the API; `names` are the names of buyers by id. */
export function unpackDecision(
  { faults, differences, at_once, first, ...storedVerdict }: StoredDecision,
  basis: StoredBasis,
  names: Names,
): Decision {
  const { round, at, seed, offer_id, action, reason, message, buyer_ids, caps } = storedVerdict;
  const { bids = [] } = storedVerdict;
  const verdict = { round, at, seed, offer_id, action, reason, message, buyer_ids, bids, caps };
  const faultByBuyer = new Map(
    faults.flatMap(({ ids, ...fault }) => ids.map((id) => [id, fault] as const)),
  );
  const groups = new Map(at_once.map((id) => [id, [] as StoredMember[]]));
  const choices: NamedChoice[] = [];
  const passedOver: PassedOver[] = [];
  for (const { group_id, tier, ...row } of unpackRows(basis, differences)) {
    const buyer = { ...row, name: names.get(row.id) ?? null };
    const fault = faultByBuyer.get(row.id);
    if (fault) {
      passedOver.push({ buyer, tier, fault });
      continue;
    }
    const group = group_id === null ? null : { id: group_id };
    const ringing = group && groups.get(group.id);
    const members = ringing ?? [];
    // The first member stands for the group.
    if (members.push({ buyer, group }) > 1) continue;
    const key = toDrawKey(buyer, ringing ? group : null);
    choices.push({ members, key, tier, weight: row.weight, share: 0, draw: 0 });
  }
  const facts = { seed, first_buyer_id: first ?? undefined };
  return listBuyers(verdict, sortChoices(choices, facts), passedOver);
}

type StoredMember = NamedChoice['members'][number];

function unpackRows(basis: StoredBasis, differences: readonly StoredDifference[]): BasisRow[] {
  const [tiers, weights] = [decodeRuns(basis.tiers), decodeRuns(basis.weights)];
  const [by, groupIds] = [decodeRuns(basis.by), decodeRuns(basis.group_ids)];
  const different = new Map(differences.map((difference) => [difference[0], difference]));
  return listCandidateIds(basis).map((id, n): BasisRow => {
    const [, tier = tiers[n]!, weight = weights[n]!, routeByType = by[n]!, groupId = groupIds[n]!] =
      different.get(id) ?? [];
    return { id, tier, weight, route_by_type: routeByType, group_id: groupId };
  });
}
