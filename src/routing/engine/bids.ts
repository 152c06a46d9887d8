import { copyCandidate, type Candidate, type CandidateBid } from './candidate';
import { localTime, type Fault } from './reasons';

// Real-time bidding. A bid is applied to a copy of the candidate, which then is ordered, capped and
// dialed like any other buyer; a bidder without a bid has a reason.

/** A bid as a decision shows it. */
export interface DecidedBid {
  buyer_id: number;
  /** Dollars. */
  bid: number;
  /** What remains of it after the payout to the source; null for those who must not know that. */
  net_bid: number | null;
  number: string | null;
  /** Seconds after which it is paid. */
  duration: number;
  expires_at: string;
  /** Whether it was kept from an earlier question. */
  kept: boolean;
}

/** What is known of the bids for a call. */
export interface BidsOfCall {
  /** The highest first. */
  made: DecidedBid[];
  /** Why bidders have no bid, where something is known of that. */
  faults: ReadonlyMap<number, Fault>;
}

/** The candidates with these bids, by buyer: what a bidder pays for the call, and its number. */
export function withBids(
  candidates: readonly Candidate[],
  bids: ReadonlyMap<number, CandidateBid>,
): readonly Candidate[] {
  if (bids.size === 0) return candidates;
  return candidates.map((candidate) => {
    const bid = bids.get(candidate.id);
    return bid && isBidder(candidate) ? copyCandidate(candidate, { bid }) : candidate;
  });
}

/** Whether a buyer is asked for a bid before it gets a call. */
export const isBidder = ({ buyer_type }: Pick<Candidate, 'buyer_type'>): boolean =>
  buyer_type === 'rtb';

const NOT_ASKED: Fault = {
  reason: 'bid_not_asked',
  message: 'the bidder was not asked, and no bid of it for this caller is kept',
};

/** Why a bidder has no bid; undefined for one that has, and for other buyers. */
export const bidFault = (
  candidate: Candidate,
  bids: Pick<BidsOfCall, 'faults'> | undefined,
): Fault | undefined =>
  isBidder(candidate) && candidate.bid === null
    ? (bids?.faults.get(candidate.id) ?? NOT_ASKED)
    : undefined;

/** That a bidder has failed so often that it is not asked until an instant. */
export const suspendedFault = ({ zone }: Candidate, until: Date): Fault => ({
  reason: 'bidder_suspended',
  message: `the bidder failed to answer again and again: asked again from ${localTime(until, zone)}`,
  details: { resumes_at: until.toISOString() },
});

/** That a bidder does not want a call. */
export const declinedFault = (duration_ms: number): Fault => ({
  reason: 'bid_declined',
  message: 'the bidder does not want the call',
  details: { duration_ms },
});

/** That a bidder did not answer in time, or not as agreed. */
export const failedFault = (
  { fault, code }: { fault: string; code: number | null },
  duration_ms: number,
): Fault => ({
  reason: 'bid_failed',
  message: `the bidder did not answer as agreed: ${fault}`,
  details: { fault, code, duration_ms },
});
