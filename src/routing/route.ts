import { drawBy } from './draw';
import { eligibility, groupFault, type Candidate, type CandidateGroup, type Eligibility, type Facts } from './eligibility';

/** A buyer, and the group through which it comes to the call: its caps count too. */
export interface Member {
  buyer: Candidate;
  group: CandidateGroup | null;
}

/** What is dialed at one time: a buyer, or a group whose members ring all at once. */
export interface Choice {
  members: readonly Member[];
  /** The group that is chosen as one. */
  group: CandidateGroup | null;
  tier: number;
  weight: number;
  /** Its part of the weight of all choices of its tier. */
  share: number;
  /** What it drew: the lowest of a tier goes first. */
  draw: number;
}

export interface Considered extends Eligibility {
  /** Place in the order, from 1; null of those that cannot take the call. */
  rank: number | null;
  tier: number;
  weight: number;
  share: number | null;
  draw: number | null;
  route_by_type: Candidate['route_by_type'];
  buyer_group_id: number | null;
}

export interface Route {
  /** In the order in which they are to be tried. */
  choices: readonly Choice[];
  /** Every candidate once: those that can take the call in their order, then the others by tier. */
  considered: readonly Considered[];
}

export interface RouteFacts extends Facts {
  seed: string;
  /** Goes before all others if it can. */
  first_buyer_id?: number | undefined;
}

/** Who may take a call, in which order, and why the others may not. Pure: the same facts give the same answer. */
export function route(candidates: readonly Candidate[], facts: RouteFacts): Route {
  const judged = candidates.map((candidate) => ({ candidate, told: eligibility(candidate, facts) }));
  const open = judged.filter(({ told }) => told.available).map(({ candidate }) => candidate);
  const choices = ordered(choicesOf(open), facts);
  const places = new Map(choices.flatMap((choice, n) => choice.members.map(({ buyer, group }) => [buyer.id, { choice, group, rank: n + 1 }] as const)));
  const considered = judged.map(({ candidate, told }): Considered => {
    const place = places.get(candidate.id);
    const { tier, weight } = place?.choice ?? { tier: tierOf(candidate), weight: candidate.weight };
    const { share = null, draw = null } = place?.choice ?? {};
    return { ...told, rank: place?.rank ?? null, tier, weight, share, draw, route_by_type: candidate.route_by_type, buyer_group_id: place?.group?.id ?? null };
  });
  return { choices, considered: considered.toSorted(byRank) };
}

const byRank = (a: Considered, b: Considered) => (a.rank ?? Infinity) - (b.rank ?? Infinity) || a.tier - b.tier || a.buyer_id - b.buyer_id;

/** The lowest tier first; within it as drawn. */
function ordered(choices: readonly Omit<Choice, 'share' | 'draw'>[], { seed, first_buyer_id }: RouteFacts): Choice[] {
  const draw = drawBy(seed);
  const sums = new Map<number, number>();
  for (const { tier, weight } of choices) sums.set(tier, (sums.get(tier) ?? 0) + weight);
  const drawn = choices.map((choice) => {
    const key = keyOf(choice);
    const first = first_buyer_id !== undefined && choice.members.some(({ buyer }) => buyer.id === first_buyer_id);
    return { choice: { ...choice, share: choice.weight / (sums.get(choice.tier) || 1), draw: draw({ key, weight: choice.weight }) }, key, first };
  });
  const place = (a: (typeof drawn)[number], b: (typeof drawn)[number]) =>
    Number(b.first) - Number(a.first) || a.choice.tier - b.choice.tier || byDraw(a.choice, b.choice) || a.key - b.key;
  return drawn.toSorted(place).map(({ choice }) => choice);
}

/** Two without weight both drew infinity. */
const byDraw = (a: Choice, b: Choice) => (a.draw === b.draw ? 0 : a.draw - b.draw);

/** Buyers and groups number their records each for themselves. */
const keyOf = ({ members, group }: Pick<Choice, 'members' | 'group'>) => (group ? group.id * 2 + 1 : members[0]!.buyer.id * 2);

/** Each buyer once, by the best of the ways that are open to it. */
function choicesOf(open: readonly Candidate[]): Omit<Choice, 'share' | 'draw'>[] {
  const groups = new Map<number, Omit<Choice, 'share' | 'draw'> & { members: Member[] }>();
  const singles: Omit<Choice, 'share' | 'draw'>[] = [];
  for (const buyer of open) {
    const way = wayOf(buyer);
    if (way.group?.dial_buyers_type !== 'simultaneously') {
      singles.push({ members: [{ buyer, group: way.group }], group: null, tier: way.tier, weight: way.weight });
      continue;
    }
    const known = groups.get(way.group.id);
    if (known) known.members.push({ buyer, group: way.group });
    else groups.set(way.group.id, { members: [{ buyer, group: way.group }], group: way.group, tier: way.tier, weight: way.weight });
  }
  return [...singles, ...groups.values()];
}

interface Way {
  group: CandidateGroup | null;
  tier: number;
  weight: number;
}

/** A group that rings all its members at once is chosen as one, by its own tier and weight. Of several ways the lowest tier counts, then the highest weight, then the shortest. */
function wayOf(buyer: Candidate): Way {
  let best: Way | undefined = buyer.direct ? { group: null, tier: tierOf(buyer), weight: buyer.weight } : undefined;
  for (const group of buyer.groups) {
    if (groupFault(group)) continue;
    const { tier, weight } = group.dial_buyers_type === 'simultaneously' ? group : { tier: tierOf(buyer), weight: buyer.weight };
    if (!best || tier < best.tier || (tier === best.tier && weight > best.weight)) best = { group, tier, weight };
  }
  return best!;
}

function tierOf({ route_by_type, tier, current_conversion_revenue, epc }: Candidate): number {
  switch (route_by_type) {
    case 'tier':
      return tier;
    case 'revenue':
      return 0 - (current_conversion_revenue ?? 0);
    case 'epc':
      return 0 - (epc ?? 0);
  }
}

/** Those that could take a call now, in the order in which they are tried when nothing is drawn: the lowest tier first, in it the highest weight. */
export function availableInOrder(candidates: readonly Candidate[], facts: Facts): Candidate[] {
  return candidates
    .filter((candidate) => eligibility(candidate, facts).available)
    .map((candidate) => ({ candidate, way: wayOf(candidate) }))
    .toSorted((a, b) => a.way.tier - b.way.tier || b.way.weight - a.way.weight || a.candidate.id - b.candidate.id)
    .map(({ candidate }) => candidate);
}
