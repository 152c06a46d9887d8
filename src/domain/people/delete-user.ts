import { replaceAttached } from '../../data/attachments';
import { moveCount } from '../../data/counts/counters';
import { lockRecord } from '../../data/records';
import type { Db } from '../../data/tenant';
import { deletedAt } from '../../data/timestamps';
import { revokeCredentials } from './issue-credentials';

/**
 * Deletes an agent whose row is locked. Passed in, since src/domain/agents/ is a layer above
 * src/domain/people/.
 */
export type DeleteAgent = (db: Db, agentId: bigint, now: Date) => Promise<void>;

/**
 * Deletes a locked user: removes them from their teams, revokes their tokens, and deletes their
 * agent.
 */
export async function deleteUser(
  tx: Db,
  id: bigint,
  { now, deleteAgent }: { now: Date; deleteAgent: DeleteAgent },
): Promise<void> {
  await replaceAttached(
    tx,
    'access_control_list_users',
    { user_id: id },
    { access_control_list_id: [] },
  );
  const isTheirs = { where: { user_id: id, deleted_at: null }, select: { id: true } };
  for (const token of await tx.prisma.accessToken.findMany(isTheirs))
    await revokeCredentials(tx, token.id, now);
  const agent = await tx.prisma.agent.findFirst(isTheirs);
  if (agent) {
    const locked = await lockRecord(tx, 'agents', agent.id.toString());
    await deleteAgent(tx, locked.id, now);
    await moveCount(tx, 'agents', -1);
  }
  await tx.prisma.user.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: { ...deletedAt(now), invitation_open: false },
    select: { id: true },
  });
}
