import type { Statements } from '../../data/db';
import type { PayingConversion } from '../money/load-conversions';
import { toOrigin, type CallOrigin } from '../routing/route-facts';
import { combineNeeds } from '../../platform/tokens/filter-needs';
import { passesFilters } from '../../platform/tokens/filters';
import type { TokenSource } from '../../platform/tokens/substitute';
import { callTokens } from '../../platform/tokens/system';
import {
  pickApplicable,
  type CheckedConversion,
  type UnmetCondition,
} from '../money/engine/explain-unbilled';
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

interface Talk {
  call: FilteredCall;
  /** Since the buyer took the call. */
  answered_seconds: number;
}

/** The first conversion that a call meets after this many seconds with the buyer. */
export const findApplicableConversion = async (
  db: Pick<Statements, 'sql' | 'company_id'>,
  conversions: readonly PayingConversion[],
  talk: Talk,
): Promise<PayingConversion | undefined> =>
  pickApplicable(await checkConversions(db, conversions, talk));

/** The conversions of a buyer in their order, each with the condition that a call does not meet. */
export async function checkConversions(
  db: Pick<Statements, 'sql' | 'company_id'>,
  conversions: readonly PayingConversion[],
  talk: Talk,
): Promise<CheckedConversion[]> {
  const durations = conversions.map((conversion) => checkDuration(conversion, talk));
  const lasted = conversions.filter((_, index) => !durations[index]);
  if (lasted.length === 0)
    return conversions.map((conversion, index) => ({ conversion, unmet: durations[index] }));
  const { call } = talk;
  const { caller_number, traffic_source_id, token_values } = call;
  const callerId = caller_number === null ? '' : `+${caller_number}`;
  const tokens = callTokens(token_values, {
    caller_id: callerId,
    ...toOrigin(call, caller_number),
  });
  const needs = combineNeeds(lasted.map((conversion) => conversion.token_values));
  await lookUpForFilters(db.sql, [{ company_id: db.company_id, tokens, needs, traffic_source_id }]);
  return conversions.map((conversion, index) => ({
    conversion,
    unmet: durations[index] ?? checkFilters(conversion, tokens),
  }));
}

function checkDuration(
  { conversion_type, duration }: PayingConversion,
  { answered_seconds }: Talk,
): UnmetCondition | undefined {
  if (conversion_type !== 'duration') return { reason: 'not_reported' };
  return answered_seconds < duration ? { reason: 'too_short', answered_seconds } : undefined;
}

function checkFilters(
  { token_values }: PayingConversion,
  tokens: TokenSource,
): UnmetCondition | undefined {
  const filter = token_values.find((text) => !passesFilters([text], tokens));
  return filter === undefined ? undefined : { reason: 'filter_unmet', filter };
}
