import { drawBy } from './draw';
import {
  isOpenGroup,
  judgeOf,
  type Candidate,
  type CandidateGroup,
  type Eligibility,
  type Facts,
  type Fault,
} from './eligibility';

/** A buyer, and the group through which it comes to the call: its caps count too. */
export interface Member {
  buyer: Candidate;
  group: CandidateGroup | null;
}

/** What is dialed at one time: a buyer, or a group whose members ring all at once. */
export interface Choice {
  readonly members: readonly Member[];
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
  const judge = judgeOf(facts);
  const open: Candidate[] = [];
  const passed_over: Considered[] = [];
  for (const candidate of candidates) {
    const fault = judge(candidate);
    if (fault) passed_over.push(passedOver(candidate, fault));
    else open.push(candidate);
  }
  const choices = ordered(choicesOf(open), facts);
  const considered: Considered[] = [];
  for (const [place, choice] of choices.entries())
    for (const member of choice.members) considered.push(ranked(choice, member, place));
  for (const one of passed_over.sort((a, b) => a.tier - b.tier || a.buyer_id - b.buyer_id))
    considered.push(one);
  return { choices, considered };
}

function passedOver(buyer: Candidate, { reason, message, details = null }: Fault): Considered {
  const { id: buyer_id, name, weight, route_by_type } = buyer;
  return {
    buyer_id,
    name,
    available: false,
    reason,
    message,
    details,
    rank: null,
    tier: tierOf(buyer),
    weight,
    share: null,
    draw: null,
    route_by_type,
    buyer_group_id: null,
  };
}

function ranked(
  { tier, weight, share, draw }: Choice,
  { buyer, group }: Member,
  place: number,
): Considered {
  const { id: buyer_id, name, route_by_type } = buyer;
  return {
    buyer_id,
    name,
    available: true,
    reason: null,
    message: null,
    details: null,
    rank: place + 1,
    tier,
    weight,
    share,
    draw,
    route_by_type,
    buyer_group_id: group ? group.id : null,
  };
}

/** A choice as far as its place depends on it. */
export interface Lot {
  readonly members: readonly { buyer: { id: number } }[];
  group: { id: number } | null;
  tier: number;
  weight: number;
  share: number;
  draw: number;
}

/**
 * Sorts choices as they are to be tried: the lowest tier first, within it as drawn, and before all the one with `first_buyer_id`. What is drawn is
 * written into the choices: there are as many as buyers, at every call.
 */
export function ordered<Each extends Lot>(
  choices: Each[],
  { seed, first_buyer_id }: { seed: string; first_buyer_id?: number | undefined },
): Each[] {
  const draw = drawBy(seed);
  const sums = new Map<number, number>();
  for (const { tier, weight } of choices) sums.set(tier, (sums.get(tier) ?? 0) + weight);
  for (const choice of choices) {
    choice.share = choice.weight / (sums.get(choice.tier) || 1);
    choice.draw = draw({ key: keyOf(choice), weight: choice.weight });
  }
  choices.sort((a, b) => a.tier - b.tier || byDraw(a, b) || keyOf(a) - keyOf(b));
  const first =
    first_buyer_id === undefined
      ? -1
      : choices.findIndex(({ members }) =>
          members.some(({ buyer }) => buyer.id === first_buyer_id),
        );
  if (first > 0) choices.unshift(...choices.splice(first, 1));
  return choices;
}

/** Two without weight both drew infinity. */
const byDraw = (a: Lot, b: Lot) => (a.draw === b.draw ? 0 : a.draw - b.draw);

/** What a choice draws by: buyers and groups number their records each for themselves. */
const keyOf = ({ members, group }: Lot) => (group ? group.id * 2 + 1 : members[0]!.buyer.id * 2);

/** Each buyer once, by the best of the ways that are open to it, before anything is drawn. */
function choicesOf(open: readonly Candidate[]): Choice[] {
  const choices: Choice[] = [];
  const at_once = new Map<number, { group: CandidateGroup; members: Member[] }>();
  for (const buyer of open) {
    const group = wayOf(buyer);
    if (group?.dial_buyers_type !== 'simultaneously') {
      choices.push({
        members: [{ buyer, group }],
        group: null,
        tier: tierOf(buyer),
        weight: buyer.weight,
        share: 0,
        draw: 0,
      });
      continue;
    }
    const known = at_once.get(group.id);
    if (known) known.members.push({ buyer, group });
    else at_once.set(group.id, { group, members: [{ buyer, group }] });
  }
  for (const { group, members } of at_once.values()) {
    members.sort((a, b) => a.buyer.id - b.buyer.id);
    choices.push({ members, group, tier: group.tier, weight: group.weight, share: 0, draw: 0 });
  }
  return choices;
}

/**
 * The group through which a buyer comes to a call, null for none: by the way with the lowest tier, then the highest weight, then the shortest. A group
 * that rings all its members at once is chosen as one, by its own tier and weight.
 */
function wayOf(buyer: Candidate): CandidateGroup | null {
  let best: CandidateGroup | null = null;
  let tier = buyer.direct ? tierOf(buyer) : Infinity;
  let weight = buyer.direct ? buyer.weight : -Infinity;
  for (const group of buyer.groups) {
    if (!isOpenGroup(group)) continue;
    const as_one = group.dial_buyers_type === 'simultaneously';
    const its_tier = as_one ? group.tier : tierOf(buyer);
    const its_weight = as_one ? group.weight : buyer.weight;
    if (its_tier > tier || (its_tier === tier && its_weight <= weight)) continue;
    best = group;
    tier = its_tier;
    weight = its_weight;
  }
  return best;
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
  const judge = judgeOf(facts);
  return choicesOf(candidates.filter((candidate) => !judge(candidate)))
    .flatMap(({ members, tier, weight }) => members.map(({ buyer }) => ({ buyer, tier, weight })))
    .toSorted((a, b) => a.tier - b.tier || b.weight - a.weight || a.buyer.id - b.buyer.id)
    .map(({ buyer }) => buyer);
}
