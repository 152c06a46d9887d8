import type { Sql } from '../db/sql';
import { DELETE_EXPIRED_BIDS } from './queries/bids';

/** Deletes bids of all companies that have expired, and failures that no longer count. */
export async function deleteExpiredBids(sql: Sql): Promise<void> {
  await sql(DELETE_EXPIRED_BIDS, {});
}
