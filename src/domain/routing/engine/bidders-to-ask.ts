import { bestGroup, findTier, ringsAtOnce, type Candidate } from './candidate';
import type { Evaluation } from './evaluate';

/**
 * Selects the bidders to ask now, all at once: those that only lack a bid and could come first. A
 * bidder ordered by revenue always could; one with a fixed tier could not behind a buyer that takes
 * the call for sure. With `all` such bidders are asked too. Pure.
 */
export function selectBidders(
  { candidates, faults, facts: { first_buyer_id } }: Evaluation,
  { all }: { all: boolean },
): Candidate[] {
  const unasked = candidates.filter((_, index) => faults[index]?.reason === 'bid_not_asked');
  if (all || unasked.length === 0) return unasked;
  const available = candidates.filter((_, index) => !faults[index]);
  if (available.some(({ id }) => id === first_buyer_id)) return [];
  const best = available.reduce((tier, buyer) => Math.min(tier, toEffectiveTier(buyer)), Infinity);
  return unasked.filter(
    (candidate) =>
      isOrderedByBid(candidate) ||
      toEffectiveTier(candidate) <= best ||
      candidate.id === first_buyer_id,
  );
}

const toEffectiveTier = (candidate: Candidate): number => {
  const group = bestGroup(candidate);
  return ringsAtOnce(group) ? group.tier : findTier(candidate);
};

const isOrderedByBid = (candidate: Candidate): boolean =>
  candidate.route_by_type === 'revenue' && !ringsAtOnce(bestGroup(candidate));
