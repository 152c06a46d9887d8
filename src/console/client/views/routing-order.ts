import type { Json } from '../transport';
import { BUYER_STATE_COLUMNS } from './buyer-state';

// The order in which the buyers of an offer are tried, as their records say it. Pure.

/** A buyer of a list: directly, or through a group. */
export interface Assignment {
  buyer: Json;
  group?: Json;
  /** The lowest is tried first. */
  rank: number;
  weight: number;
  /** From 1; buyers of one rank have one turn. Undefined while it is paused. */
  turn?: number;
  /** How often it is the first of its turn; 0 while it is paused. */
  share: number;
}

/** Columns of buyers that the order and its reasons need. */
export const ORDER_COLUMNS = [
  'id',
  'name',
  'number',
  ...BUYER_STATE_COLUMNS,
  'bid_price',
  'route_by_type',
  'tier',
  'weight',
  'epc_assumed_amount',
] as const;

/** A group that rings all at once has a rank of its own; in another one, each buyer has its own. */
const ringsAtOnce = (group: Json | undefined): group is Json =>
  group?.dial_buyers_type === 'simultaneously';

function findRank(buyer: Json, group: Json | undefined): number {
  if (ringsAtOnce(group)) return Number(group.tier ?? 1);
  if (buyer.route_by_type === 'revenue') return -Number(buyer.bid_price ?? 0);
  if (buyer.route_by_type === 'epc') return -Number(buyer.epc_assumed_amount ?? 0);
  return Number(buyer.tier ?? 1);
}

const isPaused = ({ buyer, group }: Pick<Assignment, 'buyer' | 'group'>): boolean =>
  buyer.paused === true || group?.paused === true;

/** Buyers and members of groups in the order in which calls try them. */
export function orderAssignments(
  buyers: readonly Json[],
  groups: readonly { group: Json; buyers: readonly Json[] }[],
): Assignment[] {
  const toAssignment = (buyer: Json, group?: Json): Assignment => ({
    buyer,
    ...(group && { group }),
    rank: findRank(buyer, group),
    weight: Number((ringsAtOnce(group) ? group.weight : buyer.weight) ?? 1),
    share: 0,
  });
  const all = [
    ...buyers.map((buyer) => toAssignment(buyer)),
    ...groups.flatMap(({ group, buyers: members }) =>
      members.map((buyer) => toAssignment(buyer, group)),
    ),
  ];
  const totals = new Map<number, number>();
  for (const { rank, weight } of all.filter((candidate) => !isPaused(candidate)))
    totals.set(rank, (totals.get(rank) ?? 0) + weight);
  const ranks = [...totals.keys()].sort((first, second) => first - second);
  return all
    .map((assignment) => {
      if (isPaused(assignment)) return assignment;
      const { rank, weight } = assignment;
      const total = totals.get(rank)!;
      return {
        ...assignment,
        turn: ranks.indexOf(rank) + 1,
        share: total === 0 ? 0 : weight / total,
      };
    })
    .sort((first, second) => first.rank - second.rank || second.weight - first.weight);
}

/** True if a turn of the order has several buyers, which are drawn. */
export const hasDraws = (assignments: readonly Assignment[]): boolean =>
  assignments.some(({ share }) => share > 0 && share < 1);

/** True if its place is its own priority and weight, which can be changed. */
export const isByPriority = ({ buyer, group }: Assignment): boolean =>
  !ringsAtOnce(group) && buyer.route_by_type === 'tier';

/**
 * A warning where buyers that are ordered by dollars meet buyers that are ordered by priority: the
 * former have ranks below zero, whatever they pay, and always go first.
 */
export function describeMixture(assignments: readonly Assignment[]): string | undefined {
  const paying = assignments.filter(({ rank }) => rank < 0);
  const others = assignments.filter(({ rank }) => rank >= 0);
  const byDollars = paying.filter(isByDollars);
  if (byDollars.length === 0 || !others.some((assignment) => !isByDollars(assignment)))
    return undefined;
  const count = byDollars.length;
  const [verb, pronoun] = count === 1 ? ['is', 'it pays'] : ['are', 'they pay'];
  return `${count} of ${assignments.length} ${verb} ordered by price or earnings, and go before those that are ordered by priority, however little ${pronoun}. Choose the same order for all, or give a priority below zero to who must be first.`;
}

const isByDollars = ({ buyer, group }: Assignment): boolean =>
  !ringsAtOnce(group) && (buyer.route_by_type === 'revenue' || buyer.route_by_type === 'epc');
