import { copyCandidate, type Candidate, type CandidateBid } from './candidate';
import { localTime, type Fault } from './reasons';

// Real-time bidding. A bid is applied to a copy of the candidate, which is then ordered, capped and
// dialed like any other buyer; a bidder without a bid has a reason.

/** A bid in the form that decisions show. */
export interface DecidedBid {
  buyer_id: number;
  /** Dollars. */
  bid: number;
  /** The bid minus the payout to the source; null for readers that must not see payouts. */
  net_bid: number | null;
  number: string | null;
  /** Seconds after which the bid is paid. */
  duration: number;
  expires_at: string;
  /** True for a bid stored for an earlier call or question. */
  kept: boolean;
}

export interface CallBids {
  /** The highest first. */
  decidedBids: DecidedBid[];
  /** The reasons of bidders without a bid, where known. */
  faults: ReadonlyMap<number, Fault>;
}

/** Applies bids, by buyer, to the candidates: the revenue of the call, and the number to dial. */
export function copyWithBids(
  candidates: readonly Candidate[],
  bids: ReadonlyMap<number, CandidateBid>,
): readonly Candidate[] {
  if (bids.size === 0) return candidates;
  return candidates.map((candidate) => {
    const bid = bids.get(candidate.id);
    return bid && isBidder(candidate) ? copyCandidate(candidate, { bid }) : candidate;
  });
}

/** A bidder is asked for a bid before it gets a call. */
export const isBidder = ({ buyer_type }: Pick<Candidate, 'buyer_type'>): boolean =>
  buyer_type === 'rtb';

const NOT_ASKED: Fault = {
  reason: 'bid_not_asked',
  message: 'the bidder was not asked, and no bid of it for this caller is kept',
};

/** The reason of a bidder without a bid; undefined for a bidder with one, and for other buyers. */
export const bidFault = (
  candidate: Candidate,
  bids: Pick<CallBids, 'faults'> | undefined,
): Fault | undefined =>
  isBidder(candidate) && candidate.bid === null
    ? (bids?.faults.get(candidate.id) ?? NOT_ASKED)
    : undefined;

export const suspendedFault = ({ zone }: Candidate, until: Date): Fault => ({
  reason: 'bidder_suspended',
  message:
    'the bidder failed to answer again and again: ' + `asked again from ${localTime(until, zone)}`,
  details: { resumes_at: until.toISOString() },
});

export const declinedFault = (durationMs: number): Fault => ({
  reason: 'bid_declined',
  message: 'the bidder does not want the call',
  details: { duration_ms: durationMs },
});

/** The bidder did not answer in time, or its answer was invalid. */
export const failedFault = (
  { fault, code }: { fault: string; code: number | null },
  durationMs: number,
): Fault => ({
  reason: 'bid_failed',
  message: `the bidder did not answer as agreed: ${fault}`,
  details: { fault, code, duration_ms: durationMs },
});
