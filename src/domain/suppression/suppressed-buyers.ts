import type { Db } from '../../data/db';
import { FIND_SUPPRESSED_BUYERS } from './queries/numbers';

export interface SuppressedBuyer {
  buyer_id: number;
  buyer_suppression_id: number;
}

/**
 * The buyers that must not get a call from this number, each with the lists that contain it.
 * `number` is E.164 without the plus sign.
 */
export function findSuppressedBuyers(
  db: Db,
  number: number,
  buyerIds: readonly (bigint | number)[],
): Promise<SuppressedBuyer[]> {
  return db.sql(FIND_SUPPRESSED_BUYERS, { number, buyer_ids: buyerIds });
}
