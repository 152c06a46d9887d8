import type { OwnedCap } from '../../caps/caps';
import type { DecidedBid } from './bids';
import type { Candidate } from './candidate';
import {
  toBasisRow,
  unpackBasis,
  isSameRow,
  type Basis,
  type BasisRow,
  type StoredBasis,
} from './basis';
import type { Evaluation } from './decide';
import type { Fault, Reason } from './reasons';
import { orderChoices, findTier, type Considered, type ChoiceToOrder } from './route';

export type Action = 'dial' | 'fallback' | 'hang_up';

export type DecidedBuyer = Omit<Considered, 'available'> & { chosen: boolean };

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

export interface Decision extends Verdict {
  candidates: DecidedBuyer[];
}

type StoredDifference = [
  buyer_id: number,
  tier: number,
  weight: number,
  by: Candidate['route_by_type'],
  buyer_group_id: number | null,
];

/**
 * The stored form of a decision. The part that decisions about an offer have in common is stored
 * once (src/domain/routing/engine/basis.ts); draws and the order follow from the seed and the
 * weights. Reports read `faults` in SQL.
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
  /** Each reason with the ids of the buyers passed over for it. */
  faults: {
    reason: Reason;
    message: string | null;
    details: Record<string, unknown> | null;
    ids: number[];
  }[];
}

/**
 * A decision in the form of the API. The fields of a buyer are written out: spreading takes V8
 * several times as long, and an explanation has one object for each buyer.
 */
export function buildDecision(verdict: Verdict, considered: readonly Considered[]): Decision {
  const dialed = new Set(verdict.buyer_ids);
  const candidates = considered.map((buyer): DecidedBuyer => ({
    buyer_id: buyer.buyer_id,
    name: buyer.name,
    reason: buyer.reason,
    message: buyer.message,
    details: buyer.details,
    rank: buyer.rank,
    tier: buyer.tier,
    weight: buyer.weight,
    share: buyer.share,
    draw: buyer.draw,
    route_by_type: buyer.route_by_type,
    buyer_group_id: buyer.buyer_group_id,
    chosen: buyer.available && dialed.has(buyer.buyer_id),
  }));
  return { ...verdict, candidates };
}

/** `unpackDecision` reverses it. Pure. */
export function packDecision(
  verdict: Verdict,
  { candidates, first, faults, at_once, columns }: Evaluation,
  basis: Pick<Basis, 'hash' | 'rows'>,
): StoredDecision {
  const byReason = new Map<string, StoredDecision['faults'][number]>();
  for (const [index, { reason, message, details = null }] of faults) {
    const { id } = candidates[index]!;
    let key = `${reason}\n${message}`;
    let storedFault = byReason.get(key);
    // Messages contain minutes and some amounts; buyers with equal messages may differ in details.
    if (storedFault && !areSameDetails(storedFault.details, details)) {
      key += JSON.stringify(details);
      storedFault = byReason.get(key);
    }
    if (storedFault) storedFault.ids.push(id);
    else byReason.set(key, { reason, message, details, ids: [id] });
  }
  const lasting = columns?.lasting.map(({ details = null, ...fault }) => ({ ...fault, details }));
  const differing = columns ? new Set([...columns.differing, ...faults.keys()]) : candidates.keys();
  return {
    ...verdict,
    bids: verdict.bids.length > 0 ? verdict.bids : undefined,
    basis: basis.hash,
    at_once: [...at_once],
    first: first?.members[0]?.buyer.id ?? null,
    differences: [...differing].flatMap((index) => {
      const row = buildDifference(candidates[index]!, basis.rows[index], faults.has(index));
      return row ? [row] : [];
    }),
    faults: [...(lasting ?? []), ...byReason.values()],
  };
}

function areSameDetails(first: Fault['details'], second: Fault['details']): boolean {
  if (first === second) return true;
  if (!first || !second) return false;
  for (const name in first) if (first[name] !== second[name]) return false;
  return true;
}

/**
 * The difference of a candidate from the basis. The group of a passed-over candidate is ignored.
 */
function buildDifference(
  candidate: Candidate,
  basisRow: BasisRow | undefined,
  isPassedOver: boolean,
): StoredDifference | undefined {
  const row = isPassedOver
    ? { ...toPassedOverRow(candidate), buyer_group_id: basisRow?.buyer_group_id ?? null }
    : toBasisRow(candidate);
  const { buyer_id, tier, weight, route_by_type, buyer_group_id } = row;
  return isSameRow(row, basisRow)
    ? undefined
    : [buyer_id, tier, weight, route_by_type, buyer_group_id];
}

