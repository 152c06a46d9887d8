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

// Real-time bidding: what bids a call has. Kept bids are read with the call; bidders that have none
// are asked as pre-dial webhooks are (pre-dial-webhooks.ts), all at once and without any lock held.

/** Failures within a minute after which a bidder is left out, and for how long. */
export const BREAKER = { failures: 5, rest_seconds: 60 };

/** What is known of bids for a call before anybody is asked; only where buyers are bidders. */
export interface KnownBids {
  bidders: ReadonlyMap<number, Bidder>;
  /** By buyer. */
  kept: ReadonlyMap<number, CandidateBid>;
  /** Until when bidders are left out that failed too often. */
  suspended: ReadonlyMap<number, Date>;
  /** Where bids may send the call. */
  policy: DestinationPolicy;
}

/** What a bidder answered for one call: its bid, or why it has none. */
export type BidAnswer = { bid: CandidateBid } | { fault: Fault };
export type BidAnswers = ReadonlyMap<number, BidAnswer>;

/**
 * What is known of bids for some calls; undefined for those none of whose buyers bids. Reads
 * nothing where no call has bidders.
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

/** Kept bids without those that lead where calls must not go, as the company says by now. */
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

/** A call with what is known of its bids. */
export interface BidContext {
  candidates: readonly Candidate[];
  known_bids?: KnownBids | undefined;
}

/** The same call with what bidders have answered; a kept bid counts before an answer. Pure. */
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

/** What the payout for a call depends on. */
type Paid = PayoutTables & { traffic_source_id: number | null };

/** The bids of a call as its decision needs and shows them; undefined without bidders. Pure. */
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

/** A request cannot make such a buyer, but a release before this one may copy one. */
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

/** That bidders must be asked, before a call is decided. */
export interface BidsRequired {
  kind: 'pre_dial_check_required';
  question: BidQuestion;
}

/** A call for which bidders can be asked. */
export interface BiddingCall {
  call: CallToDial;
  /** Also those that cannot come first. */
  all?: boolean;
}

/** The bidders that must be asked before the candidates are decided about; undefined for none. */
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
