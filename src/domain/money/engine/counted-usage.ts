import { cents } from './payout';
import {
  countUsage,
  type Amount,
  type CapOwners,
  type CountedUsage,
  type Settlement,
} from './settlement';

// Caps count dollars in the window in which they were set. A reduction takes off the dollars that
// were set last, and out of the windows in which these were counted: an hour or a day that came
// later never had them.

/** A conversion of a call that was not returned. */
export interface CountedPayment {
  id: string;
  buyer_id: number;
  buyer_group_id: number | null;
  at: Date;
  revenue: number;
}

/** Dollars that were set at one time; less than 0 for a reduction. */
interface DatedDollars {
  at: Date;
  amount: number;
}

export interface CountedCall extends CapOwners {
  payout: number;
  payments: readonly CountedPayment[];
  amounts: readonly Amount[];
}

/** Usage by a buyer's payment for a call, each part at the time at which it was set. */
export function listCountedRevenue(
  { traffic_source_id, amounts }: CountedCall,
  { buyer_id, buyer_group_id, at, revenue }: CountedPayment,
): CountedUsage[] {
  const changes = listRevenueChanges(amounts, buyer_id);
  const first = { at, amount: cents(revenue - sumAmounts(changes)) };
  const owners = { buyer_id, buyer_group_id, traffic_source_id };
  return [
    { ...NO_USAGE, buyer_id, buyer_group_id, at, conversions: 1 },
    ...computeRemaining([first, ...changes]).flatMap((dollars) =>
      toUsages(owners, { ...dollars, revenue: dollars.amount, earned_revenue: dollars.amount }),
    ),
  ];
}

/**
 * Usage by the payment to a source for a call. For the caps of a source, a call converts when the
 * source is paid for it.
 */
export function listCountedPayout(call: CountedCall, now: Date): CountedUsage[] {
  const { traffic_source_id } = call;
  return [
    { ...NO_USAGE, traffic_source_id, at: findPaymentTime(call, now), conversions: 1 },
    ...listPayouts(call, now).flatMap((dollars) =>
      toUsages(call, { ...dollars, revenue: 0, earned_revenue: -dollars.amount }),
    ),
  ];
}

type Counts = Pick<Settlement, 'usages' | 'taken'>;

/** Counts dollars that the buyer of a call pays more, or less, from now on. */
export function countRevenue(call: CountedCall, amount: number): Counts {
  const payment = call.payments.find(({ buyer_id }) => buyer_id === call.buyer_id);
  const changes = listRevenueChanges(call.amounts, call.buyer_id);
  const first = payment && {
    at: payment.at,
    amount: cents(payment.revenue - sumAmounts(changes)),
  };
  return countChange(call, amount, {
    before: first ? [first, ...changes] : changes,
    toUsage: (dollars) => ({ revenue: dollars, earned_revenue: dollars }),
  });
}

/** Counts dollars that the source of a call is paid more, or less, from now on. */
export const countPayout = (call: CountedCall, amount: number, now: Date): Counts =>
  countChange(call, amount, {
    before: listPayouts(call, now),
    toUsage: (dollars) => ({ revenue: 0, earned_revenue: -dollars }),
  });

interface Change {
  before: readonly DatedDollars[];
  toUsage: (amount: number) => { revenue: number; earned_revenue: number };
}

function countChange(owners: CapOwners, amount: number, { before, toUsage }: Change): Counts {
  const taken = amount < 0 ? takeOff(computeRemaining(before), -amount) : [];
  return {
    usages: countUsage(owners, toUsage(cents(amount + sumAmounts(taken)))),
    taken: taken.flatMap(({ at, amount: part }) => toUsages(owners, { at, ...toUsage(part) })),
  };
}

const NO_USAGE = {
  buyer_id: null,
  buyer_group_id: null,
  traffic_source_id: null,
  conversions: 0,
  revenue: 0,
  earned_revenue: 0,
};

/** One row for the buyer with its group, and one for the source. */
const toUsages = (
  { buyer_id, buyer_group_id, traffic_source_id }: CapOwners,
  { at, revenue, earned_revenue }: Pick<CountedUsage, 'at' | 'revenue' | 'earned_revenue'>,
): CountedUsage[] => [
  { ...NO_USAGE, buyer_id, buyer_group_id, at, revenue, earned_revenue },
  { ...NO_USAGE, traffic_source_id, at, revenue, earned_revenue },
];

const listRevenueChanges = (amounts: readonly Amount[], buyerId: number | null): DatedDollars[] =>
  amounts.filter(({ event, buyer_id }) => event === 'revenue_changed' && buyer_id === buyerId);

/** When the source was paid the part that no event of a change has. */
const findPaymentTime = ({ amounts, payments }: CountedCall, now: Date): Date =>
  amounts.find(({ event }) => event !== 'revenue_changed')?.at ?? payments[0]?.at ?? now;

function listPayouts(call: CountedCall, now: Date): DatedDollars[] {
  const changes = call.amounts.filter(({ event }) => event === 'payout_changed');
  const first = {
    at: findPaymentTime(call, now),
    amount: cents(call.payout - sumAmounts(changes)),
  };
  return computeRemaining([first, ...changes]);
}

/** Dollars that remain of those that were set one after the other. */
function computeRemaining(set: readonly DatedDollars[]): DatedDollars[] {
  const left: DatedDollars[] = [];
  for (const { at, amount } of [...set].sort((a, b) => a.at.getTime() - b.at.getTime()))
    if (amount > 0) left.push({ at, amount });
    else takeOff(left, -amount);
  return left;
}

/** Takes an amount off the last of `left`, and returns what was taken. */
function takeOff(left: DatedDollars[], amount: number): DatedDollars[] {
  const taken: DatedDollars[] = [];
  let rest = amount;
  while (rest > 0) {
    const last = left.pop();
    if (!last) break;
    const part = Math.min(rest, last.amount);
    taken.push({ at: last.at, amount: part });
    if (part < last.amount) left.push({ at: last.at, amount: cents(last.amount - part) });
    rest = cents(rest - part);
  }
  return taken;
}

const sumAmounts = (dollars: readonly { amount: number }[]): number =>
  cents(dollars.reduce((sum, { amount }) => sum + amount, 0));
