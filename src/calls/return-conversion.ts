import type { Db } from '../db/tenant';
import { cents } from '../routing/engine/payout';
import {
  countedPayout,
  countedRevenue,
  readAmounts,
  readConversions,
  returnUsage,
  type Conversion,
} from './counted-dollars';
import type { EditableCall } from './editable-call';
import { RETURN_CONVERSIONS, RETURN_PAYOUT, UNCONVERT_LEAD } from './queries/return-conversion';
import { recordEvent } from './record-call';

export interface Return {
  /** Payments of buyers. */
  revenue: boolean;
  /** Payment to the traffic source. */
  payout: boolean;
  reason: string | null;
  now: Date;
}

type Sql = Pick<Db, 'sql'>;

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
    ...conversions.flatMap((conversion) => countedRevenue(call, conversion, amounts)),
    ...(payout ? countedPayout(call, amounts, { conversions, now }) : []),
  ];
  await returnUsage(db, call, counted, now);
  if (revenue) await returnRevenue(db, call, conversions, { reason, now });
  if (payout) await returnPayout(db, call, { reason, now });
}

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

/** For the details of an event. */
export const reasonIn = (reason: string | null | undefined) =>
  reason ? { adjustment_reason: reason } : {};
