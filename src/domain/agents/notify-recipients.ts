import type { Db } from '../../data/tenant';
import {
  ADD_EVENTS,
  DELETE_RECIPIENTS,
  FIND_TARGETED_AGENTS,
  INSERT_RECIPIENTS,
  LIST_RECIPIENTS,
  LOCK_AGENTS,
  LOCK_AGENTS_OF_MESSAGE,
  NOTIFY_AGENTS,
} from './queries/messages';
import { AGENT_CHANNEL } from './streams';

/**
 * Determines the recipients of a message from its targets, and notifies those who gained or lost
 * it; with `notify_all`, also those who had it before and still do. The message is locked.
 */
export async function updateRecipients(
  db: Db,
  id: bigint,
  { notify_all }: { notify_all: boolean },
): Promise<void> {
  const former = await listRecipients(db, id);
  const [row] = await db.sql(FIND_TARGETED_AGENTS, { id });
  const locked = await db.sql(LOCK_AGENTS_OF_MESSAGE, { id, former, targeted: row!.agent_ids });
  const current = locked.filter(({ is_recipient }) => is_recipient).map((agent) => agent.id);
  const [had, has] = [new Set(former), new Set(current)];
  const lost = former.filter((agent) => !has.has(agent));
  const gained = current.filter((agent) => !had.has(agent));
  await db.sql(DELETE_RECIPIENTS, { id, agent_ids: lost });
  await db.sql(INSERT_RECIPIENTS, { id, agent_ids: gained });
  await db.prisma.agentMessage.updateMany({
    where: { id },
    data: { agent_widget_count: current.length },
  });
  await notify(db, id, [...lost, ...(notify_all ? current : gained)]);
}

export async function notifyRecipients(db: Db, id: bigint): Promise<void> {
  const agentIds = await listRecipients(db, id);
  await db.sql(LOCK_AGENTS, { agent_ids: agentIds });
  await notify(db, id, agentIds);
}

const listRecipients = async (db: Db, id: bigint): Promise<string[]> =>
  (await db.sql(LIST_RECIPIENTS, { id })).map((row) => row.id);

/** The rows of the agents must be locked. */
async function notify(db: Db, id: bigint, agentIds: readonly string[]): Promise<void> {
  if (agentIds.length === 0) return;
  await db.sql(ADD_EVENTS, { id, agent_ids: agentIds });
  await db.sql(NOTIFY_AGENTS, { channel: AGENT_CHANNEL, agent_ids: agentIds });
}
