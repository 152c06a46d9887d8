import type { Usage } from '../caps/caps';
import { recordUsage } from '../caps/record-usage';
import type { Statements } from '../../data/db';
import { loadConversions, type PayingConversion } from '../money/load-conversions';
import { computePayout } from '../money/engine/payout';
import { toOrigin } from '../routing/route-facts';
import { combineNeeds } from '../../platform/tokens/filter-needs';
import { passesFilters } from '../../platform/tokens/filters';
import { callTokens } from '../../platform/tokens/system';
import { lookUpForFilters } from '../value-lists/look-up';
import { addPayout, type CapsOfCall, type DialedBuyer } from './change-call';
import { uncountSetRevenue } from './counted-dollars';
import {
  toBidConversion,
  decideDollars,
  decidePayment,
  type BidOfAttempt,
  type ConvertibleCall,
  type Dollars,
  type PaidBefore,
} from './decide-dollars';
import { READ_CONVERTIBLE_CALL } from './queries/conversions';
import { recordChange, type Change, type RecordResult } from './record-change';

export interface ConversionRequest {
  call_id: number;
  buyer_id: number;
  /** Since the buyer took the call. */
  answered_seconds: number;
  now: Date;
  /** Set when a user reports that the buyer pays: this amount, or that of its conversion. */
  reported?: { revenue?: number | undefined };
}

/**
 * Makes the buyer pay for the call if one of its conversions applies (the first that does), and
 * pays the source of the call what the offer says. Each happens once per call, however often this
 * is called. Returns whether the buyer pays, from now on or already before. The call is locked by
 * the caller.
 */
export async function convertCall(
  db: Statements,
  { call_id, buyer_id, answered_seconds, now, reported }: ConversionRequest,
): Promise<boolean> {
  const [call] = await db.sql(READ_CONVERTIBLE_CALL, { call_id, buyer_id });
  if (!call) return false;
  const conversions = await loadPayingConversions(db, call, buyer_id);
  const applying = reported
    ? pickReportedConversion(conversions)
    : await findApplicableConversion(db, conversions, { call, answered_seconds });
  const decide = (paidBefore: PaidBefore) =>
    decideDollars(call, { buyer_id, applying, answered_seconds, reported, paidBefore });
  const { buyer_group_id, traffic_source_id } = call;
  const dollars = await settle(db, { call_id, buyer_id, buyer_group_id, now }, decide);
  const amount = -(dollars.conversion?.added ?? 0);
  const counted = { id: call_id, buyer_id, buyer_group_id, traffic_source_id };
  if (amount > 0) await uncountSetRevenue(db, counted, { amount, now });
  return call.converted || dollars.conversion !== null;
}

/** The bid of the buyer for the call, else its conversions. Empty if it has paid. */
async function loadPayingConversions(
  db: Statements,
  { converted, bid, dialed_at }: { converted: boolean; bid: BidOfAttempt | null; dialed_at: Date },
  buyerId: number,
): Promise<PayingConversion[]> {
  if (converted) return [];
  return bid ? [toBidConversion(bid)] : loadConversions(db, buyerId, dialed_at);
}

/** A reported conversion needs no condition; amount and duplicate time frame are the buyer's. */
function pickReportedConversion(conversions: readonly PayingConversion[]): PayingConversion {
  const postback = conversions.find(({ conversion_type }) => conversion_type === 'postback');
  return postback ?? conversions[0] ?? DEFAULT_CONVERSION;
}

/** For a buyer that has no conversions of its own. */
const DEFAULT_CONVERSION: PayingConversion = {
  id: 0,
  name: null,
  conversion_type: 'postback',
  duration: 0,
  revenue: 0,
  duplicate_timeframe: 0,
  token_values: [],
  attribution_token_values: [],
};

