import { findRingRules } from '../../platform/carriers/carrier';
import type { Schemas } from '../../platform/contract/contract';
import type { Statements } from '../../data/db';
import { notFound } from '../../platform/errors';
import { buildBidQuestion, applyBids } from '../routing/bids';
import { evaluate, type RouteFacts } from '../routing/engine/evaluate';
import { loadRouting, type RoutingContext } from '../routing/context';
import type { PreDialCheckRequired, PreDialState } from '../routing/pre-dial';
import { NO_ORIGIN, loadRouteFacts } from '../routing/route-facts';
import type { Data } from '../../platform/tokens/lead-data';
import { findForwardingNumber, loadBids, type Bid, type Terms } from './ping-record';
import { type Candidate } from '../routing/engine/candidate';
import { type ChosenBuyers } from '../routing/engine/reserved-choice';

export interface NoBuyer {
  status: Exclude<Schemas['PingStatus'], 'accepted'>;
  message: string;
}

export interface Market {
  candidates: Candidate[];
  caps: RoutingContext['caps'];
  routingFacts: RouteFacts;
  bids: Map<number, Bid>;
  /** The company's number for forwarded calls; null if they must go to the buyer's own number. */
  number: string | null;
}

export interface Sale extends Terms {
  /** How many buyers the carrier of the installation rings at once. */
  max_legs: number;
  sub_id: string | null;
  tokens: Data;
  /** Only these buyers; all buyers of the offer if absent. */
  allowed?: readonly number[];
  /** Answers of bidders. */
  preDial: PreDialState;
}

/** A number can be called from anywhere, unlike a SIP address. */
export const isDialable = (number: string | null): number is string =>
  number !== null && /^\+\d+$/.test(number);

const STATUSES = {
  blacklisted: 'caller_number_blacklisted',
  offer_suppressed: 'caller_number_suppressed',
  offer_paused: 'offer_paused',
  traffic_source_paused: 'traffic_source_paused',
  traffic_source_cap_reached: 'traffic_source_cap_reached',
  traffic_source_concurrency_full: 'traffic_source_concurrency_full',
} as const;

/** The caps of a source are not for its sellers: dollars would reveal what buyers pay. */
const CAP_MESSAGES: Partial<Record<keyof typeof STATUSES, string>> = {
  traffic_source_cap_reached: 'a cap of the traffic source is used up',
  traffic_source_concurrency_full: 'the traffic source has as many calls in progress as it may',
};

const MESSAGES_WITHOUT_NAMES: Partial<Record<keyof typeof STATUSES, string>> = {
  offer_suppressed: "the caller's number is on a suppression list of the offer",
};

/**
 * Loads what decides who gets a seller's call, or the reason why there is no buyer; or says which
 * bidders must be asked first. All bidders that could take the call are asked: the seller sees them
 * all.
 */
export async function openMarket(
  db: Statements,
  { max_legs, sub_id, tokens, allowed, preDial, ...terms }: Sale,
  now: Date,
): Promise<Market | NoBuyer | PreDialCheckRequired> {
  const { offer_id, caller_number, traffic_source_id, show_buyer_names, may_name } = terms;
  const source = { offer_id: String(offer_id) };
  const read = await loadRouting(db, { source, number: caller_number, traffic_source_id, now });
  if (!read) throw notFound();
  const context = applyBids(selectAllowed(read, allowed), preDial.bids);
  const { facts } = context;
  const routingFacts = await loadRouteFacts(db, context, {
    now,
    caller_number,
    tokens: { ...facts.lead?.data, ...tokens },
    origin: { ...NO_ORIGIN, traffic_source_id, sub_id },
    ...(preDial.carrier && findRingRules(preDial.carrier.name, preDial.carrier)),
    max_legs,
    tried: new Set(),
    countsAgainstSource: true,
    preDial,
  });
  if (routingFacts.refused) {
    const { reason, message } = routingFacts.refused;
    const shown =
      CAP_MESSAGES[reason] ??
      (show_buyer_names ? message : (MESSAGES_WITHOUT_NAMES[reason] ?? message));
    return { status: STATUSES[reason], message: shown };
  }
  const leadId = facts.lead?.id ?? null;
  const call = {
    ...terms,
    uuid: preDial.uuid,
    number_called: null,
    lead_id: leadId,
    token_values: tokens,
  };
  const { known_bids } = context;
  const bidsRequired =
    known_bids &&
    buildBidQuestion(known_bids, evaluate(context.candidates, routingFacts), { call, all: true });
  if (bidsRequired) return bidsRequired;
  const number = await findForwardingNumber(db, { offer_id, traffic_source_id });
  const candidates = context.candidates.filter(
    (candidate) => number !== null || isDialable(candidate.number),
  );
  const ids = candidates.map(({ id }) => id);
  return {
    candidates,
    caps: context.caps,
    routingFacts,
    number,
    bids: await loadBids(db, ids, {
      terms: { offer_id, caller_number, traffic_source_id, show_buyer_names, may_name },
      now,
    }),
  };
}

const selectAllowed = <Found extends { candidates: readonly Candidate[] }>(
  context: Found,
  allowed: readonly number[] | undefined,
): Found =>
  allowed
    ? { ...context, candidates: context.candidates.filter(({ id }) => allowed.includes(id)) }
    : context;

/** The end of a hold, or that of the first bid of its buyers to expire. */
export const computeHoldEnd = (
  { bids }: Pick<Market, 'bids'>,
  { members }: Pick<ChosenBuyers, 'members'>,
  holdEnds: Date,
): Date => {
  const ends = members.flatMap(({ buyer }) => bids.get(buyer.id)?.stands_until ?? []);
  return new Date(Math.min(holdEnds.getTime(), ...ends.map((end) => end.getTime())));
};

/** Distinguishes a caller that no buyer ever takes from one that none takes now. */
export function toNoBuyer({ evaluation: { candidates, faults } }: ChosenBuyers): NoBuyer {
  // Another call has just taken the last place of the source.
  const reason = faults.find((fault) => fault !== undefined)?.reason;
  if (reason === 'traffic_source_cap_reached' || reason === 'traffic_source_concurrency_full')
    return { status: reason, message: CAP_MESSAGES[reason]! };
  const isSuppressed = faults.every((fault) => fault?.reason === 'suppressed');
  if (candidates.length > 0 && isSuppressed)
    return {
      status: 'caller_number_suppressed',
      message: "the caller's number is on a suppression list of every buyer",
    };
  return { status: 'no_buyer_available', message: 'no buyer can take the call now' };
}

export const INVALID: NoBuyer = {
  status: 'caller_number_invalid',
  message: 'caller_id cannot be a telephone number',
};
export const PAUSED: NoBuyer = { status: 'webhook_paused', message: 'the endpoint is paused' };
