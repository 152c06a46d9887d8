import type { Statements } from '../../data/db';
import type { TokenSource } from '../../platform/tokens/substitute';
import { roundToCents } from '../../platform/dollars';
import type { RequestTemplate } from '../../platform/egress/request-template';
import type { Secrets } from '../../platform/egress/standard-webhooks';
import { findDestinationFault, type DestinationPolicy } from '../people/destinations';
import {
  bidFault,
  suspendedFault,
  copyWithBids,
  type CallBids,
  type DecidedBid,
} from './engine/bids';
import { selectBidders } from './engine/bidders-to-ask';
import type { Candidate, CandidateBid } from './engine/candidate';
import { computePayout, type PayoutTables } from '../money/engine/payout';
import type { Fault } from './engine/reasons';
import type { Evaluation } from './engine/evaluate';
import type { CallToDial } from './ask-webhooks';
import { BIDDERS, KNOWN_BIDS } from './queries/bids';
import type { BidPaths } from './read-bid';

// Real-time bidding: the bids for a call. Stored bids are read with the call. Bidders without a
// stored bid are asked like pre-dial webhooks (pre-dial.ts): all at once, while no lock is held.

/** A bidder that fails this often within a minute is left out for so many seconds. */
const BREAKER = { failures: 5, rest_seconds: 60 };

export interface Bidder extends Secrets {
  id: number;
  request: RequestTemplate;
  paths: BidPaths;
  timeout_ms: number;
}

const NO_BIDDERS: ReadonlyMap<number, Bidder> = new Map();

/** By id. Bidders without a `bid_request` are left out. */
export async function loadBidders(
  db: Pick<Statements, 'sql'>,
  buyerIds: readonly number[],
): Promise<ReadonlyMap<number, Bidder>> {
  if (buyerIds.length === 0) return NO_BIDDERS;
  const rows = await db.sql(BIDDERS, { buyer_ids: buyerIds });
  return new Map(
    rows.map(({ request, paths, ...row }) => [
      row.id,
      { ...row, request: toTemplate(request), paths: paths ?? {} },
    ]),
  );
}

const toTemplate = ({
  url,
  method = 'post',
  headers = {},
  body,
}: Partial<RequestTemplate> & { url: string }): RequestTemplate => ({
  url,
  method,
  headers,
  body: body?.trim() ? body : null,
});

/** Bid data of a call before bidders are asked; only for calls with bidders among the buyers. */
export interface KnownBids {
  bidders: ReadonlyMap<number, Bidder>;
  /** By buyer. */
  storedBids: ReadonlyMap<number, CandidateBid>;
  /** Bidders that failed too often, and when they are asked again. */
  suspended: ReadonlyMap<number, Date>;
  policy: DestinationPolicy;
}

/** The answer of a bidder for one call: its bid, or the reason for having none. */
export type BidAnswer = { bid: CandidateBid } | { fault: Fault };

export interface BidQuestion {
  call: CallToDial;
  tokens: TokenSource;
  bidders: { candidate: Candidate; bidder: Bidder }[];
  policy: DestinationPolicy;
  /** Set when the next step reads these bids from the database. */
  needsStoredBids: boolean;
}

export type BidAnswers = ReadonlyMap<number, BidAnswer>;

interface CallForBids {
  /** Null for a call to a number that forwards to a buyer. */
  offer_id: string | null;
  number: number | null;
  candidates: readonly Candidate[];
  bidders: KnownBids['bidders'];
}

/**
 * Loads the stored bids of those calls that have bidders. Runs no statement when no call has
 * bidders.
 */
export async function loadKnownBids<Call extends CallForBids>(
  db: Pick<Statements, 'sql'>,
  calls: readonly Call[],
  now: Date,
): Promise<ReadonlyMap<Call, KnownBids>> {
  const biddingCalls = calls.filter(({ bidders }) => bidders.size > 0);
  if (biddingCalls.length === 0) return new Map();
  const rows = await db.sql(KNOWN_BIDS, {
    ...BREAKER,
    offer_ids: biddingCalls.map(({ offer_id }) => offer_id as string),
    numbers: biddingCalls.map(({ number }) => number as number),
    buyer_ids: [...new Set(biddingCalls.flatMap(({ bidders }) => [...bidders.keys()]))],
    now,
  });
  return new Map(
    rows.map(({ index: position, kept: bidRows, suspended, policy }) => {
      const call = biddingCalls[position - 1]!;
      const storedBids = new Map(
        bidRows.map(({ buyer_id, expires_at, ...bid }) => [
          buyer_id,
          { ...bid, expires_at: new Date(expires_at) },
        ]),
      );
      const knownBids = {
        bidders: call.bidders,
        storedBids: filterAllowedBids(storedBids, call.candidates, policy),
        policy,
        suspended: new Map(suspended.map(({ buyer_id, until }) => [buyer_id, new Date(until)])),
      };
      return [call, knownBids];
    }),
  );
}

