import type { Candidate, CandidateGroup } from './candidate';
import { drawBy, type Draw } from './draw';
import { filterFault, eligibilityCheck } from './eligibility';
import { KINDS, type CandidateColumns } from './lineup';
import type { Fault } from './reasons';
import { toDrawKey, route, findTier, bestGroup, type Member, type RouteFacts } from './route';

// A faster `route` for decisions, which need only the first choice and the reasons of the buyers
// that cannot take the call; shares, draws and the order of all buyers are for explanations. A test
// compares the two.

/** Dialed first: a buyer, or a group whose members ring all at once. */
export interface FirstChoice {
  members: readonly Member[];
  group: CandidateGroup | null;
}

export interface Evaluation {
  candidates: readonly Candidate[];
  /** Undefined when no buyer can take the call. */
  first: FirstChoice | undefined;
  /** Reasons of candidates that cannot take the call, by index. */
  faults: ReadonlyMap<number, Fault>;
  /** Groups that ring all members at once and can take the call. */
  at_once: readonly number[];
  /** Present when candidates of kind `lasting`, and those equal to the basis, were skipped. */
  columns?: CandidateColumns | undefined;
}

/** The columns of the candidates, as they apply to one call. */
export interface CallColumns {
  columns: CandidateColumns;
  /** Indexes of candidates that differ from the columns for this caller. */
  overridden: ReadonlySet<number>;
}

/** Decides which buyer is dialed first, and why others cannot take the call. Pure. */
export function decide(
  candidates: readonly Candidate[],
  facts: RouteFacts,
  callColumns?: CallColumns,
): Evaluation {
  if (callColumns && isUsual(facts)) return decideByColumns(candidates, facts, callColumns);
  const judge = eligibilityCheck(facts);
  const faults = new Map<number, Fault>();
  const bestCandidate = new BestCandidate(drawBy(facts.seed), facts.first_buyer_id);
  for (let index = 0; index < candidates.length; index++) {
    const buyer = candidates[index]!;
    const fault = judge(buyer);
    if (fault) {
      faults.set(index, fault);
      continue;
    }
    if (bestGroup(buyer)?.dial_buyers_type === 'simultaneously')
      return decideWithGroups(candidates, facts);
    bestCandidate.consider(index, buyer);
  }
  return { candidates, first: toFirstChoice(candidates, bestCandidate.best), faults, at_once: [] };
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

function decideByColumns(
  candidates: readonly Candidate[],
  facts: RouteFacts,
  { columns, overridden }: CallColumns,
): Evaluation {
  const { keys, tiers, weights, kinds, filters_of } = columns;
  const judge = eligibilityCheck(facts);
  const unmet = columns.filters.map((filters) => filterFault(filters, facts.tokens));
  const faults = new Map<number, Fault>();
  const bestCandidate = new BestCandidate(drawBy(facts.seed), facts.first_buyer_id);
  for (let index = 0; index < kinds.length; index++) {
    const kind = kinds[index]!;
    if (kind === KINDS.lasting) continue;
    const fault =
      kind === KINDS.open && !(overridden.size > 0 && overridden.has(index))
        ? unmet[filters_of[index]!]
        : judge(candidates[index]!);
    if (fault) faults.set(index, fault);
    else bestCandidate.considerRow(index, keys[index]!, tiers[index]!, weights[index]!);
  }
  return {
    candidates,
    first: toFirstChoice(candidates, bestCandidate.best),
    faults,
    at_once: [],
    columns,
  };
}

const toFirstChoice = (
  candidates: readonly Candidate[],
  index: number,
): FirstChoice | undefined => {
  const buyer = candidates[index];
  return buyer && { members: [{ buyer, group: bestGroup(buyer) }], group: null };
};

/**
 * Keeps the best candidate considered so far: the preferred one, or else the lowest tier and draw.
 */
class BestCandidate {
  best = -1;
  private tier = Infinity;
  private drawn = Infinity;
  private key = Infinity;
  private readonly preferredKey: number;

  constructor(
    private readonly draw: Draw,
    preferredBuyerId: number | undefined,
  ) {
    this.preferredKey =
      preferredBuyerId === undefined ? -1 : toDrawKey({ id: preferredBuyerId }, null);
  }

  consider(index: number, buyer: Candidate): void {
    this.considerRow(index, toDrawKey(buyer, null), findTier(buyer), buyer.weight);
  }

  /** For candidates as rows of columns. */
  considerRow(index: number, key: number, tier: number, weight: number): void {
    if (this.key === this.preferredKey) return;
    const isPreferred = key === this.preferredKey;
    if (tier > this.tier && !isPreferred) return;
    const drawn = this.draw(key, weight);
    const isLower =
      tier < this.tier || drawn < this.drawn || (drawn === this.drawn && key < this.key);
    if (!isLower && !isPreferred) return;
    this.best = index;
    this.tier = tier;
    this.drawn = drawn;
    this.key = key;
  }
}

/** For candidates with groups that ring all members at once. */
function decideWithGroups(candidates: readonly Candidate[], facts: RouteFacts): Evaluation {
  const { choices, considered } = route(candidates, facts);
  const reasons = new Map<number, Fault>();
  for (const { buyer_id, reason, message, details } of considered)
    if (reason !== null) reasons.set(buyer_id, { reason, message: message!, details });
  const faults = new Map<number, Fault>();
  candidates.forEach(({ id }, index) => {
    const fault = reasons.get(id);
    if (fault) faults.set(index, fault);
  });
  return {
    candidates,
    first: choices[0],
    faults,
    at_once: choices.flatMap(({ group }) => group?.id ?? []),
  };
}
