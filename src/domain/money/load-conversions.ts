import type { Db } from '../../data/db';
import { OPEN_CONVERSIONS, type PayingConversion } from './queries/open-conversions';

export type { PayingConversion } from './queries/open-conversions';

/** The conversions of the buyer's time frame that is open at an instant, in their order. */
export const loadConversions = async (
  db: Pick<Db, 'sql'>,
  buyerId: number,
  at: Date,
): Promise<PayingConversion[]> =>
  (await db.sql(OPEN_CONVERSIONS, { buyer_id: buyerId, at }))[0]!.conversions;
