import { roundToCents } from '../../../platform/dollars';

/** A payout of an offer to the traffic source of a call. */
export interface PayoutTerms {
  /** Null or absent: any source. */
  traffic_source_id?: number | null;
  payout_type: 'fixed' | 'percentage';
  /** Dollars, or percent of the revenue. */
  amount: number;
  paid_for?: 'buyer_conversion' | 'duration';
  /** Seconds. */
  duration?: number;
  /** Seconds in which a caller is paid for only once. */
  duplicate_timeframe?: number;
}

export interface PayoutTables {
  /** Terms of the offer. */
  payouts: readonly PayoutTerms[];
  /** Terms of the source, used when the offer has none for it. */
  source_payouts: readonly PayoutTerms[];
}

export interface PaidCall {
  traffic_source_id: number | null;
  /** Seconds since the buyer took the call. */
  answered_seconds: number;
  /** Dollars; undefined while the buyer pays nothing. */
  revenue: number | undefined;
}

/**
 * The first terms that a call meets (of its offer, or else of its source) and the dollars that they
 * pay; undefined when there are none, or the call has no source. Pure.
 */
export function computePayout(
  { payouts, source_payouts }: PayoutTables,
  { traffic_source_id, answered_seconds, revenue }: PaidCall,
): { terms: PayoutTerms; payout: number } | undefined {
  if (traffic_source_id === null) return undefined;
  const ofOffer = payouts.filter(
    ({ traffic_source_id: source }) => (source ?? traffic_source_id) === traffic_source_id,
  );
  const terms = ofOffer.length > 0 ? ofOffer : source_payouts;
  const met = terms.find(({ paid_for = 'buyer_conversion', duration = 0 }) =>
    paid_for === 'duration' ? answered_seconds >= duration : revenue !== undefined,
  );
  if (!met) return undefined;
  const payout = met.payout_type === 'fixed' ? met.amount : ((revenue ?? 0) * met.amount) / 100;
  return { terms: met, payout: cents(payout) };
}

/** Rounded to the cent. */
export const cents = (dollars: number): number => roundToCents(dollars);
