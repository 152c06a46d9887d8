import { HttpProblem, type FieldErrors } from '../../../platform/errors';
import {
  countPayout,
  countRevenue,
  listCountedPayout,
  listCountedRevenue,
  type CountedCall,
} from './counted-usage';
import { decideDollars, decidePayment, type ConversionTerms } from './decide-dollars';
import { listDuplicateEvents } from './explain-unbilled';
import { cents, computePayout } from './payout';
import {
  applySettlement,
  countUsage,
  formatDollars,
  joinSettlements,
  NO_SETTLEMENT,
  type Amount,
  type CallMoney,
  type PaidBefore,
  type Settlement,
} from './settlement';

// Changes of dollars that users ask for. Each change is decided from the call as the one before it
// leaves it; all of them are one settlement.

/** Amounts in a request, in dollars. */
export interface AmountChanges {
  revenue?: number | undefined;
  add_revenue?: number | undefined;
  payout?: number | undefined;
  add_payout?: number | undefined;
  buyer_converted?: boolean | undefined;
  offer_converted?: boolean | undefined;
  adjustment_reason?: string | null | undefined;
}

/** A locked call with all that its dollars depend on. `buyer_id` has it, or was the last dialed. */
export interface ChangeableCall extends CallMoney, CountedCall {
  buyer_converted: boolean;
  payments: CountedCall['payments'];
  amounts: readonly Amount[];
}

export interface ChangeContext {
  now: Date;
  paidBefore: PaidBefore;
  /** Those of the buyer that are open. */
  conversions: readonly (ConversionTerms & { conversion_type: string })[];
  /** Since the buyer took the call. */
  answered_seconds: number;
}

export interface SettledChanges {
  settlement: Settlement;
  warnings: FieldErrors;
  /** True if an event has the reason of the changes. */
  is_kept: boolean;
}

/** Throws 422 for an amount that is given together with its `add_` field. */
export function requireOneOfEach(changes: AmountChanges): void {
  for (const name of ['revenue', 'payout'] as const)
    if (changes[name] !== undefined && changes[`add_${name}`] !== undefined)
      throw HttpProblem.field(
        `add_${name}`,
        'conflicting_fields',
        `must not be given together with ${name}`,
      );
}

const CHANGES_OF_DOLLARS = [
  'revenue',
  'add_revenue',
  'payout',
  'add_payout',
  'buyer_converted',
  'offer_converted',
] as const satisfies readonly (keyof AmountChanges)[];

export const changesDollars = (changes: AmountChanges): boolean =>
  CHANGES_OF_DOLLARS.some((field) => changes[field] !== undefined);

const REPEAT_CALLER =
  'the buyer paid for this caller a short while ago: it does not pay again, and the revenue is' +
  ' unchanged';

/**
 * Decides what changes of dollars do to a call: returns first, then what the source is paid, what
 * the buyer is reported to pay, and the amount of that. Throws 422 for impossible amounts. Pure.
 */
export function settleChanges(
  call: ChangeableCall,
  changes: AmountChanges,
  context: ChangeContext,
): SettledChanges {
  const warnings: FieldErrors = {};
  let current = call;
  let settlement = NO_SETTLEMENT;
  const settle = (decided: Settlement | undefined): boolean => {
    if (!decided) return false;
    settlement = joinSettlements(settlement, decided);
    current = applyChange(current, decided, context.now);
    return true;
  };
  const isReturned = settle(decideReturns(current, changes, context));
  const isPaid = settle(setPayout(current, changes, context));
  if (changes.buyer_converted) {
    settle(report(current, changes, context));
    if (!current.payments.some(({ buyer_id }) => buyer_id === current.buyer_id))
      warnings.buyer_converted = [REPEAT_CALLER];
  }
  if (changes.offer_converted && changes.payout === undefined) {
    const { decided, warning } = payForOffer(current, context);
    settle(decided);
    if (warning) warnings.offer_converted = [warning];
  }
  const isCharged = !warnings.buyer_converted && settle(setRevenue(current, changes));
  const asksForReturn = changes.buyer_converted === false || changes.offer_converted === false;
  return { settlement, warnings, is_kept: isReturned || isPaid || isCharged || asksForReturn };
}

