import { replaceAttached } from '../../data/attachments';
import type { Db } from '../../data/db';
import { DELETE_AGENT } from './queries/statuses';

/** The row of the agent must be locked. */
export async function deleteAgent(db: Db, agentId: bigint, now: Date): Promise<void> {
  await replaceAttached(db, 'agent_call_centers', { agent_id: agentId }, { call_center_id: [] });
  await replaceAttached(db, 'agent_buyers', { agent_id: agentId }, { buyer_id: [] });
  await db.sql(DELETE_AGENT, { agent_id: agentId, now: now.toISOString() });
}