const toPassedOverRow = (candidate: Candidate) => ({
  buyer_id: candidate.id,
  tier: findTier(candidate),
  weight: candidate.weight,
  route_by_type: candidate.route_by_type,
});

export const listCandidateIds = (basis: StoredBasis): number[] =>
  unpackBasis(basis).map(({ buyer_id }) => buyer_id);

type Names = ReadonlyMap<number, string | null>;
type Row = BasisRow & { name: string | null };

/** A stored decision in the form of the API; `names` are the names of buyers by id. */
export function unpackDecision(
  { faults, differences, at_once, first, ...storedVerdict }: StoredDecision,
  basis: StoredBasis,
  names: Names,
): Decision {
  const {
    round,
    at,
    seed,
    offer_id,
    action,
    reason,
    message,
    buyer_ids,
    bids = [],
    caps,
  } = storedVerdict;
  const different = new Map(differences.map((difference) => [difference[0], difference]));
  const rows = unpackBasis(basis).map((row): Row => {
    const [, tier, weight, routeByType, buyerGroupId] = different.get(row.buyer_id) ?? [];
    const name = names.get(row.buyer_id) ?? null;
    return tier === undefined
      ? { ...row, name }
      : {
          buyer_id: row.buyer_id,
          name,
          tier,
          weight: weight!,
          route_by_type: routeByType!,
          buyer_group_id: buyerGroupId!,
        };
  });
  const faultByBuyer = new Map(
    faults.flatMap(({ ids, ...fault }) => ids.map((id) => [id, fault] as const)),
  );
  const passedOver = rows.flatMap((row): Considered[] => {
    const fault = faultByBuyer.get(row.buyer_id);
    return fault ? [toPassedOverBuyer(row, fault)] : [];
  });
  const open = rows.filter(({ buyer_id }) => !faultByBuyer.has(buyer_id));
  const verdict = { round, at, seed, offer_id, action, reason, message, buyer_ids, bids, caps };
  return buildDecision(verdict, [
    ...rankRows(seed, { rows: open, at_once, first }),
    ...passedOver.sort((a, b) => a.tier - b.tier || a.buyer_id - b.buyer_id),
  ]);
}

const toPassedOverBuyer = (
  row: Row,
  { reason, message, details }: Omit<StoredDecision['faults'][number], 'ids'>,
): Considered => ({
  ...row,
  available: false,
  reason,
  message,
  details,
  rank: null,
  share: null,
  draw: null,
  buyer_group_id: null,
});

interface OpenRows extends Pick<StoredDecision, 'at_once' | 'first'> {
  rows: readonly Row[];
}

/** Buyers that could take the call, in the order of the draw. */
function rankRows(seed: string, { rows, at_once, first }: OpenRows): Considered[] {
  const choices = orderChoices(buildChoices(rows, at_once), {
    seed,
    first_buyer_id: first ?? undefined,
  });
  return choices.flatMap(({ members, share, draw }, index) =>
    members.map(({ row }) => ({
      ...row,
      available: true,
      reason: null,
      message: null,
      details: null,
      rank: index + 1,
      share,
      draw,
    })),
  );
}

interface StoredMember {
  row: Row;
  buyer: { id: number };
}

interface StoredChoice extends ChoiceToOrder {
  readonly members: readonly StoredMember[];
}

/** The choices of a stored decision; `orderChoices` sets `share` and `draw`. */
function buildChoices(rows: readonly Row[], atOnce: readonly number[]): StoredChoice[] {
  const groups = new Map(atOnce.map((id) => [id, [] as StoredMember[]]));
  // By tier first: a group gets the tier of its first member.
  return rows
    .toSorted((a, b) => a.tier - b.tier || a.buyer_id - b.buyer_id)
    .flatMap((row): StoredChoice[] => {
      const { tier, weight, buyer_group_id } = row;
      const member = { row, buyer: { id: row.buyer_id } };
      const drawn = { tier, weight, share: 0, draw: 0 };
      const members = buyer_group_id === null ? undefined : groups.get(buyer_group_id);
      if (!members) return [{ members: [member], group: null, ...drawn }];
      // The first member stands for the group.
      const isFirst = members.push(member) === 1;
      return isFirst ? [{ members, group: { id: buyer_group_id! }, ...drawn }] : [];
    });
}