/** Like `applySettlement`, with all that matters to the next change. */
function applyChange(call: ChangeableCall, settled: Settlement, now: Date): ChangeableCall {
  const { conversion, buyer_id, buyer_group_id, conversion_revenue, returned } = settled;
  const isReturned = (name: string, payer?: number | null) =>
    settled.events.some(
      (event) => event.event === name && (payer === undefined || event.buyer_id === payer),
    );
  const amounts = call.amounts.filter(({ event, buyer_id: buyer }) =>
    event === 'revenue_changed'
      ? !isReturned('conversion_returned', buyer)
      : !isReturned('payout_returned'),
  );
  const payments = call.payments
    .filter(({ id }) => !returned.includes(id))
    .map((payment) =>
      payment.buyer_id === buyer_id
        ? { ...payment, revenue: cents(payment.revenue + conversion_revenue) }
        : payment,
    );
  return {
    ...applySettlement(call, settled),
    buyer_converted: settled.buyer_converted ?? call.buyer_converted,
    is_payout_returned: call.is_payout_returned || settled.returns_payout,
    payments:
      conversion && buyer_id !== null
        ? [...payments, { id: '', buyer_id, buyer_group_id, at: now, revenue: conversion.revenue }]
        : payments,
    amounts: [...amounts, ...settled.events.flatMap((event) => toAmounts(event, now))],
  };
}

function toAmounts(
  { event, buyer_id = null, details }: Settlement['events'][number],
  at: Date,
): Amount[] {
  if (event === 'payout') return [{ event, buyer_id, at, amount: 0 }];
  if (event !== 'revenue_changed' && event !== 'payout_changed') return [];
  const { from, to } = details as { from: number; to: number };
  return [{ event, buyer_id, at, amount: cents(to - from) }];
}

/**
 * A return of what the buyer pays also returns what the source is paid, unless the request says
 * otherwise.
 */
function decideReturns(
  call: ChangeableCall,
  changes: AmountChanges,
  { now }: ChangeContext,
): Settlement | undefined {
  const { buyer_converted, offer_converted, payout, add_payout } = changes;
  const returnsRevenue = buyer_converted === false && call.buyer_converted;
  const stays = offer_converted === true || payout !== undefined || add_payout !== undefined;
  const returnsPayout =
    (offer_converted === false || (returnsRevenue && !stays)) && call.traffic_source_converted;
  if (!returnsRevenue && !returnsPayout) return undefined;
  const reason = changes.adjustment_reason || null;
  const payments = returnsRevenue ? call.payments : [];
  return {
    ...NO_SETTLEMENT,
    reason,
    revenue: cents(-payments.reduce((sum, { revenue }) => sum + revenue, 0)),
    payout: returnsPayout ? -call.payout : 0,
    buyer_converted: returnsRevenue ? false : null,
    source_converted: returnsPayout ? false : null,
    returned: payments.map(({ id }) => id),
    returns_payout: returnsPayout,
    taken: [
      ...payments.flatMap((payment) => listCountedRevenue(call, payment)),
      ...(returnsPayout ? listCountedPayout(call, now) : []),
    ],
    events: [
      ...payments.map(({ buyer_id, revenue }) => ({
        event: 'conversion_returned',
        message: appendReason(`the buyer no longer pays ${formatDollars(revenue)}`, reason),
        buyer_id,
        details: { revenue, ...toReasonDetails(reason) },
      })),
      ...(returnsPayout ? [buildReturnedPayout(call, reason)] : []),
    ],
  };
}

const buildReturnedPayout = ({ payout }: ChangeableCall, reason: string | null) => ({
  event: 'payout_returned',
  message: appendReason(`the traffic source is no longer paid ${formatDollars(payout)}`, reason),
  details: { payout, ...toReasonDetails(reason) },
});

const appendReason = (what: string, reason: string | null) =>
  reason ? `${what}: ${reason}` : what;

/** For the details of an event. */
export const toReasonDetails = (reason: string | null | undefined) =>
  reason ? { adjustment_reason: reason } : {};

/** Undefined if the source is paid that already. */
function setPayout(
  call: ChangeableCall,
  { payout, add_payout = 0, offer_converted, adjustment_reason }: AmountChanges,
  { now }: ChangeContext,
): Settlement | undefined {
  const target = payout ?? cents(call.payout + add_payout);
  const amount = cents(target - call.payout);
  const converts = offer_converted === true && payout !== undefined;
  if (amount === 0 && (!converts || call.traffic_source_converted)) return undefined;
  if (target < 0)
    throw HttpProblem.field(
      'add_payout',
      'invalid_value',
      'must leave the payout of the call at $0.00 or above',
    );
  const { buyer_id, buyer_group_id, traffic_source_id, traffic_source_converted } = call;
  const isFirst = (converts || target > 0) && !traffic_source_converted;
  const counted = countPayout(call, amount, now);
  return {
    ...NO_SETTLEMENT,
    ...{ buyer_id, buyer_group_id },
    payout: amount,
    source_converted: isFirst ? true : null,
    conversion_payout: amount,
    ...counted,
    usages: [...counted.usages, ...countSourceConversion(call, isFirst)],
    entries:
      traffic_source_id === null || amount === 0
        ? []
        : [
            {
              traffic_source_id,
              kind: traffic_source_converted ? 'adjustment' : 'payout',
              amount,
              note: adjustment_reason,
            },
          ],
    events: [
      {
        event: 'payout_changed',
        message:
          `the traffic source is paid ${formatDollars(target)}, ` +
          `before ${formatDollars(call.payout)}`,
        details: { from: call.payout, to: target, ...toReasonDetails(adjustment_reason) },
      },
    ],
  };
}

