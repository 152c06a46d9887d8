import type { Statements } from '../../data/db';
import type { PayingConversion } from '../money/load-conversions';
import { toOrigin, type CallOrigin } from '../routing/route-facts';
import { combineNeeds } from '../../platform/tokens/filter-needs';
import { passesFilters } from '../../platform/tokens/filters';
import { callTokens } from '../../platform/tokens/system';
import { lookUpForFilters } from '../value-lists/look-up';

/** A bid for a call, in dollars, and the seconds after which the buyer pays it. */
export interface BidOfAttempt {
  amount: number;
  duration: number;
}

/**
 * A bid counts as a conversion without a duplicate time frame: the buyer pays for this call,
 * whatever it paid before.
 */
export const toBidConversion = ({ amount, duration }: BidOfAttempt): PayingConversion => ({
  id: 0,
  name: 'Bid',
  conversion_type: 'duration',
  duration,
  revenue: amount,
  duplicate_timeframe: 0,
  token_values: [],
  attribution_token_values: [],
});

/** The filters of conversions look at it. */
export interface FilteredCall extends CallOrigin {
  caller_number: number | null;
  token_values: Record<string, unknown>;
}

/** The first conversion that a call meets after this many seconds with the buyer. */
export async function findApplicableConversion(
  db: Pick<Statements, 'sql' | 'company_id'>,
  conversions: readonly PayingConversion[],
  { call, answered_seconds }: { call: FilteredCall; answered_seconds: number },
): Promise<PayingConversion | undefined> {
  const lasted = conversions.filter(
    ({ conversion_type, duration }) =>
      conversion_type === 'duration' && answered_seconds >= duration,
  );
  if (lasted.length === 0) return undefined;
  const { caller_number, traffic_source_id, token_values } = call;
  const callerId = caller_number === null ? '' : `+${caller_number}`;
  const tokens = callTokens(token_values, {
    caller_id: callerId,
    ...toOrigin(call, caller_number),
  });
  const needs = combineNeeds(lasted.map((conversion) => conversion.token_values));
  await lookUpForFilters(db.sql, [{ company_id: db.company_id, tokens, needs, traffic_source_id }]);
  return lasted.find((conversion) => passesFilters(conversion.token_values, tokens));
}
