import type { Db } from '../db/tenant';
import { CLAIM_NUMBER } from './queries/number-lookups';

/**
 * Makes this transaction the only one of the installation that buys or adds a number, until it
 * ends or its process dies. False when another one has it: it does not wait for that one, since
 * only one can get the number.
 */
export async function claimNumber(db: Db, phone_number: bigint): Promise<boolean> {
  const [row] = await db.sql(CLAIM_NUMBER, { name: `number/${phone_number}` });
  return row!.is_claimed;
}
