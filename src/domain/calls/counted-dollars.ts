import type { Db } from '../../data/db';
import { cents } from '../money/engine/payout';
import { READ_AMOUNTS, READ_CONVERSIONS, RETURN_USAGE } from './queries/return-conversion';

// Usage with which a call was counted for caps, and when. Caps count dollars in the window in which
// they were set. A reduction takes off the dollars that were set last, and out of the windows in
// which these were counted: an hour or a day that came later never had them.

type Sql = Pick<Db, 'sql'>;
export type Conversion = Awaited<ReturnType<typeof readConversions>>[number];
type Amount = Awaited<ReturnType<typeof readAmounts>>[number];

export interface CountedCall {
  id: number;
  buyer_id: number | null;
  buyer_group_id: number | null;
  traffic_source_id: number | null;
}

/** Usage counted at one time, for a buyer and its group or for a source. */
export interface CountedUsage {
  buyer_id: number | null;
  buyer_group_id: number | null;
  traffic_source_id: number | null;
  at: Date;
  conversions: number;
  revenue: number;
  earned_revenue: number;
}

/** Dollars that were set at one time; negative for a reduction. */
interface Dollars {
  at: Date;
  amount: number;
}

export const readConversions = (db: Sql, { id }: Pick<CountedCall, 'id'>) =>
  db.sql(READ_CONVERSIONS, { call_id: id });
export const readAmounts = (db: Sql, { id }: Pick<CountedCall, 'id'>) =>
  db.sql(READ_AMOUNTS, { call_id: id });

/** Usage by a buyer's payment for a call, each part at the time at which it was set. */
export function listCountedRevenue(
  { traffic_source_id }: CountedCall,
  { buyer_id, buyer_group_id, converted_at, revenue }: Conversion,
  amounts: readonly Amount[],
): CountedUsage[] {
  const changes = listRevenueChanges(amounts, buyer_id);
  const first = { at: converted_at, amount: cents(revenue - sumAmounts(changes)) };
  const owner = { buyer_id, buyer_group_id, traffic_source_id };
  return [
    { ...NO_USAGE, buyer_id, buyer_group_id, at: converted_at, conversions: 1 },
    ...computeRemaining([first, ...changes]).flatMap((dollars) => toCountedRevenue(owner, dollars)),
  ];
}

/**
 * Usage by the payment to a source for a call. For the caps of a source, a call converts when the
 * source is paid for it.
 */
export function listCountedPayout(
  call: CountedCall & { payout: number },
  amounts: readonly Amount[],
  { conversions, now }: { conversions: readonly Conversion[]; now: Date },
): CountedUsage[] {
  const { traffic_source_id } = call;
  const at = findFirstPayment(amounts) ?? conversions[0]?.converted_at ?? now;
  return [
    { ...NO_USAGE, traffic_source_id, at, conversions: 1 },
    ...listPayouts(call, amounts, at).flatMap((dollars) => toCountedPayout(call, dollars)),
  ];
}

/**
 * Moves dollars that a locked call no longer brings, and that were taken off the present windows of
 * its caps, to the windows in which they were counted. Must be called before an event has the
 * change.
 */
export async function uncountRevenue(
  db: Sql,
  call: CountedCall,
  { amount, now }: { amount: number; now: Date },
): Promise<void> {
  const conversion = (await readConversions(db, call)).find(
    ({ buyer_id }) => buyer_id === call.buyer_id,
  );
  const changes = listRevenueChanges(await readAmounts(db, call), call.buyer_id);
  const first = { amount: cents((conversion?.revenue ?? 0) - sumAmounts(changes)) };
  const set = conversion ? [{ ...first, at: conversion.converted_at }, ...changes] : changes;
  await move(db, call, {
    removed: takeOff(computeRemaining(set), amount),
    now,
    counted: toCountedRevenue,
  });
}

/** Like `uncountRevenue`, for revenue that was set before the call converted, for less. */
export async function uncountSetRevenue(
  db: Sql,
  call: CountedCall,
  { amount, now }: { amount: number; now: Date },
): Promise<void> {
  const changes = listRevenueChanges(await readAmounts(db, call), call.buyer_id);
  await move(db, call, {
    removed: takeOff(computeRemaining(changes), amount),
    now,
    counted: toCountedRevenue,
  });
}

