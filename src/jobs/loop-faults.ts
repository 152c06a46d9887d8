import type { Sql } from '../db/sql';
import {
  DELETE_ENDED_FAULTS,
  END_LOOP_FAULT,
  LIST_LOOP_FAULTS,
  RECORD_LOOP_FAULT,
} from './queries/loop-faults';

// What a loop of the background could not do, for /readyz and doctor, in any process. Names are
// sentences of ours: no error of the inside is among them.

/** Notes that something fails; it counts as over after `seconds` without another failure. */
export async function recordLoopFault(sql: Sql, name: string, seconds: number): Promise<void> {
  try {
    await sql(DELETE_ENDED_FAULTS, {});
    await sql(RECORD_LOOP_FAULT, { name, seconds: Math.ceil(seconds) });
  } catch {
    // Where the database is down, /readyz says so.
  }
}

/** Notes that it works again. */
export async function endLoopFault(sql: Sql, name: string): Promise<void> {
  await sql(END_LOOP_FAULT, { name }).catch(() => []);
}

/** What fails now in a database, and since when. */
export const listLoopFaults = (sql: Sql): Promise<{ name: string; first_at: Date }[]> =>
  sql(LIST_LOOP_FAULTS, {});
