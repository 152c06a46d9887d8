import type { Candidate, CandidateGroup } from './candidate';
import { drawBy, type Draw } from './draw';
import { filterFault, judgeOf } from './eligibility';
import { KINDS, type Lineup } from './lineup';
import type { Fault } from './reasons';
import { keyOf, route, tierOf, wayOf, type Member, type RouteFacts } from './route';

// A faster `route` for decisions, which need only the first choice and the reasons of the buyers
// that cannot take the call; shares, draws and the order of all buyers are for explanations. A test
// compares the two.

/** Dialed first: a buyer, or a group whose members ring all at once. */
export interface FirstChoice {
  members: readonly Member[];
  group: CandidateGroup | null;
}

export interface Judged {
  candidates: readonly Candidate[];
  /** Undefined when no buyer can take the call. */
  first: FirstChoice | undefined;
  /** Reasons of candidates that cannot take the call, by index. */
  faults: ReadonlyMap<number, Fault>;
  /** Groups that ring all members at once and can take the call. */
  at_once: readonly number[];
  /** Present when candidates of kind `lasting`, and those equal to the basis, were skipped. */
  lineup?: Lineup | undefined;
}

/** The columns of the candidates, as they apply to one call. */
export interface LinedUp {
  lineup: Lineup;
  /** Indexes of candidates that differ from the columns for this caller. */
  apart: ReadonlySet<number>;
}

/** Decides which buyer is dialed first, and why others cannot take the call. Pure. */
export function decide(
  candidates: readonly Candidate[],
  facts: RouteFacts,
  lined_up?: LinedUp,
): Judged {
  if (lined_up && isUsual(facts)) return decideByLineup(candidates, facts, lined_up);
  const judge = judgeOf(facts);
  const faults = new Map<number, Fault>();
  const contest = new Contest(drawBy(facts.seed), facts.first_buyer_id);
  for (let place = 0; place < candidates.length; place++) {
    const buyer = candidates[place]!;
    const fault = judge(buyer);
    if (fault) {
      faults.set(place, fault);
      continue;
    }
    if (wayOf(buyer)?.dial_buyers_type === 'simultaneously')
      return decideWithGroups(candidates, facts);
    contest.enter(place, buyer);
  }
  return { candidates, first: firstOf(candidates, contest.winner), faults, at_once: [] };
}

/** True when only filters and the caller's number can exclude a buyer from the call. */
const isUsual = (facts: RouteFacts): boolean =>
  facts.refused === undefined &&
  facts.only_buyer_id === undefined &&
  !facts.tried?.size &&
  !facts.reserved &&
  !facts.source_buyers &&
  facts.can_whisper !== false &&
  !facts.vetoed?.size &&
  !facts.pays_again_at?.size &&
  !facts.spacing_seconds;

function decideByLineup(
  candidates: readonly Candidate[],
  facts: RouteFacts,
  { lineup, apart }: LinedUp,
): Judged {
  const { keys, tiers, weights, kinds, filters_of } = lineup;
  const judge = judgeOf(facts);
  const unmet = lineup.filters.map((filters) => filterFault(filters, facts.tokens));
  const faults = new Map<number, Fault>();
  const contest = new Contest(drawBy(facts.seed), facts.first_buyer_id);
  for (let place = 0; place < kinds.length; place++) {
    const kind = kinds[place]!;
    if (kind === KINDS.lasting) continue;
    const fault =
      kind === KINDS.open && !(apart.size > 0 && apart.has(place))
        ? unmet[filters_of[place]!]
        : judge(candidates[place]!);
    if (fault) faults.set(place, fault);
    else contest.enterWith(place, keys[place]!, tiers[place]!, weights[place]!);
  }
  return { candidates, first: firstOf(candidates, contest.winner), faults, at_once: [], lineup };
}

const firstOf = (candidates: readonly Candidate[], place: number): FirstChoice | undefined => {
  const buyer = candidates[place];
  return buyer && { members: [{ buyer, group: wayOf(buyer) }], group: null };
};

/**
 * Keeps the best candidate considered so far: the preferred one, or else the lowest tier and draw.
 */
class Contest {
  winner = -1;
  private tier = Infinity;
  private drawn = Infinity;
  private key = Infinity;
  private readonly given_key: number;

  constructor(
    private readonly draw: Draw,
    given: number | undefined,
  ) {
    this.given_key = given === undefined ? -1 : keyOf({ id: given }, null);
  }

  enter(place: number, buyer: Candidate): void {
    this.enterWith(place, keyOf(buyer, null), tierOf(buyer), buyer.weight);
  }

  /** For candidates as rows of columns. */
  enterWith(place: number, key: number, tier: number, weight: number): void {
    if (this.key === this.given_key) return;
    const is_given = key === this.given_key;
    if (tier > this.tier && !is_given) return;
    const drawn = this.draw(key, weight);
    const is_lower =
      tier < this.tier || drawn < this.drawn || (drawn === this.drawn && key < this.key);
    if (!is_lower && !is_given) return;
    this.winner = place;
    this.tier = tier;
    this.drawn = drawn;
    this.key = key;
  }
}

/** For candidates with groups that ring all members at once. */
function decideWithGroups(candidates: readonly Candidate[], facts: RouteFacts): Judged {
  const { choices, considered } = route(candidates, facts);
  const reasons = new Map<number, Fault>();
  for (const { buyer_id, reason, message, details } of considered)
    if (reason !== null) reasons.set(buyer_id, { reason, message: message!, details });
  const faults = new Map<number, Fault>();
  candidates.forEach(({ id }, place) => {
    const fault = reasons.get(id);
    if (fault) faults.set(place, fault);
  });
  return {
    candidates,
    first: choices[0],
    faults,
    at_once: choices.flatMap(({ group }) => group?.id ?? []),
  };
}
