import { drawBy } from './draw';
import { isOpenGroup, type Candidate, type CandidateGroup } from './candidate';
import { judgeOf, type Eligibility, type Facts } from './eligibility';
import type { Fault } from './reasons';
import type { SourceCaps } from './source';

/** A buyer, and the group through which it gets the call, whose caps count too. */
export interface Member {
  buyer: Candidate;
  group: CandidateGroup | null;
}

/** Dialed at one time: a buyer, or a group whose members ring all at once. */
export interface Choice {
  /** The ringing members: at most as many as the carrier rings at once. */
  members: readonly Member[];
  /** Null for a single buyer. */
  group: CandidateGroup | null;
  tier: number;
  weight: number;
  /** The fraction of the total weight of the tier. */
  share: number;
  /** The lowest of a tier goes first. */
  draw: number;
}

export interface Considered extends Eligibility {
  /** Position in the order, from 1; null when the buyer cannot take the call. */
  rank: number | null;
  tier: number;
  weight: number;
  share: number | null;
  draw: number | null;
  route_by_type: Candidate['route_by_type'];
  buyer_group_id: number | null;
}

export interface Route {
  /** In the order in which they are tried. */
  choices: readonly Choice[];
  /** Every candidate once: those that can take the call in order, then the rest by tier. */
  considered: readonly Considered[];
}

export interface RouteFacts extends Facts {
  seed: string;
  /** Goes before all other buyers if it can take the call. */
  first_buyer_id?: number | undefined;
  /** The caps of the source that the call uses; absent without limits. */
  source_caps?: SourceCaps | undefined;
  /** How many buyers the carrier rings at once; absent for any number. */
  max_legs?: number | undefined;
}

export interface Ordered extends Pick<Route, 'choices'> {
  /** Candidates that cannot take the call, by tier and id. */
  passed_over: readonly PassedOver[];
}

interface PassedOver {
  buyer: Candidate;
  tier: number;
  fault: Fault;
}

/** Decides which buyers can take a call, in which order, and why others cannot. Pure. */
export function route(candidates: readonly Candidate[], facts: RouteFacts): Route {
  const ordered = orderOf(candidates, facts);
  return { choices: ordered.choices, considered: consideredOf(ordered) };
}

/** Like `route`, without building an object of the API for each buyer. Pure. */
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

/** Every candidate once, in the form of the API. */
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
 * Limits the members of a choice to the number that the carrier rings at once. They are preferred
 * in this order: the buyer that goes first, reserved buyers, the lowest tier, the draw by weight.
 * Postponed members ring in the next round.
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

/** The part of a choice that decides its position. */
export interface ChoiceToOrder {
  readonly members: readonly { buyer: { id: number } }[];
  group: { id: number } | null;
  tier: number;
  weight: number;
  share: number;
  draw: number;
}

/**
 * Sorts choices into the order in which they are tried: the one with `first_buyer_id`, then by
 * tier, within a tier by the draw. Sorts in place and sets `share` and `draw`, since a call has as
 * many choices as buyers.
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

/** Each buyer once, by its best open path; `share` and `draw` are set later. */
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
 * The group through which a buyer gets a call; null for the offer itself. The path with the lowest
 * tier is best, then the one with the highest weight, then the offer itself. A group that rings all
 * members at once counts as one choice, with its own tier and weight.
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
