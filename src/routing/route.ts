import { drawBy } from './draw';
import { faultOf, isOpenGroup, type Candidate, type CandidateGroup, type Eligibility, type Facts, type Fault } from './eligibility';

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
  const open: Candidate[] = [];
  const passed_over: Considered[] = [];
  for (const candidate of candidates) {
    const fault = faultOf(candidate, facts);
    if (fault) passed_over.push(passedOver(candidate, fault));
    else open.push(candidate);
  }
  const choices = ordered(choicesOf(open), facts);
  return { choices, considered: [...choices.flatMap(ranked), ...passed_over.sort((a, b) => a.tier - b.tier || a.buyer_id - b.buyer_id)] };
}

function passedOver(buyer: Candidate, { reason, message, details = null }: Fault): Considered {
  const { id: buyer_id, name, weight, route_by_type } = buyer;
  return {
    buyer_id, name, available: false, reason, message, details, rank: null, tier: tierOf(buyer), weight, share: null, draw: null, route_by_type, buyer_group_id: null,
  }; // prettier-ignore
}

function ranked({ members, tier, weight, share, draw }: Choice, place: number): Considered[] {
  return members.map(({ buyer: { id: buyer_id, name, route_by_type }, group }): Considered => ({
    buyer_id, name, available: true, reason: null, message: null, details: null, rank: place + 1, tier, weight, share, draw, route_by_type, buyer_group_id: group?.id ?? null,
  })); // prettier-ignore
}

/** What can be dialed, before anything is drawn. */
type Chance = Omit<Choice, 'share' | 'draw'>;

/** The lowest tier first; within it as drawn. */
function ordered(chances: readonly Chance[], { seed, first_buyer_id }: RouteFacts): Choice[] {
  const draw = drawBy(seed);
  const sums = new Map<number, number>();
  for (const { tier, weight } of chances) sums.set(tier, (sums.get(tier) ?? 0) + weight);
  const choices = chances.map(({ members, group, tier, weight }): Choice => ({
    members,
    group,
    tier,
    weight,
    share: weight / (sums.get(tier) || 1),
    draw: draw({ key: drawKey(members[0]!.buyer.id, group?.id), weight }),
  }));
  choices.sort((a, b) => a.tier - b.tier || byDraw(a, b) || keyOf(a) - keyOf(b));
  const first = first_buyer_id === undefined ? -1 : choices.findIndex(({ members }) => members.some(({ buyer }) => buyer.id === first_buyer_id));
  if (first > 0) choices.unshift(...choices.splice(first, 1));
  return choices;
}

/** Two without weight both drew infinity. */
const byDraw = (a: Choice, b: Choice) => (a.draw === b.draw ? 0 : a.draw - b.draw);

const keyOf = ({ members, group }: Chance) => drawKey(members[0]!.buyer.id, group?.id);

/** What a choice draws by: buyers and groups number their records each for themselves. */
export const drawKey = (buyer_id: number, group_as_one: number | undefined): number => (group_as_one === undefined ? buyer_id * 2 : group_as_one * 2 + 1);

/** Each buyer once, by the best of the ways that are open to it. */
function choicesOf(open: readonly Candidate[]): Chance[] {
  const groups = new Map<number, Chance & { members: Member[] }>();
  const singles: Chance[] = [];
  for (const buyer of open) {
    const { group, tier, weight } = wayOf(buyer);
    if (group?.dial_buyers_type !== 'simultaneously') {
      singles.push({ members: [{ buyer, group }], group: null, tier, weight });
      continue;
    }
    const known = groups.get(group.id);
    if (known) known.members.push({ buyer, group });
    else groups.set(group.id, { members: [{ buyer, group }], group, tier, weight });
  }
  for (const { members } of groups.values()) members.sort((a, b) => a.buyer.id - b.buyer.id);
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
    if (!isOpenGroup(group)) continue;
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
    .filter((candidate) => !faultOf(candidate, facts))
    .map((candidate) => ({ candidate, way: wayOf(candidate) }))
    .toSorted((a, b) => a.way.tier - b.way.tier || b.way.weight - a.way.weight || a.candidate.id - b.candidate.id)
    .map(({ candidate }) => candidate);
}