/** For the caps of a traffic source, a call converts when the source is paid for it. */
const countSourceConversion = ({ traffic_source_id }: ChangeableCall, isFirst: boolean) =>
  isFirst
    ? countUsage({ buyer_id: null, buyer_group_id: null, traffic_source_id }, SALE_OF_SOURCE)
    : [];
const SALE_OF_SOURCE = { buyer_conversion: 1 };

/** A buyer is reported to pay; nothing changes if it has paid. */
function report(
  call: ChangeableCall,
  { revenue }: AmountChanges,
  { conversions, answered_seconds, paidBefore }: ChangeContext,
): Settlement {
  const { buyer_id, buyer_group_id } = call;
  const settlement = decideDollars(call, {
    ...{ buyer_id, buyer_group_id, answered_seconds, paidBefore },
    applying: pickReportedConversion(conversions),
    reported: { revenue },
  });
  const events = [...settlement.events, ...listDuplicateEvents(call, settlement)];
  return { ...settlement, events };
}

/** A reported conversion needs no condition; amount and duplicate time frame are the buyer's. */
function pickReportedConversion(conversions: ChangeContext['conversions']): ConversionTerms {
  const postback = conversions.find(({ conversion_type }) => conversion_type === 'postback');
  return postback ?? conversions[0] ?? DEFAULT_CONVERSION;
}

/** For a buyer that has no conversions of its own. */
const DEFAULT_CONVERSION: ConversionTerms = {
  id: 0,
  name: null,
  revenue: 0,
  duplicate_timeframe: 0,
  attribution_token_values: [],
};

/**
 * Pays the source of a call because a user says so, whatever the offer's terms ask for. `warning`:
 * the source is paid nothing.
 */
function payForOffer(
  call: ChangeableCall,
  { paidBefore }: ChangeContext,
): { decided?: Settlement; warning?: string } {
  const { buyer_id, buyer_group_id, traffic_source_id, revenue } = call;
  if (call.traffic_source_converted) return {};
  if (traffic_source_id === null)
    return { warning: 'the call has no traffic source that could be paid' };
  const buyer = { buyer_id, buyer_group_id };
  const due = computePayout(call, { traffic_source_id, answered_seconds: Infinity, revenue });
  if (due) {
    const decided = decidePayment(call, buyer, { due, paidBefore });
    return decided.source_paid
      ? { decided, warning: 'the source was paid for this caller a short while ago' }
      : { decided };
  }
  const usages = countSourceConversion(call, true);
  return {
    decided: { ...NO_SETTLEMENT, ...buyer, source_converted: true, usages },
    warning:
      'the offer pays this traffic source nothing: the call is marked as converted for $0.00',
  };
}

/** Undefined if the buyer pays that already. */
function setRevenue(
  call: ChangeableCall,
  { revenue, add_revenue = 0, adjustment_reason }: AmountChanges,
): Settlement | undefined {
  const target = revenue ?? cents(call.revenue + add_revenue);
  const amount = cents(target - call.revenue);
  if (amount === 0) return undefined;
  const { buyer_id, buyer_group_id } = call;
  const least = cents(
    call.payments
      .filter((payment) => payment.buyer_id !== buyer_id)
      .reduce((sum, payment) => sum + payment.revenue, 0),
  );
  if (target < least) {
    const why = least > 0 ? `: other buyers pay ${formatDollars(least)} for the call` : '';
    throw HttpProblem.field(
      revenue === undefined ? 'add_revenue' : 'revenue',
      'invalid_value',
      `must leave the revenue of the call at ${formatDollars(least)} or above${why}`,
    );
  }
  return {
    ...NO_SETTLEMENT,
    ...{ buyer_id, buyer_group_id },
    revenue: amount,
    conversion_revenue: amount,
    ...countRevenue(call, amount),
    entries:
      buyer_id === null
        ? []
        : [{ buyer_id, kind: 'adjustment', amount: -amount, note: adjustment_reason }],
    events: [
      {
        event: 'revenue_changed',
        message: `the buyer pays ${formatDollars(target)}, before ${formatDollars(call.revenue)}`,
        buyer_id,
        details: { from: call.revenue, to: target, ...toReasonDetails(adjustment_reason) },
      },
    ],
  };
}
