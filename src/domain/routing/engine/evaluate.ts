import { bestGroup, findTier, ringsAtOnce, type Candidate, type CandidateGroup } from './candidate';
import { compareDrawn, drawBy, toDrawKey } from './draw';
import { isBidder } from './bids';
import { eligibilityCheck, filterFault, type Facts } from './eligibility';
import type { Fault } from './reasons';
import type { SourceCaps } from './source';
import { trunkFault } from './trunks';

export interface RouteFacts extends Facts {
  seed: string;
  /** Goes before all other buyers if it can take the call. */
  first_buyer_id?: number | undefined;
  /** The caps of the source that the call uses; absent without limits. */
  source_caps?: SourceCaps | undefined;
  /** How many buyers the carrier rings at once; absent for any number. */
  max_legs?: number | undefined;
}

/** A group that rings all members at once. */
export interface RingingGroup {
  group: CandidateGroup;
  /** At most as many as the carrier rings at once, by id. */
  buyers: readonly Candidate[];
}

/** Which candidates can take a call, and why others cannot; their order is made by order.ts. */
export interface Evaluation {
  candidates: readonly Candidate[];
  facts: RouteFacts;
  /** By the index of the candidate; undefined when it can take the call. */
  faults: readonly (Fault | undefined)[];
  /** Indexes of buyers that can take the call and are dialed one at a time. */
  single: readonly number[];
  ringing: readonly RingingGroup[];
  /** The candidates before any call changed them, where the offer is cached. */
  plain?: PlainCandidates | undefined;
}

/**
 * The candidates of an offer within a minute before a call changes them, in columns by index. One
 * that a call or its caller changes is a copy: another is known by its identity. To
 * look into ten thousand objects takes longer than to decide.
 */
export interface PlainCandidates {
  /** Null for members of groups that ring at once: the group decides their order. */
  candidates: readonly (Candidate | null)[];
  /** 1 for one that is dialed alone, and that only its filters can keep from a usual call. */
  is_open: Uint8Array;
  /** Distinct lists of filters; `list_indexes` has that of each candidate. */
  lists: readonly Candidate['record_token_filter_list'][];
  list_indexes: Uint32Array;
  ids: Float64Array;
  tiers: Float64Array;
  weights: Float64Array;
}

const NO_FILTERS: Candidate['record_token_filter_list'] = [];

/** Pure. */
export function listPlainCandidates(candidates: readonly Candidate[], now: Date): PlainCandidates {
  const indexes = new Map<Candidate['record_token_filter_list'], number>();
  const listIndexes = Uint32Array.from(candidates, ({ record_token_filter_list: list }) => {
    if (!indexes.has(list)) indexes.set(list, indexes.size);
    return indexes.get(list)!;
  });
  const findFault = eligibilityCheck({ now, tokens: () => undefined });
  const alone = candidates.map((candidate) =>
    ringsAtOnce(bestGroup(candidate)) ? null : candidate,
  );
  const isOpen = (candidate: Candidate | null): boolean =>
    candidate !== null &&
    !isBidder(candidate) &&
    findFault({ ...candidate, record_token_filter_list: NO_FILTERS }) === undefined;
  return {
    candidates: alone,
    is_open: Uint8Array.from(alone, (candidate) => Number(isOpen(candidate))),
    lists: [...indexes.keys()],
    list_indexes: listIndexes,
    ids: Float64Array.from(candidates, ({ id }) => id),
    tiers: Float64Array.from(candidates, findTier),
    weights: Float64Array.from(candidates, ({ weight }) => weight),
  };
}

/** True when only filters, caps and the caller's number can exclude a buyer from the call. */
const isUsual = (facts: RouteFacts): boolean =>
  facts.refused === undefined &&
  facts.only_buyer_id === undefined &&
  !facts.tried?.size &&
  !facts.reserved &&
  !facts.source_buyers &&
  facts.can_whisper !== false &&
  facts.can_play_tones !== false &&
  !facts.vetoed?.size &&
  !facts.pays_again_at?.size &&
  !facts.spacing_seconds;

/**
 * Finds the candidates that can take a call, and the first reason against each other one. With
 * `plain`, of which `candidates` are the present state, it gives the same result sooner. Pure.
 */
export function evaluate(
  candidates: readonly Candidate[],
  facts: RouteFacts,
  plain?: PlainCandidates,
): Evaluation {
  const findFault = eligibilityCheck(facts);
  const unmet =
    plain && isUsual(facts)
      ? plain.lists.map((list) => filterFault(list, facts.tokens))
      : undefined;
  const faults: (Fault | undefined)[] = [];
  const single: number[] = [];
  const ringing = new Map<number, { group: CandidateGroup; indexes: number[] }>();
  for (let index = 0; index < candidates.length; index++) {
    const buyer = candidates[index]!;
    const isOpen =
      unmet !== undefined && plain!.is_open[index] === 1 && plain!.candidates[index] === buyer;
    const fault = isOpen
      ? (unmet[plain!.list_indexes[index]!] ?? trunkFault(buyer, facts.lines))
      : findFault(buyer);
    faults.push(fault);
    if (fault) continue;
    const group = isOpen ? null : bestGroup(buyer);
    if (!ringsAtOnce(group)) single.push(index);
    else if (ringing.has(group.id)) ringing.get(group.id)!.indexes.push(index);
    else ringing.set(group.id, { group, indexes: [index] });
  }
  const rung = [...ringing.values()].map(({ group, indexes }): RingingGroup => {
    const inOrder = sortByPreference(indexes, candidates, facts);
    for (const index of inOrder.splice(facts.max_legs ?? Infinity))
      faults[index] = buildLegLimitFault(group, facts);
    const buyers = inOrder.map((index) => candidates[index]!).sort((a, b) => a.id - b.id);
    return { group, buyers };
  });
  return { candidates, facts, faults, single, ringing: rung, plain };
}

/**
 * Sorts members of a group, of which the carrier rings the first ones: the buyer that goes first,
 * reserved buyers, the lowest tier, the draw by weight. The others ring in the next round.
 */
function sortByPreference(
  indexes: readonly number[],
  candidates: readonly Candidate[],
  { seed, max_legs = Infinity, first_buyer_id, reserved }: RouteFacts,
): number[] {
  if (indexes.length <= max_legs) return [...indexes];
  const draw = drawBy(seed);
  return indexes
    .map((index) => {
      const buyer = candidates[index]!;
      const { id, weight } = buyer;
      const key = toDrawKey(buyer, null);
      const preference = Number(id !== first_buyer_id) + Number(!reserved?.has(id));
      return { index, preference, key, tier: findTier(buyer), draw: draw(key, weight) };
    })
    .sort((a, b) => a.preference - b.preference || compareDrawn(a, b))
    .map(({ index }) => index);
}

function buildLegLimitFault({ id, name }: CandidateGroup, { max_legs }: RouteFacts): Fault {
  const groupName = name ? `"${name}" (${id})` : `${id}`;
  return {
    reason: 'not_rung',
    message:
      `the carrier rings ${max_legs} buyers at once, and others of its group ${groupName} ` +
      'go first: it rings in the next round',
    details: { max_legs: max_legs ?? null, buyer_group_id: id },
  };
}
