import type { Db } from '../../data/db';
import { cents } from '../money/engine/payout';
import {
  listCountedPayout,
  listCountedRevenue,
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
    ...conversions.flatMap((conversion) => listCountedRevenue(call, conversion, amounts)),
    ...(payout ? listCountedPayout(call, amounts, { conversions, now }) : []),
  ];
  await returnUsage(db, call, counted, now);
  if (revenue) await returnRevenue(db, call, conversions, { reason, now });
  if (payout) await returnPayout(db, call, { reason, now });
}

type ReturnReason = Pick<Return, 'reason' | 'now'>;

async function returnRevenue(
  db: Sql,
  { id: callId }: EditableCall,
  conversions: readonly Conversion[],
  { reason, now }: ReturnReason,
): Promise<void> {
  const revenue = cents(conversions.reduce((sum, conversion) => sum + conversion.revenue, 0));
  const conversionIds = conversions.map(({ id }) => id);
  await db.sql(RETURN_CONVERSIONS, {
    call_id: callId,
    conversion_ids: conversionIds,
    revenue,
    reason,
    now,
  });
  await db.sql(UNCONVERT_LEAD, { call_id: callId });
  for (const conversion of conversions)
    await recordEvent(db, {
      call_id: callId,
      event: 'conversion_returned',
      message: appendReason(
        `the buyer no longer pays ${formatDollars(conversion.revenue)}`,
        reason,
      ),
      buyer_id: conversion.buyer_id,
      details: { revenue: conversion.revenue, ...toReasonDetails(reason) },
      now,
    });
}

async function returnPayout(
  db: Sql,
  { id: callId, payout }: EditableCall,
  { reason, now }: ReturnReason,
): Promise<void> {
  await db.sql(RETURN_PAYOUT, { call_id: callId, payout, reason, now });
  await recordEvent(db, {
    call_id: callId,
    event: 'payout_returned',
    message: appendReason(`the traffic source is no longer paid ${formatDollars(payout)}`, reason),
    details: { payout, ...toReasonDetails(reason) },
    now,
  });
}

const formatDollars = (amount: number) => `$${amount.toFixed(2)}`;
const appendReason = (what: string, reason: string | null) =>
  reason ? `${what}: ${reason}` : what;

/** For the details of an event. */
export const toReasonDetails = (reason: string | null | undefined) =>
  reason ? { adjustment_reason: reason } : {};
