import { drawBy } from './draw';
import { isOpenGroup, type Candidate, type CandidateGroup } from './candidate';
import { judgeOf, type Eligibility, type Facts } from './eligibility';
import type { Fault } from './reasons';
import type { SourceCaps } from './source';

/** A buyer, and the group through which it comes to the call, whose caps count too. */
export interface Member {
  buyer: Candidate;
  group: CandidateGroup | null;
}

/** What is dialed at one time: a buyer, or a group whose members ring all at once. */
export interface Choice {
  /** Those that ring: of a group no more than the carrier rings at once. */
  members: readonly Member[];
  /** The group whose members ring all at once; null for one buyer. */
  group: CandidateGroup | null;
  tier: number;
  weight: number;
  /** Its part of the total weight of its tier. */
  share: number;
  /** The lowest of a tier goes first. */
  draw: number;
}

export interface Considered extends Eligibility {
  /** Place in the order, from 1; null when the buyer cannot take the call. */
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
  /** Every candidate once: those that can take the call in order, then the others by tier. */
  considered: readonly Considered[];
}

export interface RouteFacts extends Facts {
  seed: string;
  /** Goes before all others if it can take the call. */
  first_buyer_id?: number | undefined;
  /** What a call that comes in takes of the caps of its source; absent without limits. */
  source_caps?: SourceCaps | undefined;
  /** How many buyers the carrier of the call rings at once; absent for any number. */
  max_legs?: number | undefined;
}

/** The candidates of a call in their order. */
export interface Ordered extends Pick<Route, 'choices'> {
  /** Those that cannot take the call, by tier and id. */
  passed_over: readonly PassedOver[];
}

interface PassedOver {
  buyer: Candidate;
  tier: number;
  fault: Fault;
}

/** Which buyers can take a call, in which order, and why the others cannot. Pure. */
export function route(candidates: readonly Candidate[], facts: RouteFacts): Route {
  const ordered = orderOf(candidates, facts);
  return { choices: ordered.choices, considered: consideredOf(ordered) };
}

/** The same without an object for each buyer as the API shows it. Pure. */
export function orderOf(candidates: readonly Candidate[], facts: RouteFacts): Ordered {
  const judge = judgeOf(facts);
  const open: Candidate[] = [];
  const passed_over: PassedOver[] = [];
  for (const buyer of candidates) {
    const fault = judge(buyer);
    if (fault) passed_over.push({ buyer, tier: tierOf(buyer), fault });
    else open.push(buyer);
  }
  const choices = ordered(choicesOf(open), facts);
  for (const choice of choices) {
    const { rung, others } = rungOf(choice, facts);
    choice.members = rung;
    for (const { buyer } of others)
      passed_over.push({ buyer, tier: tierOf(buyer), fault: notRung(choice, facts) });
  }
  passed_over.sort((a, b) => a.tier - b.tier || a.buyer.id - b.buyer.id);
  return { choices, passed_over };
}

/** Every candidate once, as the API shows it. */
export function consideredOf({ choices, passed_over }: Ordered): Considered[] {
  const considered: Considered[] = [];
  for (const [place, choice] of choices.entries())
    for (const member of choice.members) considered.push(ranked(choice, member, place));
  for (const one of passed_over) considered.push(passedOver(one));
  return considered;
}

