import { replaceAttached } from '../db/attachments';
import type { Db } from '../db/tenant';
import { deletedAt } from '../db/timestamps';

/** Deletes an agent whose row is locked, and removes it from its call centers and buyers. */
export async function deleteAgent(db: Db, agent_id: bigint, now: Date): Promise<void> {
  await replaceAttached(db, 'agent_call_centers', { agent_id }, { call_center_id: [] });
  await replaceAttached(db, 'agent_buyers', { agent_id }, { buyer_id: [] });
  const where = { company_id_id: { company_id: db.company_id, id: agent_id } };
  await db.prisma.agent.update({
    where,
    data: deletedAt(now),
    select: { id: true },
  });
}
