import { drawBy } from './draw';
import { isOpenGroup, type Candidate, type CandidateGroup } from './candidate';
import { eligibilityCheck, type Eligibility, type Facts } from './eligibility';
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
  const orderedCandidates = orderCandidates(candidates, facts);
  return { choices: orderedCandidates.choices, considered: listConsidered(orderedCandidates) };
}

/** Like `route`, without building an object of the API for each buyer. Pure. */
export function orderCandidates(candidates: readonly Candidate[], facts: RouteFacts): Ordered {
  const judge = eligibilityCheck(facts);
  const open: Candidate[] = [];
  const passedOver: PassedOver[] = [];
  for (const buyer of candidates) {
    const fault = judge(buyer);
    if (fault) passedOver.push({ buyer, tier: findTier(buyer), fault });
    else open.push(buyer);
  }
  const choices = orderChoices(buildChoices(open), facts);
  for (const choice of choices) {
    const { ringing, postponed } = limitLegs(choice, facts);
    choice.members = ringing;
    for (const { buyer } of postponed)
      passedOver.push({ buyer, tier: findTier(buyer), fault: legLimitFault(choice, facts) });
  }
  passedOver.sort((a, b) => a.tier - b.tier || a.buyer.id - b.buyer.id);
  return { choices, passed_over: passedOver };
}

/** Every candidate once, in the form of the API. */
export function listConsidered({ choices, passed_over }: Ordered): Considered[] {
  const considered: Considered[] = [];
  for (const [index, choice] of choices.entries())
    for (const member of choice.members) considered.push(toRankedBuyer(choice, member, index));
  for (const entry of passed_over) considered.push(toPassedOverBuyer(entry));
  return considered;
}

function toPassedOverBuyer({ buyer, tier, fault }: PassedOver): Considered {
  const { id: buyerId, name, weight, route_by_type } = buyer;
  const { reason, message, details = null } = fault;
  return {
    buyer_id: buyerId,
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

function toRankedBuyer(
  { tier, weight, share, draw }: Choice,
  { buyer, group }: Member,
  index: number,
): Considered {
  const { id: buyerId, name, route_by_type } = buyer;
  return {
    buyer_id: buyerId,
    name,
    available: true,
    reason: null,
    message: null,
    details: null,
    rank: index + 1,
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
function limitLegs(
  { members }: Choice,
  { seed, max_legs = Infinity, first_buyer_id, reserved }: RouteFacts,
): { ringing: readonly Member[]; postponed: readonly Member[] } {
  if (members.length <= max_legs) return { ringing: members, postponed: [] };
  const draw = drawBy(seed);
  const preferred = ({ buyer: { id } }: Member) =>
    Number(id !== first_buyer_id) + Number(!reserved?.has(id));
  const inOrder = members
    .map((member) => ({
      member,
      preferred: preferred(member),
      tier: findTier(member.buyer),
      draw: draw(toDrawKey(member.buyer, null), member.buyer.weight),
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
  return { ringing: inOrder.slice(0, max_legs).sort(byId), postponed: inOrder.slice(max_legs) };
}

function legLimitFault({ group }: Choice, { max_legs }: RouteFacts): Fault {
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
export function orderChoices<Each extends ChoiceToOrder>(
  choices: Each[],
  { seed, first_buyer_id }: { seed: string; first_buyer_id?: number | undefined },
): Each[] {
  const draw = drawBy(seed);
  const sums = new Map<number, number>();
  for (const { tier, weight } of choices) sums.set(tier, (sums.get(tier) ?? 0) + weight);
  for (const choice of choices) {
    choice.share = choice.weight / (sums.get(choice.tier) || 1);
    choice.draw = draw(toChoiceKey(choice), choice.weight);
  }
  choices.sort((a, b) => a.tier - b.tier || byDraw(a, b) || toChoiceKey(a) - toChoiceKey(b));
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
export const toDrawKey = (buyer: { id: number }, group: { id: number } | null): number =>
  group ? group.id * 2 + 1 : buyer.id * 2;

const toChoiceKey = ({ members, group }: ChoiceToOrder) => toDrawKey(members[0]!.buyer, group);

/** Each buyer once, by its best open path; `share` and `draw` are set later. */
function buildChoices(open: readonly Candidate[]): Choice[] {
  const choices: Choice[] = [];
  const atOnce = new Map<number, { group: CandidateGroup; members: Member[] }>();
  for (const buyer of open) {
    const group = bestGroup(buyer);
    if (group?.dial_buyers_type !== 'simultaneously') {
      choices.push({
        members: [{ buyer, group }],
        group: null,
        tier: findTier(buyer),
        weight: buyer.weight,
        share: 0,
        draw: 0,
      });
      continue;
    }
    const knownGroup = atOnce.get(group.id);
    if (knownGroup) knownGroup.members.push({ buyer, group });
    else atOnce.set(group.id, { group, members: [{ buyer, group }] });
  }
  for (const { group, members } of atOnce.values()) {
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
export function bestGroup(buyer: Candidate): CandidateGroup | null {
  let best: CandidateGroup | null = null;
  let tier = buyer.direct ? findTier(buyer) : Infinity;
  let weight = buyer.direct ? buyer.weight : -Infinity;
  for (const group of buyer.groups) {
    if (!isOpenGroup(group)) continue;
    const asOne = group.dial_buyers_type === 'simultaneously';
    const groupTier = asOne ? group.tier : findTier(buyer);
    const groupWeight = asOne ? group.weight : buyer.weight;
    if (groupTier > tier || (groupTier === tier && groupWeight <= weight)) continue;
    best = group;
    tier = groupTier;
    weight = groupWeight;
  }
  return best;
}

export function findTier({
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
