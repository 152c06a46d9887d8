import type { Db } from '../db/tenant';
import type { DialedBuyer } from './change-call';
import { RELEASE_SLOTS, SETTLE_CONNECTION, SETTLE_CONVERSION } from './queries/concurrency-slots';

/** Releases the slots of a call that none of its open attempts needs any more, each once. */
export async function releaseSlots(db: Pick<Db, 'sql'>, call_id: number): Promise<void> {
  await db.sql(RELEASE_SLOTS, { call_id });
}

const SETTLE = { connection: SETTLE_CONNECTION, conversion: SETTLE_CONVERSION };

/**
 * Ends the reservation of a connection or a conversion that has happened: it is no longer pending,
 * and the same transaction counts it as used. The call is locked by the caller.
 */
export async function settlePending(
  db: Pick<Db, 'sql'>,
  what: keyof typeof SETTLE,
  { call_id, buyer_id, buyer_group_id }: DialedBuyer & { call_id: number },
): Promise<void> {
  await db.sql(SETTLE[what], { call_id, buyer_id, buyer_group_id });
}
