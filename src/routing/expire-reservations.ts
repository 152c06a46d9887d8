import type { Pool } from 'pg';
import { freeEndedHolds } from './queries/reservations';

/** Gives back everything that is held for calls that have not come in time: each hold once, however many processes do so. Answers how many there were. */
export async function expireReservations(pool: Pool, now: Date): Promise<number> {
  let freed = 0;
  for (let last = -1; last !== 0; freed += last) last = await freeEndedHolds(pool, now);
  return freed;
}
