import type { Pool } from 'pg';
import { sqlOn } from '../../data/sql';
import { RELEASE_EXPIRED } from './queries/reservations';

/** In one transaction, which keeps calls from the caps of these. */
const MOST = 500;

/**
 * Releases the caps of reservations whose calls have not come in time, of all companies, and
 * returns how many there were. Several processes may run this: each reservation is released once.
 */
export async function expireReservations(pool: Pool, now: Date): Promise<number> {
  const sql = sqlOn(pool);
  let total = 0;
  for (;;) {
    const [row] = await sql(RELEASE_EXPIRED, { now, most: MOST });
    if (row!.n === 0) return total;
    total += row!.n;
  }
}