function passedOver({ buyer, tier, fault }: PassedOver): Considered {
  const { id: buyer_id, name, weight, route_by_type } = buyer;
  const { reason, message, details = null } = fault;
  return {
    buyer_id,
    name,
    available: false,
    reason,
    message,
    details,
    rank: null,
    tier,
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

/**
 * The members of a choice that ring. Of more than the carrier rings at once, those go first that
 * routing prefers: the buyer that goes before all others, reserved ones, the lowest tier, and in a
 * tier as drawn by weight. The others ring in the next round.
 */
function rungOf(
  { members }: Choice,
  { seed, max_legs = Infinity, first_buyer_id, reserved }: RouteFacts,
): { rung: readonly Member[]; others: readonly Member[] } {
  if (members.length <= max_legs) return { rung: members, others: [] };
  const draw = drawBy(seed);
  const preferred = ({ buyer: { id } }: Member) =>
    Number(id !== first_buyer_id) + Number(!reserved?.has(id));
  const inOrder = members
    .map((member) => ({
      member,
      preferred: preferred(member),
      tier: tierOf(member.buyer),
      draw: draw(keyOf(member.buyer, null), member.buyer.weight),
    }))
    .sort(
      (a, b) =>
        a.preferred - b.preferred ||
        a.tier - b.tier ||
        byDraw(a, b) ||
        a.member.buyer.id - b.member.buyer.id,
    )
    .map(({ member }) => member);
  const byId = (a: Member, b: Member) => a.buyer.id - b.buyer.id;
  return { rung: inOrder.slice(0, max_legs).sort(byId), others: inOrder.slice(max_legs) };
}

function notRung({ group }: Choice, { max_legs }: RouteFacts): Fault {
  const name = group?.name ? `"${group.name}" (${group?.id})` : `${group?.id}`;
  return {
    reason: 'not_rung',
    message:
      `the carrier rings ${max_legs} buyers at once, and others of its group ${name} go first: ` +
      'it rings in the next round',
    details: { max_legs: max_legs ?? null, buyer_group_id: group?.id ?? null },
  };
}

/** A choice, as far as the order depends on it. */
export interface ChoiceToOrder {
  readonly members: readonly { buyer: { id: number } }[];
  group: { id: number } | null;
  tier: number;
  weight: number;
  share: number;
  draw: number;
}

/**
 * Sorts choices as they are to be tried: the one with `first_buyer_id`, then the lowest tier first,
 * within a tier as drawn. Sorts in place and sets `share` and `draw` of the choices, since each
 * call has as many as buyers.
 */
export function ordered<Each extends ChoiceToOrder>(
  choices: Each[],
  { seed, first_buyer_id }: { seed: string; first_buyer_id?: number | undefined },
): Each[] {
  const draw = drawBy(seed);
  const sums = new Map<number, number>();
  for (const { tier, weight } of choices) sums.set(tier, (sums.get(tier) ?? 0) + weight);
  for (const choice of choices) {
    choice.share = choice.weight / (sums.get(choice.tier) || 1);
    choice.draw = draw(keyOfChoice(choice), choice.weight);
  }
  choices.sort((a, b) => a.tier - b.tier || byDraw(a, b) || keyOfChoice(a) - keyOfChoice(b));
  const first =
    first_buyer_id === undefined
      ? -1
      : choices.findIndex(({ members }) =>
          members.some(({ buyer }) => buyer.id === first_buyer_id),
        );
  if (first > 0) choices.unshift(...choices.splice(first, 1));
  return choices;
}

/** Choices without weight draw infinity, whose difference would be NaN. */
const byDraw = (a: { draw: number }, b: { draw: number }) =>
  a.draw === b.draw ? 0 : a.draw - b.draw;

/** The key of a choice in the draw: even for buyers, odd for groups, whose ids overlap. */
export const keyOf = (buyer: { id: number }, group: { id: number } | null): number =>
  group ? group.id * 2 + 1 : buyer.id * 2;

const keyOfChoice = ({ members, group }: ChoiceToOrder) => keyOf(members[0]!.buyer, group);

/** Each buyer once, by the best of its open ways; `share` and `draw` are set later. */
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
 * The group through which a buyer comes to a call; null for the offer itself. The way with the
 * lowest tier is best, then the one with the highest weight, then the offer itself. A group that
 * rings all its members at once is chosen as one, by its own tier and weight.
 */
export function wayOf(buyer: Candidate): CandidateGroup | null {
  let best: CandidateGroup | null = null;
  let tier = buyer.direct ? tierOf(buyer) : Infinity;
  let weight = buyer.direct ? buyer.weight : -Infinity;
  for (const group of buyer.groups) {
    if (!isOpenGroup(group)) continue;
    const as_one = group.dial_buyers_type === 'simultaneously';
    const way_tier = as_one ? group.tier : tierOf(buyer);
    const way_weight = as_one ? group.weight : buyer.weight;
    if (way_tier > tier || (way_tier === tier && way_weight <= weight)) continue;
    best = group;
    tier = way_tier;
    weight = way_weight;
  }
  return best;
}

export function tierOf({
  route_by_type,
  tier,
  current_conversion_revenue,
  epc,
}: Candidate): number {
  switch (route_by_type) {
    case 'tier':
      return tier;
    case 'revenue':
      return 0 - (current_conversion_revenue ?? 0);
    case 'epc':
      return 0 - (epc ?? 0);
  }
}
