import { deleteInPortions, PORTION } from '../db/portions';
import type { Sql } from '../db/sql';
import { DELETE_EXPIRED_PINGS } from './queries/pings';

/** Deletes pings of all companies that can no longer be posted for. */
export async function deleteExpiredPings(sql: Sql): Promise<void> {
  await deleteInPortions(async () => {
    const [row] = await sql(DELETE_EXPIRED_PINGS, { max: PORTION });
    return row!.deleted!;
  });
}
