import { bidFault } from './bids';
import { bestGroup, findTier, ringsAtOnce, type Candidate } from './candidate';
import { eligibilityCheck, type Facts } from './eligibility';

/**
 * Selects the bidders to ask now, all at once: those that only lack a bid and could come first. A
 * bidder ordered by revenue always could; one with a fixed tier could not behind a buyer that takes
 * the call for sure. With `all` such bidders are asked too. Pure.
 */
export function selectBidders(
  candidates: readonly Candidate[],
  facts: Facts & { first_buyer_id?: number | undefined },
  { all }: { all: boolean },
): Candidate[] {
  // When all were asked, this avoids the check of every candidate.
  if (!candidates.some((candidate) => bidFault(candidate, facts.bids)?.reason === 'bid_not_asked'))
    return [];
  const judge = eligibilityCheck(facts);
  const unasked: Candidate[] = [];
  let best = Infinity;
  for (const candidate of candidates) {
    const fault = judge(candidate);
    if (fault?.reason === 'bid_not_asked') unasked.push(candidate);
    if (fault || all) continue;
    if (candidate.id === facts.first_buyer_id) return [];
    best = Math.min(best, toEffectiveTier(candidate));
  }
  return unasked.filter(
    (candidate) =>
      isOrderedByBid(candidate) ||
      toEffectiveTier(candidate) <= best ||
      candidate.id === facts.first_buyer_id,
  );
}

const toEffectiveTier = (candidate: Candidate): number => {
  const group = bestGroup(candidate);
  return ringsAtOnce(group) ? group.tier : findTier(candidate);
};

const isOrderedByBid = (candidate: Candidate): boolean =>
  candidate.route_by_type === 'revenue' && !ringsAtOnce(bestGroup(candidate));
