import type { Sql } from '../db/sql';
import { DELETE_EXPIRED_PINGS } from './queries/expired-pings';

/** Deletes pings that can no longer be posted to, of all companies. */
export async function deleteExpiredPings(sql: Sql): Promise<void> {
  await sql(DELETE_EXPIRED_PINGS, {});
}
