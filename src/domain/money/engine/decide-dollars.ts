import { pairTokens } from '../../../platform/tokens/filters';
import { countRevenue } from './counted-usage';
import { cents, computePayout } from './payout';
import {
  countUsage,
  formatDollars,
  joinSettlements,
  NO_SETTLEMENT,
  type CallMoney,
  type PaidBefore,
  type Settlement,
} from './settlement';

/** A conversion whose conditions a call meets. */
export interface ConversionTerms {
  id: number;
  name: string | null;
  revenue: number;
  /** Seconds in which the buyer pays for a caller only once. */
  duplicate_timeframe: number;
  attribution_token_values: readonly string[];
}

export interface Buyer {
  buyer_id: number | null;
  buyer_group_id: number | null;
}

interface DollarsInput extends Buyer {
  /** The conversion whose conditions the call meets. */
  applying: ConversionTerms | undefined;
  answered_seconds: number;
  /** Set when a user reports that the buyer pays: this amount, or that of its conversion. */
  reported?: { revenue?: number | undefined } | undefined;
  paidBefore: PaidBefore;
}

/**
 * Decides what the buyer pays for a call, and what its source is paid, each once per call. Pure.
 */
export function decideDollars(call: CallMoney, decided: DollarsInput): Settlement {
  const { answered_seconds, reported, paidBefore } = decided;
  const purchase = decidePurchase(call, decided);
  const { conversion } = purchase;
  const revenue = conversion?.revenue ?? (hasPaid(call, decided) ? call.revenue : undefined);
  const mayPay = (reported || !call.is_payout_returned) && !call.traffic_source_converted;
  const { traffic_source_id } = call;
  const due = mayPay
    ? computePayout(call, { traffic_source_id, answered_seconds, revenue })
    : undefined;
  const payment = due ? decidePayment(call, decided, { due, paidBefore }) : NO_SETTLEMENT;
  return joinSettlements(purchase, payment);
}

const hasPaid = ({ payments }: CallMoney, { buyer_id }: Buyer): boolean =>
  payments.some((payment) => payment.buyer_id === buyer_id);

/** Dollars that a user set on the call before it had a conversion. */
const computeSetRevenue = ({ revenue, payments }: CallMoney): number =>
  // Without rounding, 0.3 - (0.1 + 0.2) would look like an amount that a user has set.
  cents(revenue - payments.reduce((sum, payment) => sum + payment.revenue, 0));

const ONE_SALE = { buyer_conversion: 1 };

/** Calls that withhold the caller's number cannot be matched to earlier ones. */
const pickTimeFrame = ({ caller_number }: CallMoney, seconds: number): number =>
  caller_number === null ? 0 : seconds;

function decidePurchase(
  call: CallMoney,
  { buyer_id, buyer_group_id, applying, reported, paidBefore }: DollarsInput,
): Settlement {
  const { traffic_source_id } = call;
  const owners = { buyer_id, buyer_group_id, traffic_source_id };
  const nothing = { ...NO_SETTLEMENT, buyer_id, buyer_group_id };
  if (!applying || hasPaid(call, { buyer_id, buyer_group_id })) return nothing;
  const { id, name, duplicate_timeframe, attribution_token_values } = applying;
  const seconds = pickTimeFrame(call, duplicate_timeframe);
  if (seconds > 0 && paidBefore.buyer_paid) {
    return {
      ...nothing,
      buyer_seconds: seconds,
      buyer_paid: true,
      // Nothing is counted, but the row is locked: see has_buyer_paid().
      usages: countUsage(owners, {}),
    };
  }
  // Revenue that was set before the conversion is on the call already and belongs to it.
  const setRevenue = computeSetRevenue(call);
  const revenue = reported?.revenue ?? (setRevenue || applying.revenue);
  const added = cents(revenue - setRevenue);
  const message = `the buyer pays ${formatDollars(revenue)}`;
  const counted = countRevenue(
    { ...owners, payout: 0, payments: [], amounts: call.amounts ?? [] },
    added,
  );
  return {
    ...nothing,
    ...counted,
    revenue: added,
    buyer_converted: true,
    conversion: { id: id || null, name, revenue },
    tokens: pairTokens(attribution_token_values),
    buyer_seconds: seconds,
    usages: [...counted.usages, ...countUsage({ ...owners, traffic_source_id: null }, ONE_SALE)],
    entries:
      added === 0 || buyer_id === null ? [] : [{ buyer_id, kind: 'conversion', amount: -added }],
    events: [{ event: 'converted', message, buyer_id, details: { name, revenue } }],
  };
}

interface DuePayment {
  due: NonNullable<ReturnType<typeof computePayout>>;
  paidBefore: PaidBefore;
}

/** Pays the source of a call, unless it was paid for the caller a short while ago. Pure. */
export function decidePayment(
  call: CallMoney,
  buyer: Buyer,
  { due: { payout, terms }, paidBefore }: DuePayment,
): Settlement {
  const { traffic_source_id } = call;
  const seconds = pickTimeFrame(call, terms.duplicate_timeframe ?? 0);
  const nothing = { ...NO_SETTLEMENT, ...buyer, source_seconds: seconds };
  if (seconds > 0 && paidBefore.source_paid) return { ...nothing, source_paid: true };
  const message = `the traffic source is paid ${formatDollars(payout)}`;
  // For the caps of a source, a call converts when the source is paid for it.
  const usage = { earned_revenue: -payout };
  return {
    ...nothing,
    payout,
    source_converted: true,
    conversion_payout: payout,
    usages: countUsage({ ...buyer, traffic_source_id }, usage, { ...usage, buyer_conversion: 1 }),
    entries:
      payout === 0 || traffic_source_id === null
        ? []
        : [{ traffic_source_id, kind: 'payout', amount: payout }],
    events: [{ event: 'payout', message, details: { traffic_source_id, payout } }],
  };
}
