import type { Schemas } from '../contract';
import type { Statements } from '../db/tenant';
import { notFound } from '../errors';
import type { RouteFacts } from '../routing/engine/route';
import { loadRouting } from '../routing/load-routing';
import { NO_ORIGIN, routeFacts } from '../routing/route-facts';
import { newSeed } from '../routing/seed';
import type { Data } from '../tokens/lead-data';
import { forwardingNumber, loadBids, type Bid, type Terms } from './ping-record';
import { type Candidate } from '../routing/engine/candidate';
import { type Chosen } from '../routing/engine/reserved-choice';

/** Why no buyer is available, as sellers read it. */
export interface NoBuyer {
  status: Exclude<Schemas['PingStatus'], 'accepted'>;
  message: string;
}

/** The buyers to which a call could be sold, and what decides among them. */
export interface Market {
  candidates: Candidate[];
  asked: RouteFacts;
  bids: Map<number, Bid>;
  /** The company's number for forwarded calls; null if they must go to the buyer's own number. */
  number: string | null;
}

/** A call that a seller offers. */
export interface Sale extends Terms {
  caller_number: number;
  /** How many buyers the carrier of the installation rings at once. */
  max_legs: number;
  sub_id: string | null;
  tokens: Data;
  /** Only these buyers; all buyers of the offer if absent. */
  allowed?: readonly number[];
}

/** Whether calls can be forwarded to a number from anywhere, unlike to a SIP address. */
export const isDialable = (number: string | null): number is string =>
  number !== null && /^\+\d+$/.test(number);

const STATUSES = {
  blacklisted: 'caller_number_blacklisted',
  offer_suppressed: 'caller_number_suppressed',
  offer_paused: 'offer_paused',
  traffic_source_paused: 'traffic_source_paused',
} as const;

/** Messages without the names of lists. */
const UNNAMED: Partial<Record<keyof typeof STATUSES, string>> = {
  offer_suppressed: "the caller's number is on a suppression list of the offer",
};

/** Loads what decides who gets a seller's call, or why there is no buyer. */
export async function openMarket(
  db: Statements,
  { caller_number, max_legs, sub_id, tokens, allowed, ...terms }: Sale,
  now: Date,
): Promise<Market | NoBuyer> {
  const { offer_id, traffic_source_id, show_buyer_names, may_name } = terms;
  const source = { offer_id: String(offer_id) };
  const found = await loadRouting(db, { source, number: caller_number, traffic_source_id, now });
  if (!found) throw notFound();
  const { facts } = found;
  const asked = await routeFacts(db, found, {
    now,
    seed: newSeed(),
    caller_number,
    tokens: { ...facts.lead?.data, ...tokens },
    origin: { ...NO_ORIGIN, traffic_source_id, sub_id },
    max_legs,
    tried: new Set(),
  });
  if (asked.refused) {
    const { reason, message } = asked.refused;
    const shown = show_buyer_names ? message : (UNNAMED[reason] ?? message);
    return { status: STATUSES[reason], message: shown };
  }
  const number = await forwardingNumber(db, { offer_id, traffic_source_id });
  const candidates = found.candidates.filter(
    (candidate) =>
      (allowed?.includes(candidate.id) ?? true) &&
      (number !== null || isDialable(candidate.number)),
  );
  const ids = candidates.map(({ id }) => id);
  return {
    candidates,
    asked,
    number,
    bids: await loadBids(db, ids, {
      terms: { offer_id, traffic_source_id, show_buyer_names, may_name },
      now,
    }),
  };
}

/** No buyer is available: for this caller never, or just not now. */
export function noBuyerOf({ judged: { candidates, faults } }: Chosen): NoBuyer {
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