/** Leaves out stored bids whose destination the company forbids by now. */
function filterAllowedBids(
  storedBids: ReadonlyMap<number, CandidateBid>,
  candidates: readonly Candidate[],
  policy: DestinationPolicy,
): ReadonlyMap<number, CandidateBid> {
  if (![...storedBids.values()].some(({ number }) => number !== null)) return storedBids;
  const ownNumbers = new Map(candidates.map(({ id, number }) => [id, number]));
  return new Map(
    [...storedBids].filter(
      ([buyerId, { number }]) =>
        number === null || !findDestinationFault(number, policy, ownNumbers.get(buyerId)),
    ),
  );
}

export interface BidContext {
  candidates: readonly Candidate[];
  known_bids?: KnownBids | undefined;
}

/** Applies the answers of bidders to the candidates; a stored bid goes before an answer. Pure. */
export function applyBids<Context extends BidContext>(
  context: Context,
  answers: BidAnswers | undefined,
): Context {
  if (!context.known_bids || !answers?.size) return context;
  const bids = new Map<number, CandidateBid>();
  for (const [buyerId, answer] of answers)
    if ('bid' in answer && !context.known_bids.storedBids.has(buyerId))
      bids.set(buyerId, answer.bid);
  return { ...context, candidates: copyWithBids(context.candidates, bids) };
}

type PayoutContext = PayoutTables & { traffic_source_id: number | null };

/** Builds the bids of a call for its decision; undefined without bidders. Pure. */
export function buildCallBids(
  { candidates, known_bids }: BidContext,
  answers: BidAnswers | undefined,
  paid: PayoutContext,
): CallBids | undefined {
  if (!known_bids) return undefined;
  const faults = new Map<number, Fault>();
  const decidedBids: DecidedBid[] = [];
  for (const candidate of candidates) {
    const { id, bid } = candidate;
    const until = known_bids.suspended.get(id);
    const answer = answers?.get(id);
    if (bid)
      decidedBids.push(
        toDecidedBid(candidate, bid, { isKept: !(answer && 'bid' in answer), paid }),
      );
    else if (answer && 'fault' in answer) faults.set(id, answer.fault);
    else if (until) faults.set(id, suspendedFault(candidate, until));
    else if (bidFault(candidate, undefined) && !known_bids.bidders.has(id))
      faults.set(id, NOT_SET_UP);
  }
  decidedBids.sort((a, b) => b.bid - a.bid || a.buyer_id - b.buyer_id);
  return { decidedBids, faults };
}

/** No request creates such a buyer, but an earlier release may copy one. */
const NOT_SET_UP: Fault = {
  reason: 'bid_failed',
  message: 'the bidder has no bid_request, which says how to ask it',
};

function toDecidedBid(
  { id, number }: Candidate,
  { amount, duration, expires_at }: CandidateBid,
  { isKept, paid: { traffic_source_id, ...tables } }: { isKept: boolean; paid: PayoutContext },
): DecidedBid {
  const due = computePayout(tables, {
    traffic_source_id,
    answered_seconds: Infinity,
    revenue: amount,
  });
  return {
    buyer_id: id,
    bid: amount,
    net_bid: roundToCents(amount - (due?.payout ?? 0)),
    number,
    duration,
    expires_at: expires_at.toISOString(),
    kept: isKept,
  };
}

export interface BidsRequired {
  kind: 'pre_dial_check_required';
  question: BidQuestion;
}

export interface BiddingCall {
  call: CallToDial;
  /** Includes bidders that cannot come first. */
  all?: boolean;
}

/**
 * The question for the bidders that must be asked before the decision; undefined when there are
 * none.
 */
export function buildBidQuestion(
  knownBids: KnownBids,
  evaluation: Evaluation,
  { call, all = false }: BiddingCall,
): BidsRequired | undefined {
  const bidders = selectBidders(evaluation, { all }).map((candidate) => ({
    candidate,
    bidder: knownBids.bidders.get(candidate.id)!,
  }));
  if (bidders.length === 0) return undefined;
  return {
    kind: 'pre_dial_check_required',
    question: {
      call,
      tokens: evaluation.facts.tokens,
      bidders,
      policy: knownBids.policy,
      needsStoredBids: all,
    },
  };
}
