import { deleteInPortions, PORTION } from '../../data/portions';
import type { Sql } from '../../data/sql';
import { DELETE_EXPIRED_PINGS } from './queries/pings';

export async function deleteExpiredPings(sql: Sql): Promise<void> {
  await deleteInPortions(async () => {
    const [row] = await sql(DELETE_EXPIRED_PINGS, { max: PORTION });
    return row!.deleted!;
  });
}
