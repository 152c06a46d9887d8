import type { Db } from '../db/tenant';
import type { Queue } from '../jobs/queue';
import { OPEN_INVITATIONS } from './queries/users';

/**
 * Invalidates the earlier invitations of users and queues a new one for each: it is mailed once
 * this transaction is committed.
 */
export async function inviteUsers(
  db: Db,
  ids: readonly bigint[],
  { queue, now }: { queue: Queue; now: Date },
): Promise<void> {
  if (ids.length === 0) return;
  const invited = await db.sql(OPEN_INVITATIONS, { ids, now: now.toISOString() });
  for (const { id, number } of invited)
    await queue.add(db, 'send_invitation', {
      company_id: String(db.company_id),
      user_id: id,
      number,
    });
}
