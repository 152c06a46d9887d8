import type { Db } from '../../data/db';
import { SAVE_LEG_PRICE } from './queries/call-costs';
import { FIND_CALL } from './queries/change-call';

export interface LegPrice {
  /** The carrier's name for the leg. */
  leg_id: string;
  /** Negative for a charge. */
  price: string | undefined;
  currency: string | undefined;
}

const PRICE = /^[+-]?\d{1,7}(\.\d{1,10})?$/;

/** Saves the price of a leg, by the id or uuid of its call. A text that is no price is ignored. */
export async function saveLegPrice(
  db: Db,
  call: { id: number } | { uuid: string } | undefined,
  { leg_id, price = '', currency }: LegPrice,
  now: Date,
): Promise<void> {
  const amount = price.trim();
  if (!call || !PRICE.test(amount)) return;
  const callId =
    'id' in call ? call.id : (await db.sql(FIND_CALL.uuid, { value: call.uuid }))[0]?.id;
  if (callId === undefined) return;
  const unit = currency?.trim().toUpperCase() || 'USD';
  await db.sql(SAVE_LEG_PRICE, { call_id: callId, leg_id, price: amount, currency: unit, now });
}
