import type { Db } from '../db/tenant';
import {
  CALL_FACTS,
  CALLER_FACTS,
  OFFER_WORDS,
  OPEN_CONVERSIONS,
  type CallFacts,
  type OfferTerms,
  type PayingConversion,
} from './queries/caller-facts';

export type { CallFacts, OfferTerms, PayingConversion } from './queries/caller-facts';
/** For statements of other rooms. */
export { OPEN_CONVERSIONS_JSON } from './queries/caller-facts';

type Connection = Pick<Db, 'sql'>;

/** The terms of a call that has no offer. */
const NO_TERMS: OfferTerms = {
  id: null,
  name: '',
  paused: false,
  greeting_message: null,
  fallback_type: 'hang_up',
  fallback_message: null,
  fallback_number: null,
  abandoned_message: null,
  callback_behavior: 'route_as_new',
  skip_duplicates: false,
  spacing_seconds: 0,
  payouts: [],
};

export interface CallToLoad {
  offer_id: bigint | number | string | null;
  /** E.164 without the plus; null when it is withheld. */
  number: number | null;
  now: Date;
}

/**
 * What a caller's call for an offer depends on. Undefined when there is no such offer. A call
 * without an offer has no lead, no lists of an offer and no previous buyer.
 */
export async function loadCallFacts(
  db: Connection,
  { offer_id, ...caller }: CallToLoad,
): Promise<CallFacts | undefined> {
  if (offer_id !== null) return (await db.sql(CALL_FACTS, { offer_id, ...caller }))[0];
  const [facts] = await db.sql(CALLER_FACTS, caller);
  return {
    ...facts!,
    offer: NO_TERMS,
    blocked_for_offer: false,
    suppressed_by: [],
    lead: null,
    previous_buyer_id: null,
    paid: [],
  };
}

/** What callers of an offer hear, or are put through to, when there is no buyer to talk to. */
export type OfferWords = Pick<
  OfferTerms,
  'greeting_message' | 'fallback_message' | 'fallback_number' | 'abandoned_message'
>;

/** Undefined when there is no such offer. */
export async function readOfferWords(
  db: Connection,
  offer_id: number,
): Promise<OfferWords | undefined> {
  return (await db.sql(OFFER_WORDS, { offer_id }))[0];
}

/** The conversions of a buyer's time frame that is open at an instant, in their order. */
export const loadConversions = async (
  db: Connection,
  buyer_id: number,
  at: Date,
): Promise<PayingConversion[]> =>
  (await db.sql(OPEN_CONVERSIONS, { buyer_id, at }))[0]!.conversions;
