import type { Db } from '../../data/db';
import {
  OFFER_WORDS,
  OPEN_CONVERSIONS,
  type OfferTerms,
  type PayingConversion,
} from './queries/caller-facts';

export type { CallFacts, OfferTerms, PayingConversion } from './queries/caller-facts';

type Connection = Pick<Db, 'sql'>;

export const NO_TERMS: OfferTerms = {
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

/** Messages and the fallback number for callers of an offer that no buyer takes. */
export type OfferWords = Pick<
  OfferTerms,
  'greeting_message' | 'fallback_message' | 'fallback_number' | 'abandoned_message'
>;

/** Undefined when the offer does not exist. */
export async function loadOfferWords(
  db: Connection,
  offerId: number,
): Promise<OfferWords | undefined> {
  return (await db.sql(OFFER_WORDS, { offer_id: offerId }))[0];
}

/** The conversions of the buyer's time frame that is open at an instant, in their order. */
export const loadConversions = async (
  db: Connection,
  buyerId: number,
  at: Date,
): Promise<PayingConversion[]> =>
  (await db.sql(OPEN_CONVERSIONS, { buyer_id: buyerId, at }))[0]!.conversions;
