import { deleteInPortions, PORTION } from '../../../data/portions';
import type { Sql } from '../../../data/sql';
import { DELETE_ENDED_SESSIONS, DELETE_OLD_ATTEMPTS } from '../queries/sign-in';

/** Deletes what is left of sessions that have ended, and counts of guesses that are old. */
export async function deleteEndedSignIns(sql: Sql): Promise<void> {
  for (const statement of [DELETE_ENDED_SESSIONS, DELETE_OLD_ATTEMPTS])
    await deleteInPortions(async () => (await sql(statement, { limit: PORTION }))[0]!.deleted!);
}
