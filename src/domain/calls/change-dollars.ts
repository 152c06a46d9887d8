import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { cents } from '../money/engine/payout';
import { addPayout, addRevenue } from './change-call';
import { addUsage } from './convert-call';
import { uncountPayout, uncountRevenue } from './counted-dollars';
import type { EditableCall } from './editable-call';
import { recordEvent } from './record-call';
import { toReasonDetails } from './return-conversion';

/** Amounts in a request, in dollars. */
export interface Amounts {
  revenue?: number | undefined;
  add_revenue?: number | undefined;
  payout?: number | undefined;
  add_payout?: number | undefined;
  offer_converted?: boolean | undefined;
  adjustment_reason?: string | null | undefined;
}

/** Throws 422 for an amount that is given together with its `add_` field. */
export function requireOneOfEach(amounts: Amounts): void {
  for (const name of ['revenue', 'payout'] as const)
    if (amounts[name] !== undefined && amounts[`add_${name}`] !== undefined)
      throw HttpProblem.field(
        `add_${name}`,
        'conflicting_fields',
        `must not be given together with ${name}`,
      );
}

const formatDollars = (amount: number): string => `$${amount.toFixed(2)}`;

/** Sets what the source of a locked call is paid. Returns whether that has changed. */
export async function setPayout(
  db: Db,
  call: EditableCall,
  { payout, add_payout = 0, offer_converted, adjustment_reason }: Amounts,
  now: Date,
): Promise<boolean> {
  const target = payout ?? cents(call.payout + add_payout);
  const amount = cents(target - call.payout);
  const converts = offer_converted === true && payout !== undefined;
  if (amount === 0 && (!converts || call.traffic_source_converted)) return false;
  if (target < 0)
    throw HttpProblem.field(
      'add_payout',
      'invalid_value',
      'must leave the payout of the call at $0.00 or above',
    );
  const { id: callId, buyer_id } = call;
  const isFirst = (converts || target > 0) && !call.traffic_source_converted;
  const usage = { earned_revenue: -amount };
  // For the caps of a traffic source, a call converts when the source is paid for it.
  const ofSource = { ...usage, buyer_conversion: isFirst ? 1 : 0 };
  await addUsage(db, call, { usage, of_source: ofSource, now });
  if (amount < 0) await uncountPayout(db, call, { amount: -amount, now });
  await addPayout(db, {
    call_id: callId,
    buyer_id,
    amount,
    converts,
    note: adjustment_reason,
    now,
  });
  await recordEvent(db, {
    call_id: callId,
    event: 'payout_changed',
    message:
      `the traffic source is paid ${formatDollars(target)}, ` +
      `before ${formatDollars(call.payout)}`,
    details: { from: call.payout, to: target, ...toReasonDetails(adjustment_reason) },
    now,
  });
  return true;
}

/** Sets what the buyer of a locked call pays. Returns whether that has changed. */
export async function setRevenue(
  db: Db,
  call: EditableCall,
  { revenue, add_revenue = 0, adjustment_reason }: Amounts,
  now: Date,
): Promise<boolean> {
  const target = revenue ?? cents(call.revenue + add_revenue);
  const amount = cents(target - call.revenue);
  if (amount === 0) return false;
  const { id: callId, buyer_id, others_revenue: least } = call;
  if (target < least) {
    const why = least > 0 ? `: other buyers pay ${formatDollars(least)} for the call` : '';
    throw HttpProblem.field(
      revenue === undefined ? 'add_revenue' : 'revenue',
      'invalid_value',
      `must leave the revenue of the call at ${formatDollars(least)} or above${why}`,
    );
  }
  await addUsage(db, call, { usage: { revenue: amount, earned_revenue: amount }, now });
  if (amount < 0) await uncountRevenue(db, call, { amount: -amount, now });
  await addRevenue(db, { call_id: callId, buyer_id, amount, note: adjustment_reason, now });
  await recordEvent(db, {
    call_id: callId,
    event: 'revenue_changed',
    message: `the buyer pays ${formatDollars(target)}, before ${formatDollars(call.revenue)}`,
    buyer_id,
    details: { from: call.revenue, to: target, ...toReasonDetails(adjustment_reason) },
    now,
  });
  return true;
}
