import type { Schemas } from '../contract';
import type { Statements } from '../db/tenant';
import { notFound } from '../errors';
import { bidsRequired, withAnswers } from '../routing/bidding';
import type { RouteFacts } from '../routing/engine/route';
import { loadRouting, type RoutingContext } from '../routing/load-routing';
import type { PreDialCheckRequired, PreDialVetoes } from '../routing/pre-dial-webhooks';
import { NO_ORIGIN, routeFacts } from '../routing/route-facts';
import { newSeed } from '../routing/seed';
import type { Data } from '../tokens/lead-data';
import { forwardingNumber, loadBids, type Bid, type Terms } from './ping-record';
import { type Candidate } from '../routing/engine/candidate';
import { type Chosen } from '../routing/engine/reserved-choice';

export interface NoBuyer {
  status: Exclude<Schemas['PingStatus'], 'accepted'>;
  message: string;
}

export interface Market {
  candidates: Candidate[];
  caps: RoutingContext['caps'];
  asked: RouteFacts;
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
  vetoes: PreDialVetoes;
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
const OF_CAPS: Partial<Record<keyof typeof STATUSES, string>> = {
  traffic_source_cap_reached: 'a cap of the traffic source is used up',
  traffic_source_concurrency_full: 'the traffic source has as many calls in progress as it may',
};

const UNNAMED: Partial<Record<keyof typeof STATUSES, string>> = {
  offer_suppressed: "the caller's number is on a suppression list of the offer",
};

/**
 * Loads what decides who gets a seller's call, or the reason why there is no buyer; or says which
 * bidders must be asked first. All bidders that could take the call are asked: the seller sees them
 * all.
 */
export async function openMarket(
  db: Statements,
  { max_legs, sub_id, tokens, allowed, vetoes, ...terms }: Sale,
  now: Date,
): Promise<Market | NoBuyer | PreDialCheckRequired> {
  const { offer_id, caller_number, traffic_source_id, show_buyer_names, may_name } = terms;
  const source = { offer_id: String(offer_id) };
  const read = await loadRouting(db, { source, number: caller_number, traffic_source_id, now });
  if (!read) throw notFound();
  const found = withAnswers(withoutOthers(read, allowed), vetoes.bids);
  const { facts } = found;
  const asked = await routeFacts(db, found, {
    now,
    seed: newSeed(),
    caller_number,
    tokens: { ...facts.lead?.data, ...tokens },
    origin: { ...NO_ORIGIN, traffic_source_id, sub_id },
    max_legs,
    can_whisper: vetoes.carrier?.can_whisper,
    tried: new Set(),
    comes_in: true,
    vetoes,
  });
  if (asked.refused) {
    const { reason, message } = asked.refused;
    const shown = OF_CAPS[reason] ?? (show_buyer_names ? message : (UNNAMED[reason] ?? message));
    return { status: STATUSES[reason], message: shown };
  }
  const lead_id = facts.lead?.id ?? null;
  const call = { ...terms, uuid: vetoes.uuid, number_called: null, lead_id, token_values: tokens };
  const bids_required = bidsRequired(found, asked, { call, all: true });
  if (bids_required) return bids_required;
  const number = await forwardingNumber(db, { offer_id, traffic_source_id });
  const candidates = found.candidates.filter(
    (candidate) => number !== null || isDialable(candidate.number),
  );
  const ids = candidates.map(({ id }) => id);
  return {
    candidates,
    caps: found.caps,
    asked,
    number,
    bids: await loadBids(db, ids, {
      terms: { offer_id, caller_number, traffic_source_id, show_buyer_names, may_name },
      now,
    }),
  };
}

const withoutOthers = <Found extends { candidates: readonly Candidate[] }>(
  found: Found,
  allowed: readonly number[] | undefined,
): Found =>
  allowed
    ? { ...found, candidates: found.candidates.filter(({ id }) => allowed.includes(id)) }
    : found;

/** The end of a hold, or that of the first bid of its buyers to expire. */
export const endOfHold = (
  { bids }: Pick<Market, 'bids'>,
  { members }: Pick<Chosen, 'members'>,
  hold_ends: Date,
): Date => {
  const ends = members.flatMap(({ buyer }) => bids.get(buyer.id)?.stands_until ?? []);
  return new Date(Math.min(hold_ends.getTime(), ...ends.map((end) => end.getTime())));
};

/** Distinguishes a caller that no buyer ever takes from one that none takes now. */
export function noBuyerOf({ judged: { candidates, faults } }: Chosen): NoBuyer {
  // Another call has just taken the last place of the source.
  const [{ reason } = {}] = faults.values();
  if (reason === 'traffic_source_cap_reached' || reason === 'traffic_source_concurrency_full')
    return { status: reason, message: OF_CAPS[reason]! };
  const is_suppressed = candidates.every((_, n) => faults.get(n)?.reason === 'suppressed');
  if (candidates.length > 0 && is_suppressed)
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
