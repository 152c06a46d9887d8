import { uuidv7 } from '../../db/uuid';
import type { Queue } from '../../jobs/queue';
import { HttpProblem } from '../../errors';
import type { Db } from '../../db/tenant';
import { moveCount } from '../../db/counters';

/** The ids of the users with these addresses, in the order of ids; who is not there is made. Parallel requests make one. Locks them, so that of two who invite one waits. */
export async function usersWith(
  db: Db,
  addresses: readonly string[],
  now: Date,
): Promise<bigint[]> {
  if (addresses.length === 0) return [];
  const emails = [...new Set(addresses.map((address) => address.toLowerCase()))].toSorted();
  const made = await db.query<{ id: string }>({
    text: `INSERT INTO users (company_id, uuid, email, created_at, updated_at) SELECT $1, u.uuid, u.email, $4, $4 FROM unnest($2::uuid[], $3::text[]) AS u(uuid, email)
      ON CONFLICT (company_id, email) WHERE deleted_at IS NULL DO NOTHING RETURNING id::text`,
    values: [db.company_id, emails.map(() => uuidv7(now.getTime())), emails, now.toISOString()],
  });
  if (made.length > 0) await moveCount(db, 'users', made.length);
  const rows = await db.query<{ id: string }>({
    text: 'SELECT id::text FROM users WHERE company_id = $1 AND email = ANY($2::text[]) AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE',
    values: [db.company_id, emails],
  });
  // Who was deleted in this very moment is not there, and neither made anew: the request may be sent again.
  if (rows.length < emails.length)
    throw new HttpProblem(
      503,
      'A user with one of these addresses is just being deleted.',
      {},
      { 'Retry-After': '1' },
    );
  return rows.map(({ id }) => BigInt(id));
}

/** Voids earlier invitations of users and mails each a new one, once this transaction is committed. */
export async function inviteUsers(
  db: Db,
  ids: readonly bigint[],
  { queue, now }: { queue: Queue; now: Date },
): Promise<void> {
  if (ids.length === 0) return;
  const invited = await db.query<{ id: string; number: number }>({
    text: `UPDATE users SET invitation_number = invitation_number + 1, invitation_open = true, invited_at = $3, updated_at = $3 WHERE company_id = $1 AND id = ANY($2::bigint[])
      AND deleted_at IS NULL RETURNING id::text, invitation_number AS number`,
    values: [db.company_id, ids, now.toISOString()],
  });
  for (const { id, number } of invited)
    await queue.add(db, 'send_invitation', {
      company_id: String(db.company_id),
      user_id: id,
      number,
    });
}