/** Like `uncountRevenue`, for what the source of the call is no longer paid. */
export async function uncountPayout(
  db: Sql,
  call: CountedCall & { payout: number },
  { amount, now }: { amount: number; now: Date },
): Promise<void> {
  const amounts = await readAmounts(db, call);
  const [conversion] = await readConversions(db, call);
  const paid = listPayouts(
    call,
    amounts,
    findFirstPayment(amounts) ?? conversion?.converted_at ?? now,
  );
  await move(db, call, { removed: takeOff(paid, amount), now, counted: toCountedPayout });
}

interface DollarMove {
  removed: readonly Dollars[];
  now: Date;
  counted: (call: Omit<CountedCall, 'id'>, dollars: Dollars) => CountedUsage[];
}

async function move(
  db: Sql,
  call: CountedCall,
  { removed, now, counted }: DollarMove,
): Promise<void> {
  const offNow = { at: now, amount: -sumAmounts(removed) };
  await returnUsage(
    db,
    call,
    [offNow, ...removed].flatMap((dollars) => counted(call, dollars)),
    now,
  );
}

/** Takes usage of a locked call out of the windows in which it was counted. */
export async function returnUsage(
  db: Sql,
  { id: callId }: Pick<CountedCall, 'id'>,
  counted: readonly CountedUsage[],
  now: Date,
): Promise<void> {
  if (counted.length > 0)
    await db.sql(RETURN_USAGE, { counted: JSON.stringify(counted), call_id: callId, now });
}

const NO_USAGE = {
  buyer_id: null,
  buyer_group_id: null,
  traffic_source_id: null,
  conversions: 0,
  revenue: 0,
  earned_revenue: 0,
};

/** One entry for the buyer with its group, and one for the source. */
const toCountedEntries = (
  { buyer_id, buyer_group_id, traffic_source_id }: Omit<CountedCall, 'id'>,
  dollars: Pick<CountedUsage, 'at' | 'earned_revenue'> & { revenue?: number },
): CountedUsage[] => [
  { ...NO_USAGE, buyer_id, buyer_group_id, ...dollars },
  { ...NO_USAGE, traffic_source_id, ...dollars },
];

const toCountedRevenue = (call: Omit<CountedCall, 'id'>, { at, amount }: Dollars): CountedUsage[] =>
  toCountedEntries(call, { at, revenue: amount, earned_revenue: amount });

const toCountedPayout = (call: Omit<CountedCall, 'id'>, { at, amount }: Dollars): CountedUsage[] =>
  toCountedEntries(call, { at, earned_revenue: -amount });

const listRevenueChanges = (amounts: readonly Amount[], buyerId: number | null): Dollars[] =>
  amounts
    .filter((amount) => amount.event === 'revenue_changed' && amount.buyer_id === buyerId)
    .map(({ created_at: at, amount }) => ({ at, amount }));

const findFirstPayment = (amounts: readonly Amount[]): Date | undefined =>
  amounts.find(({ event }) => event === 'payout' || event === 'payout_changed')?.created_at;

/** `at`: when the source was paid the part that no event of a change has. */
function listPayouts(
  { payout }: { payout: number },
  amounts: readonly Amount[],
  at: Date,
): Dollars[] {
  const changes = amounts
    .filter(({ event }) => event === 'payout_changed')
    .map(({ created_at, amount }) => ({ at: created_at, amount }));
  return computeRemaining([{ at, amount: cents(payout - sumAmounts(changes)) }, ...changes]);
}

/** Dollars that remain of those that were set one after the other. */
function computeRemaining(set: readonly Dollars[]): Dollars[] {
  const left: Dollars[] = [];
  for (const dollars of [...set].sort((a, b) => a.at.getTime() - b.at.getTime()))
    if (dollars.amount > 0) left.push(dollars);
    else takeOff(left, -dollars.amount);
  return left;
}

/** Takes an amount off the last of `left`, and returns what was taken. */
function takeOff(left: Dollars[], amount: number): Dollars[] {
  const removed: Dollars[] = [];
  let rest = amount;
  while (rest > 0) {
    const last = left.pop();
    if (!last) break;
    const part = Math.min(rest, last.amount);
    removed.push({ at: last.at, amount: part });
    if (part < last.amount) left.push({ at: last.at, amount: cents(last.amount - part) });
    rest = cents(rest - part);
  }
  return removed;
}

const sumAmounts = (dollars: readonly { amount: number }[]): number =>
  cents(dollars.reduce((sum, { amount }) => sum + amount, 0));
