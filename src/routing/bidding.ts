import { roundToCents } from '../dollars';
import type { Statements } from '../db/tenant';
import { findDestinationFault, type DestinationPolicy } from '../people/destinations';
import type { AskedCall, CallCandidates } from './candidates';
import {
  bidFault,
  suspendedFault,
  withBids,
  type BidsOfCall,
  type DecidedBid,
} from './engine/bids';
import { biddersToAsk } from './engine/bidders-to-ask';
import type { Candidate, CandidateBid } from './engine/candidate';
import { payoutOf, type PayoutTables } from './engine/payout';
import type { Fault } from './engine/reasons';
import type { RouteFacts } from './engine/route';
import type { CallToDial } from './ask-webhooks';
import type { BidQuestion } from './ask-bidders';
import { KNOWN_BIDS } from './queries/bids';
import type { Bidder } from './read-bidders';

// Real-time bidding: the bids for a call. Stored bids are read with the call. Bidders without a
// stored bid are asked like pre-dial webhooks (pre-dial-webhooks.ts): all at once, while no lock is
// held.

/** A bidder that fails this often within a minute is left out for so many seconds. */
export const BREAKER = { failures: 5, rest_seconds: 60 };

/** Bid data of a call before bidders are asked; only for calls with bidders among the buyers. */
export interface KnownBids {
  bidders: ReadonlyMap<number, Bidder>;
  /** By buyer. */
  kept: ReadonlyMap<number, CandidateBid>;
  /** Bidders that failed too often, and when they are asked again. */
  suspended: ReadonlyMap<number, Date>;
  policy: DestinationPolicy;
}

/** The answer of a bidder for one call: its bid, or the reason for having none. */
export type BidAnswer = { bid: CandidateBid } | { fault: Fault };
export type BidAnswers = ReadonlyMap<number, BidAnswer>;

/**
 * Loads the stored bids of calls; undefined for calls without bidders. Runs no statement when no
 * call has bidders.
 */
export async function readKnownBids(
  db: Pick<Statements, 'sql'>,
  calls: readonly AskedCall[],
  found: readonly CallCandidates[],
  now: Date,
): Promise<(KnownBids | undefined)[]> {
  const places = found.flatMap(({ snapshot }, place) => (snapshot.bidders.size > 0 ? place : []));
  if (places.length === 0) return [];
  const asked = places.map((place) => calls[place]!);
  const bidders = places.flatMap((place) => [...found[place]!.snapshot.bidders.keys()]);
  const rows = await db.sql(KNOWN_BIDS, {
    ...BREAKER,
    offer_ids: asked.map(({ source }) => ('offer_id' in source ? source.offer_id : null) as string),
    numbers: asked.map(({ number }) => number as number),
    buyer_ids: [...new Set(bidders)],
    now,
  });
  const known: (KnownBids | undefined)[] = [];
  for (const { place, kept, suspended, policy } of rows) {
    const { snapshot, candidates } = found[places[place - 1]!]!;
    known[places[place - 1]!] = {
      bidders: snapshot.bidders,
      kept: allowedBids(
        new Map(
          kept.map(({ buyer_id, expires_at, ...bid }) => [
            buyer_id,
            { ...bid, expires_at: new Date(expires_at) },
          ]),
        ),
        candidates,
        policy,
      ),
      policy,
      suspended: new Map(suspended.map(({ buyer_id, until }) => [buyer_id, new Date(until)])),
    };
  }
  return known;
}

/** Leaves out stored bids whose destination the company forbids by now. */
function allowedBids(
  kept: ReadonlyMap<number, CandidateBid>,
  candidates: readonly Candidate[],
  policy: DestinationPolicy,
): ReadonlyMap<number, CandidateBid> {
  if (![...kept.values()].some(({ number }) => number !== null)) return kept;
  const own = new Map(candidates.map(({ id, number }) => [id, number]));
  return new Map(
    [...kept].filter(
      ([buyer_id, { number }]) =>
        number === null || !findDestinationFault(number, policy, own.get(buyer_id)),
    ),
  );
}

export interface BidContext {
  candidates: readonly Candidate[];
  known_bids?: KnownBids | undefined;
}

/** Applies the answers of bidders to the candidates; a stored bid goes before an answer. Pure. */
export function withAnswers<Context extends BidContext>(
  context: Context,
  answers: BidAnswers | undefined,
): Context {
  if (!context.known_bids || !answers?.size) return context;
  const bids = new Map<number, CandidateBid>();
  for (const [buyer_id, answer] of answers)
    if ('bid' in answer && !context.known_bids.kept.has(buyer_id)) bids.set(buyer_id, answer.bid);
  return { ...context, candidates: withBids(context.candidates, bids) };
}

type Paid = PayoutTables & { traffic_source_id: number | null };

/** Builds the bids of a call for its decision; undefined without bidders. Pure. */
export function bidsOfCall(
  { candidates, known_bids }: BidContext,
  answers: BidAnswers | undefined,
  paid: Paid,
): BidsOfCall | undefined {
  if (!known_bids) return undefined;
  const faults = new Map<number, Fault>();
  const made: DecidedBid[] = [];
  for (const candidate of candidates) {
    const { id, bid } = candidate;
    const until = known_bids.suspended.get(id);
    const answer = answers?.get(id);
    if (bid) made.push(decidedBid(candidate, bid, { kept: !(answer && 'bid' in answer), paid }));
    else if (answer && 'fault' in answer) faults.set(id, answer.fault);
    else if (until) faults.set(id, suspendedFault(candidate, until));
    else if (bidFault(candidate, undefined) && !known_bids.bidders.has(id))
      faults.set(id, NOT_SET_UP);
  }
  made.sort((a, b) => b.bid - a.bid || a.buyer_id - b.buyer_id);
  return { made, faults };
}

/** No request creates such a buyer, but an earlier release may copy one. */
const NOT_SET_UP: Fault = {
  reason: 'bid_failed',
  message: 'the bidder has no bid_request, which says how to ask it',
};

function decidedBid(
  { id, number }: Candidate,
  { amount, duration, expires_at }: CandidateBid,
  { kept, paid: { traffic_source_id, ...tables } }: { kept: boolean; paid: Paid },
): DecidedBid {
  const due = payoutOf(tables, { traffic_source_id, answered_seconds: Infinity, revenue: amount });
  return {
    buyer_id: id,
    bid: amount,
    net_bid: roundToCents(amount - (due?.payout ?? 0)),
    number,
    duration,
    expires_at: expires_at.toISOString(),
    kept,
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
export function bidsRequired(
  { candidates, known_bids }: BidContext,
  facts: RouteFacts,
  { call, all = false }: BiddingCall,
): BidsRequired | undefined {
  if (!known_bids) return undefined;
  const asked = biddersToAsk(candidates, facts, { all }).map((candidate) => ({
    candidate,
    bidder: known_bids.bidders.get(candidate.id)!,
  }));
  if (asked.length === 0) return undefined;
  return {
    kind: 'pre_dial_check_required',
    question: {
      call,
      tokens: facts.tokens,
      bidders: asked,
      policy: known_bids.policy,
      reads_kept: all,
    },
  };
}
