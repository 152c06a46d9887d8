import { moveCount } from '../../data/counts/counters';
import type { Db } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import { HttpProblem } from '../../platform/errors';
import { INSERT_MISSING_USERS, LOCK_USERS_BY_EMAIL } from './queries/users';

/**
 * Returns the ids of the users with these e-mail addresses, ascending, and creates those that are
 * missing. The users are locked, so that two requests that invite the same user run one after the
 * other. Throws a 503 problem in the rare case that one of them is being deleted.
 */
export async function findOrCreateUsers(
  db: Db,
  addresses: readonly string[],
  now: Date,
): Promise<bigint[]> {
  if (addresses.length === 0) return [];
  const emails = [...new Set(addresses.map((address) => address.toLowerCase()))].toSorted();
  const created = await db.sql(INSERT_MISSING_USERS, {
    uuids: emails.map(() => uuidv7(now.getTime())),
    emails,
    now: now.toISOString(),
  });
  if (created.length > 0) await moveCount(db, 'users', created.length);
  const rows = await db.sql(LOCK_USERS_BY_EMAIL, { emails });
  // A user who is deleted after the INSERT is neither created nor found: a retry creates them.
  if (rows.length < emails.length)
    throw new HttpProblem(
      'contended',
      'A user with one of these addresses is just being deleted.',
      { headers: { 'Retry-After': '1' } },
    );
  return rows.map(({ id }) => BigInt(id));
}
