import type { PayingConversion } from '../money/load-conversions';
import { cents, computePayout, type PayoutTables } from '../money/engine/payout';
import type { CallOrigin } from '../routing/route-facts';
import { pairTokens } from '../../platform/tokens/filters';
import type { NewEvent } from './record-call';

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

/** Everything that decides whether a call converts with a buyer that was dialed for it. */
export interface ConvertibleCall extends CallOrigin, PayoutTables {
  caller_number: number | null;
  offer_id: number | null;
  token_values: Record<string, unknown>;
  revenue: number;
  traffic_source_converted: boolean;
  buyer_repeat_caller: boolean;
  traffic_source_repeat_caller: boolean;
  buyer_group_id: number | null;
  /** True if the buyer has paid for the call already. */
  converted: boolean;
  /** Dollars that a user set on the call before it had a conversion. */
  set_revenue: number;
  /** True if a user took a conversion back, or a payout: then only what is reported converts. */
  is_returned: boolean;
  is_payout_returned: boolean;
}

/** Payments for the same caller shortly before, by the buyer and to the source. */
export interface PaidBefore {
  buyer_paid: boolean;
  source_paid: boolean;
}

/** Result of one decision about a call, in dollars. */
export interface Dollars {
  conversion: {
    id: number | null;
    name: string | null;
    revenue: number;
    /** The part of it that is not on the call yet. */
    added: number;
    tokens: Record<string, string>;
  } | null;
  payout: number | null;
  /**
   * Time frames in seconds in which the buyer must not have paid for the caller, and the source
   * must not have been paid; 0 when it does not matter. The decision assumes `expects`: the
   * statement that writes it checks that again.
   */
  buyer_seconds: number;
  source_seconds: number;
  expects: PaidBefore;
  events: NewEvent[];
}

interface DollarsInput {
  buyer_id: number | null;
  /** The conversion whose conditions the call meets. */
  applying: PayingConversion | undefined;
  answered_seconds: number;
  /** Set when a user reports that the buyer pays: this amount, or that of its conversion. */
  reported?: { revenue?: number | undefined } | undefined;
  paidBefore: PaidBefore;
}

/**
 * Decides what the buyer pays for a call, and what its source is paid, each once per call. Pure.
 */
export function decideDollars(call: ConvertibleCall, decided: DollarsInput): Dollars {
  const { answered_seconds, reported } = decided;
  const bought = buildPurchase(call, decided);
  const revenue = bought.conversion?.revenue ?? (call.converted ? call.revenue : undefined);
  const mayPay = (reported || !call.is_payout_returned) && !call.traffic_source_converted;
  const { traffic_source_id } = call;
  const due = mayPay
    ? computePayout(call, { traffic_source_id, answered_seconds, revenue })
    : undefined;
  return toDollars(bought, due ? buildPayment(call, due, decided.paidBefore) : NO_PAYMENT);
}

export const decidePayment = (
  call: ConvertibleCall,
  due: NonNullable<ReturnType<typeof computePayout>>,
  paidBefore: PaidBefore,
): Dollars => toDollars(NO_PURCHASE, buildPayment(call, due, paidBefore));

type Purchase = Pick<Dollars, 'conversion' | 'events'> & { seconds: number; paid_before: boolean };
type Payment = Pick<Dollars, 'payout' | 'events'> & { seconds: number; paid_before: boolean };

const NO_PURCHASE: Purchase = { conversion: null, events: [], seconds: 0, paid_before: false };
const NO_PAYMENT: Payment = { payout: null, events: [], seconds: 0, paid_before: false };

const toDollars = (bought: Purchase, payment: Payment): Dollars => ({
  conversion: bought.conversion,
  payout: payment.payout,
  buyer_seconds: bought.seconds,
  source_seconds: payment.seconds,
  expects: { buyer_paid: bought.paid_before, source_paid: payment.paid_before },
  events: [...bought.events, ...payment.events],
});

/** Calls that withhold the caller's number cannot be matched to earlier ones. */
const pickTimeFrame = ({ caller_number }: ConvertibleCall, seconds: number): number =>
  caller_number === null ? 0 : seconds;

function buildPurchase(
  call: ConvertibleCall,
  { buyer_id, applying, reported, paidBefore }: DollarsInput,
): Purchase {
  if (!applying || call.converted) return NO_PURCHASE;
  const { id, name, duplicate_timeframe, attribution_token_values } = applying;
  const seconds = pickTimeFrame(call, duplicate_timeframe);
  if (seconds > 0 && paidBefore.buyer_paid) {
    const message = `the buyer has paid for this caller within ${duplicate_timeframe} seconds`;
    const events = call.buyer_repeat_caller ? [] : [{ event: 'not_converted', message, buyer_id }];
    return { conversion: null, events, seconds, paid_before: true };
  }
  // Revenue that was set before the conversion is on the call already and belongs to it.
  const revenue = reported?.revenue ?? (call.set_revenue || applying.revenue);
  const message = `the buyer pays $${revenue.toFixed(2)}`;
  return {
    conversion: {
      id: id || null,
      name,
      revenue,
      added: cents(revenue - call.set_revenue),
      tokens: pairTokens(attribution_token_values),
    },
    events: [{ event: 'converted', message, buyer_id, details: { name, revenue } }],
    seconds,
    paid_before: false,
  };
}

function buildPayment(
  call: ConvertibleCall,
  { payout, terms }: NonNullable<ReturnType<typeof computePayout>>,
  paidBefore: PaidBefore,
): Payment {
  const seconds = pickTimeFrame(call, terms.duplicate_timeframe ?? 0);
  if (seconds > 0 && paidBefore.source_paid)
    return { payout: null, events: [], seconds, paid_before: true };
  const message = `the traffic source is paid $${payout.toFixed(2)}`;
  const details = { traffic_source_id: call.traffic_source_id, payout };
  return {
    payout,
    events: [{ event: 'payout', message, details }],
    seconds,
    paid_before: false,
  };
}
