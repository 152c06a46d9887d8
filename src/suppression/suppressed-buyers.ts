import type { Db } from '../db/tenant';
import { FIND_SUPPRESSED_BUYERS } from './queries/numbers';

/** A buyer that must not get a call, and the list that has the caller's number. */
export interface Suppressed {
  buyer_id: number;
  buyer_suppression_id: number;
}

/**
 * Which of the buyers must not get a call from this number, and because of which of their lists.
 * `number` is E.164 without the plus sign.
 */
export function suppressedBuyers(
  db: Db,
  number: number,
  buyer_ids: readonly (bigint | number)[],
): Promise<Suppressed[]> {
  return db.sql(FIND_SUPPRESSED_BUYERS, { number, buyer_ids });
}
