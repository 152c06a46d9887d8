import type { Sql } from '../sql';
import {
  DELETE_ENDED_FAULTS,
  END_LOOP_FAULT,
  LIST_LOOP_FAULTS,
  RECORD_LOOP_FAULT,
} from './queries/loop-faults';

// Failures of background loops, for /readyz and doctor, in any process. Names are fixed sentences:
// they never have the text of an error.

/** The fault ends after `seconds` without another failure. */
export async function recordLoopFault(sql: Sql, name: string, seconds: number): Promise<void> {
  try {
    await sql(DELETE_ENDED_FAULTS, {});
    await sql(RECORD_LOOP_FAULT, { name, seconds: Math.ceil(seconds) });
  } catch {
    // /readyz reports a database that is down.
  }
}

export async function endLoopFault(sql: Sql, name: string): Promise<void> {
  await sql(END_LOOP_FAULT, { name }).catch(() => []);
}

/** The current faults in a database, with the time of their first failure. */
export const listLoopFaults = (sql: Sql): Promise<{ name: string; first_at: Date }[]> =>
  sql(LIST_LOOP_FAULTS, {});
