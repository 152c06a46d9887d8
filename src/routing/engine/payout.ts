/** What an offer pays the traffic source of a call. */
export interface PayoutTerms {
  /** Null or absent: any source. */
  traffic_source_id?: number | null;
  payout_type: 'fixed' | 'percentage';
  /** Dollars, or percent of what the buyer pays. */
  amount: number;
  paid_for?: 'buyer_conversion' | 'duration';
  /** Seconds. */
  duration?: number;
  /** Seconds in which the same caller is paid for only once. */
  duplicate_timeframe?: number;
}

export interface PaidCall {
  traffic_source_id: number | null;
  /** Seconds since the buyer took the call. */
  answered_seconds: number;
  /** Dollars the buyer pays; undefined while it pays nothing. */
  revenue: number | undefined;
}

/**
 * The first terms that a call meets, and the dollars that they pay; undefined when there are none,
 * or the call has no source. Pure.
 */
export function payoutOf(
  terms: readonly PayoutTerms[],
  { traffic_source_id, answered_seconds, revenue }: PaidCall,
): { terms: PayoutTerms; payout: number } | undefined {
  if (traffic_source_id === null) return undefined;
  const met = terms.find(
    ({ traffic_source_id: source, paid_for = 'buyer_conversion', duration = 0 }) => {
      if (source !== undefined && source !== null && source !== traffic_source_id) return false;
      return paid_for === 'duration' ? answered_seconds >= duration : revenue !== undefined;
    },
  );
  if (!met) return undefined;
  const payout = met.payout_type === 'fixed' ? met.amount : ((revenue ?? 0) * met.amount) / 100;
  return { terms: met, payout: cents(payout) };
}

/** Dollars to the cent. */
export const cents = (dollars: number): number => Math.round(dollars * 100) / 100;
