import { replaceAttached } from '../db/attachments';
import type { Db } from '../db/tenant';
import { DELETE_AGENT } from './queries/statuses';

/** The row of the agent must be locked. */
export async function deleteAgent(db: Db, agent_id: bigint, now: Date): Promise<void> {
  await replaceAttached(db, 'agent_call_centers', { agent_id }, { call_center_id: [] });
  await replaceAttached(db, 'agent_buyers', { agent_id }, { buyer_id: [] });
  await db.sql(DELETE_AGENT, { agent_id, now: now.toISOString() });
}
