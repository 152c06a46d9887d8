import type { Db } from '../../data/db';
import { CLAIM_NUMBER } from './queries/number-lookups';

/**
 * Takes the installation-wide lock to buy or add a number, held until the transaction or its
 * process ends. Returns false without waiting when another transaction holds it: only one can get
 * the number.
 */
export async function claimNumber(db: Db, phoneNumber: bigint): Promise<boolean> {
  const [row] = await db.sql(CLAIM_NUMBER, { name: `number/${phoneNumber}` });
  return row!.is_claimed;
}
