import { deleteInPortions, PORTION } from '../../data/portions';
import type { Sql } from '../../data/sql';
import { DELETE_EXPIRED_BIDS, DELETE_OLD_BID_FAILURES } from './queries/bids';

/** Deletes expired bids, and failures that no longer count, of all companies. */
export async function deleteExpiredBids(sql: Sql): Promise<void> {
  for (const statement of [DELETE_EXPIRED_BIDS, DELETE_OLD_BID_FAILURES] as const)
    await deleteInPortions(async () => {
      const [row] = await sql(statement as typeof DELETE_EXPIRED_BIDS, { max: PORTION });
      return row!.deleted!;
    });
}