export async function findApplicableConversion(
  db: Pick<Statements, 'sql' | 'company_id'>,
  conversions: readonly PayingConversion[],
  { call, answered_seconds }: { call: ConvertibleCall; answered_seconds: number },
): Promise<PayingConversion | undefined> {
  if (call.is_returned) return undefined;
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

/** How often other calls of the caller may change what is due before this gives up. */
const MAX_DECISIONS = 20;

/**
 * Decides as if no one had paid for the caller before, and again while the database finds other
 * payments. Returns the last decision, and whether it was written.
 */
export async function retryOnPaymentConflict<Decision>(
  decide: (paidBefore: PaidBefore) => Decision,
  record: (decision: Decision) => Promise<RecordResult>,
): Promise<{ decision: Decision; recorded: 'written' | 'stale' }> {
  let paidBefore: PaidBefore = { buyer_paid: false, source_paid: false };
  for (let time = 0; time < MAX_DECISIONS; time++) {
    const decision = decide(paidBefore);
    const recorded = await record(decision);
    if (typeof recorded === 'string') return { decision, recorded };
    paidBefore = recorded;
  }
  throw new Error(`payments for the caller changed at each of ${MAX_DECISIONS} attempts`);
}

type LockedCall = Pick<Change, 'call_id' | 'now'> &
  Omit<DialedBuyer, 'buyer_id'> & { buyer_id: number | null };

/** The caller has locked the call. */
async function settle(
  db: Statements,
  { call_id, now, ...buyer }: LockedCall,
  decide: (paidBefore: PaidBefore) => Dollars,
): Promise<Dollars> {
  const { decision } = await retryOnPaymentConflict(decide, async (dollars) =>
    isNothing(dollars)
      ? 'written'
      : recordChange(db, { call_id, version: null, now, use: { ...buyer, dollars } }),
  );
  return decision;
}

/** True if nothing is due, and nothing has to be marked. */
export const isNothing = ({ conversion, payout, expects }: Dollars): boolean =>
  conversion === null && payout === null && !expects.buyer_paid && !expects.source_paid;

/**
 * Pays the source of a call because a user says so, whatever the offer's terms ask for. Returns a
 * warning where the source is paid nothing. The caller has locked the call.
 */
export async function payForOffer(
  db: Statements,
  { call_id, buyer_id, now }: { call_id: number; buyer_id: number | null; now: Date },
): Promise<string | undefined> {
  const [call] = await db.sql(READ_CONVERTIBLE_CALL, { call_id, buyer_id });
  if (!call || call.traffic_source_converted) return undefined;
  const { traffic_source_id, revenue, buyer_group_id } = call;
  if (traffic_source_id === null) return 'the call has no traffic source that could be paid';
  const due = computePayout(call, {
    traffic_source_id,
    answered_seconds: Infinity,
    revenue,
  });
  if (due) {
    const { payout } = await settle(db, { call_id, buyer_id, buyer_group_id, now }, (paidBefore) =>
      decidePayment(call, due, paidBefore),
    );
    return payout === null ? 'the source was paid for this caller a short while ago' : undefined;
  }
  const source = { buyer_id: null, buyer_group_id: null, traffic_source_id };
  await addUsage(db, source, { usage: { buyer_conversion: 1 }, now });
  await addPayout(db, { call_id, buyer_id, amount: 0, converts: true, now });
  return 'the offer pays this traffic source nothing: the call is marked as converted for $0.00';
}

/**
 * Adds to the counters of the caps that a call counts for. Groups are locked before buyers, and
 * sources last, as everywhere. For the caps of a source, a call converts when the source is paid
 * for it.
 */
export async function addUsage(
  db: Statements,
  { buyer_id, buyer_group_id, traffic_source_id }: CapsOfCall,
  { usage, of_source = usage, now }: { usage: Usage; of_source?: Usage; now: Date },
): Promise<void> {
  if (buyer_group_id !== null) await recordUsage(db, { owner: { buyer_group_id }, usage, now });
  if (buyer_id !== null) await recordUsage(db, { owner: { buyer_id }, usage, now });
  if (traffic_source_id !== null)
    await recordUsage(db, { owner: { traffic_source_id }, usage: of_source, now });
}
