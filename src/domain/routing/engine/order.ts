import { bestGroup, findTier, type Candidate, type CandidateGroup } from './candidate';
import { compareDrawn, drawBy, toDrawKey, type Drawn } from './draw';
import type { Evaluation, RingingGroup, RouteFacts } from './evaluate';

// The order in which buyers that can take a call are tried: the one that goes first, then by tier,
// within a tier by the draw. A call needs the first choice, an explanation all of them.

/** A buyer, and the group through which it gets the call, whose caps count too. */
export interface Member {
  buyer: Candidate;
  group: CandidateGroup | null;
}

/** Dialed at one time: a buyer, or a group whose members ring all at once. */
export interface FirstChoice {
  members: readonly Member[];
  /** Null for a single buyer. */
  group: CandidateGroup | null;
}

/** The part of a choice that decides its position. */
export interface ChoiceToOrder extends Drawn {
  readonly members: readonly { buyer: { id: number } }[];
  weight: number;
  /** The fraction of the total weight of the tier. */
  share: number;
}

export interface Choice extends FirstChoice, ChoiceToOrder {
  readonly members: readonly Member[];
}

/** Picks the choice to try first; undefined when no buyer can take the call. Pure. */
export function pickFirst(evaluation: Evaluation): FirstChoice | undefined {
  const { candidates, single, ringing, facts, plain } = evaluation;
  const draw = drawBy(facts.seed);
  const best: Drawn = { tier: Infinity, key: Infinity, draw: Infinity };
  // One object for all: a call may have ten thousand buyers.
  const drawn: Drawn = { ...best };
  let first: number | undefined;
  for (const index of single) {
    const isPlain = plain?.candidates[index] === candidates[index];
    const id = isPlain ? plain!.ids[index]! : candidates[index]!.id;
    if (id === facts.first_buyer_id) return toSingleChoice(candidates[index]!);
    drawn.tier = isPlain ? plain!.tiers[index]! : findTier(candidates[index]!);
    if (drawn.tier > best.tier) continue;
    drawn.key = toDrawKey({ id }, null);
    drawn.draw = draw(drawn.key, isPlain ? plain!.weights[index]! : candidates[index]!.weight);
    if (first !== undefined && compareDrawn(drawn, best) >= 0) continue;
    Object.assign(best, drawn);
    first = index;
  }
  const choices = first === undefined ? [] : [toSingleChoice(candidates[first]!)];
  return ringing.length === 0
    ? choices[0]
    : sortChoices([...choices, ...ringing.map(toGroupChoice)], facts)[0];
}

/** All choices in the order in which they are tried. Pure. */
export const orderChoices = ({ candidates, single, ringing, facts }: Evaluation): Choice[] =>
  sortChoices(
    [...single.map((index) => toSingleChoice(candidates[index]!)), ...ringing.map(toGroupChoice)],
    facts,
  );

const toMember = (buyer: Candidate): Member => ({ buyer, group: bestGroup(buyer) });

const toSingleChoice = (buyer: Candidate): Choice => ({
  members: [toMember(buyer)],
  group: null,
  key: toDrawKey(buyer, null),
  tier: findTier(buyer),
  weight: buyer.weight,
  share: 0,
  draw: 0,
});

const toGroupChoice = ({ group, buyers }: RingingGroup): Choice => ({
  members: buyers.map(toMember),
  group,
  key: toDrawKey(buyers[0]!, group),
  tier: group.tier,
  weight: group.weight,
  share: 0,
  draw: 0,
});

/** Sorts in place and sets `share` and `draw`, since a call has as many choices as buyers. */
export function sortChoices<Each extends ChoiceToOrder>(
  choices: Each[],
  { seed, first_buyer_id }: Pick<RouteFacts, 'seed' | 'first_buyer_id'>,
): Each[] {
  const draw = drawBy(seed);
  const sums = new Map<number, number>();
  for (const { tier, weight } of choices) sums.set(tier, (sums.get(tier) ?? 0) + weight);
  for (const choice of choices) {
    choice.share = choice.weight / (sums.get(choice.tier) || 1);
    choice.draw = draw(choice.key, choice.weight);
  }
  choices.sort(compareDrawn);
  if (first_buyer_id === undefined) return choices;
  const first = choices.findIndex(({ members }) =>
    members.some(({ buyer }) => buyer.id === first_buyer_id),
  );
  if (first > 0) choices.unshift(...choices.splice(first, 1));
  return choices;
}
