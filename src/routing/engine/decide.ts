import type { Candidate, CandidateGroup } from './candidate';
import { drawBy } from './draw';
import { judgeOf } from './eligibility';
import type { Fault } from './reasons';
import { keyOf, route, tierOf, wayOf, type Member, type RouteFacts } from './route';

// What `route` finds out about a call, without what only an explanation shows: the order of all
// buyers, with their shares and draws. A decision needs the first choice, and the reason of each
// buyer that cannot take the call. A test compares the two.

/** What is dialed first: a buyer, or a group whose members ring all at once. */
export interface FirstChoice {
  members: readonly Member[];
  group: CandidateGroup | null;
}

/** What was found out about the candidates of a call. */
export interface Judged {
  candidates: readonly Candidate[];
  /** Undefined when no buyer can take the call. */
  first: FirstChoice | undefined;
  /** Why candidates cannot take the call, at their places among the candidates. */
  faults: readonly (Fault | undefined)[];
  /** Groups that ring all members at once and can take the call. */
  at_once: readonly number[];
}

/** Which buyer is dialed first, and why the others cannot take the call. Pure. */
export function decide(candidates: readonly Candidate[], facts: RouteFacts): Judged {
  const judge = judgeOf(facts);
  const draw = drawBy(facts.seed);
  const faults = Array<Fault | undefined>(candidates.length);
  let best: { buyer: Candidate; group: CandidateGroup | null } | undefined;
  let [best_tier, best_draw, best_key] = [Infinity, Infinity, Infinity];
  let is_given = false;
  for (let place = 0; place < candidates.length; place++) {
    const buyer = candidates[place]!;
    const fault = (faults[place] = judge(buyer));
    if (fault) continue;
    const group = wayOf(buyer);
    if (group?.dial_buyers_type === 'simultaneously') return decideWithGroups(candidates, facts);
    if (is_given) continue;
    is_given = buyer.id === facts.first_buyer_id;
    const tier = tierOf(buyer);
    if (tier > best_tier && !is_given) continue;
    const key = keyOf(buyer, null);
    const drawn = draw({ key, weight: buyer.weight });
    const is_lower =
      tier < best_tier || drawn < best_draw || (drawn === best_draw && key < best_key);
    if (!is_lower && !is_given) continue;
    best = { buyer, group };
    [best_tier, best_draw, best_key] = [tier, drawn, key];
  }
  return { candidates, first: best && { members: [best], group: null }, faults, at_once: [] };
}

/** The same where some groups ring all members at once. */
function decideWithGroups(candidates: readonly Candidate[], facts: RouteFacts): Judged {
  const { choices, considered } = route(candidates, facts);
  const reasons = new Map<number, Fault>();
  for (const { buyer_id, reason, message, details } of considered)
    if (reason !== null) reasons.set(buyer_id, { reason, message: message!, details });
  return {
    candidates,
    first: choices[0],
    faults: candidates.map(({ id }) => reasons.get(id)),
    at_once: choices.flatMap(({ group }) => group?.id ?? []),
  };
}
