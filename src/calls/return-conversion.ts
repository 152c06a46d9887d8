import type { Db } from '../db/tenant';
import { cents } from '../routing/engine/payout';
import type { EditableCall } from './editable-call';
import {
  READ_AMOUNTS,
  READ_CONVERSIONS,
  RETURN_CONVERSIONS,
  RETURN_PAYOUT,
  RETURN_USAGE,
  UNCONVERT_LEAD,
} from './queries/return-conversion';
import { recordEvent } from './record-call';

/** What is returned of a call. */
export interface Return {
  /** What buyers pay for it. */
  revenue: boolean;
  /** What its traffic source is paid. */
  payout: boolean;
  reason: string | null;
  now: Date;
}

type Sql = Pick<Db, 'sql'>;
type Conversion = Awaited<ReturnType<typeof readConversions>>[number];
type Amount = Awaited<ReturnType<typeof readAmounts>>[number];

/** What was counted for a buyer and its group, or for a source, at a time. */
interface Counted {
  buyer_id: number | null;
  buyer_group_id: number | null;
  traffic_source_id: number | null;
  at: Date;
  conversions: number;
  revenue: number;
  earned_revenue: number;
}

/**
 * Returns what buyers pay for a locked call, what its source is paid, or both: dollars, flags,
 * caps, the lead and the conversions, which stay as returned ones. A statement of the lead comes
 * after those of the caps, as in converting a call.
 */
export async function returnConversion(
  db: Sql,
  call: EditableCall,
  { revenue, payout, reason, now }: Return,
): Promise<void> {
  const conversions = revenue ? await readConversions(db, call) : [];
  const amounts = await readAmounts(db, call);
  const counted = [
    ...conversions
      .flatMap((conversion) => countedRevenue(conversion, amounts))
      .flatMap((each) => [each, ofSource(call, each, 0)]),
    ...(payout ? countedPayout(call, amounts, { conversions, now }) : []),
  ];
  if (counted.length > 0)
    await db.sql(RETURN_USAGE, { counted: JSON.stringify(counted), call_id: call.id, now });
  if (revenue) await returnRevenue(db, call, conversions, { reason, now });
  if (payout) await returnPayout(db, call, { reason, now });
}

const readConversions = (db: Sql, { id }: EditableCall) =>
  db.sql(READ_CONVERSIONS, { call_id: id });
const readAmounts = (db: Sql, { id }: EditableCall) => db.sql(READ_AMOUNTS, { call_id: id });

/** Dollars count when they are set; those that no event has set, when the call converted. */
function countedRevenue(
  { buyer_id, buyer_group_id, converted_at, revenue }: Conversion,
  amounts: readonly Amount[],
): Counted[] {
  const changes = amounts.filter(
    (amount) => amount.event === 'revenue_changed' && amount.buyer_id === buyer_id,
  );
  const at_conversion = cents(revenue - sumOf(changes));
  const dollars = (at: Date, amount: number, conversions: number): Counted => ({
    buyer_id,
    buyer_group_id,
    traffic_source_id: null,
    at,
    conversions,
    revenue: amount,
    earned_revenue: amount,
  });
  return [
    dollars(converted_at, at_conversion, 1),
    ...changes.map((change) => dollars(change.created_at, change.amount, 0)),
  ];
}

/** The same for the source of the call; of it, a call converts that it is paid for. */
const ofSource = (
  { traffic_source_id }: EditableCall,
  counted: Counted,
  conversions: number,
): Counted => ({
  ...counted,
  buyer_id: null,
  buyer_group_id: null,
  traffic_source_id,
  conversions,
});

function countedPayout(
  call: EditableCall,
  amounts: readonly Amount[],
  { conversions, now }: { conversions: readonly Conversion[]; now: Date },
): Counted[] {
  const { buyer_id, buyer_group_id, payout } = call;
  const changes = amounts.filter(({ event }) => event === 'payout_changed');
  const paid = amounts.find(({ event }) => event === 'payout');
  const paid_at = paid?.created_at ?? conversions[0]?.converted_at ?? now;
  const dollars = (at: Date, amount: number): Counted => ({
    buyer_id,
    buyer_group_id,
    traffic_source_id: null,
    at,
    conversions: 0,
    revenue: 0,
    earned_revenue: -amount,
  });
  const first = dollars(paid_at, cents(payout - sumOf(changes)));
  const others = changes.map((change) => dollars(change.created_at, change.amount));
  return [
    first,
    ...others,
    ofSource(call, first, 1),
    ...others.map((each) => ofSource(call, each, 0)),
  ];
}

const sumOf = (amounts: readonly Amount[]): number =>
  amounts.reduce((sum, { amount }) => sum + amount, 0);

type Returned = Pick<Return, 'reason' | 'now'>;

async function returnRevenue(
  db: Sql,
  { id: call_id }: EditableCall,
  conversions: readonly Conversion[],
  { reason, now }: Returned,
): Promise<void> {
  const revenue = cents(conversions.reduce((sum, conversion) => sum + conversion.revenue, 0));
  const conversion_ids = conversions.map(({ id }) => id);
  await db.sql(RETURN_CONVERSIONS, { call_id, conversion_ids, revenue, reason, now });
  await db.sql(UNCONVERT_LEAD, { call_id });
  for (const conversion of conversions)
    await recordEvent(db, {
      call_id,
      event: 'conversion_returned',
      message: explained(`the buyer no longer pays ${dollarsOf(conversion.revenue)}`, reason),
      buyer_id: conversion.buyer_id,
      details: { revenue: conversion.revenue, ...reasonIn(reason) },
      now,
    });
}

async function returnPayout(
  db: Sql,
  { id: call_id, payout }: EditableCall,
  { reason, now }: Returned,
): Promise<void> {
  await db.sql(RETURN_PAYOUT, { call_id, payout, reason, now });
  await recordEvent(db, {
    call_id,
    event: 'payout_returned',
    message: explained(`the traffic source is no longer paid ${dollarsOf(payout)}`, reason),
    details: { payout, ...reasonIn(reason) },
    now,
  });
}

const dollarsOf = (amount: number) => `$${amount.toFixed(2)}`;
const explained = (what: string, reason: string | null) => (reason ? `${what}: ${reason}` : what);

/** The reason of a change, as the details of an event have it. */
export const reasonIn = (reason: string | null | undefined) =>
  reason ? { adjustment_reason: reason } : {};
