import type { Db } from '../../data/db';
import { READ_BUYER_NAMES } from './queries/buyer-names';

/** By id; includes deleted buyers. */
export async function loadBuyerNames(
  db: Pick<Db, 'sql'>,
  ids: readonly number[],
): Promise<Map<number, string | null>> {
  const rows = await db.sql(READ_BUYER_NAMES, { ids });
  return new Map(rows.map(({ id, name }) => [id, name]));
}
