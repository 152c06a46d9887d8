import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import { writeTargets, type Targets } from './message-targets';
import {
  ADD_EVENTS,
  FIND_TARGETED_AGENTS,
  LOCK_AGENTS,
  LOCK_AGENTS_OF_MESSAGE,
  NOTIFY_AGENTS,
} from './queries/messages';
import { AGENT_CHANNEL } from './streams';

interface SavedTargets {
  targets: Targets;
  isNew: boolean;
  contentChanged: boolean;
}

/**
 * Writes the targets of a locked message, determines its recipients again if these change, and
 * notifies those who are concerned.
 */
export async function saveTargets(
  tx: Db,
  id: bigint,
  { targets, isNew, contentChanged }: SavedTargets,
): Promise<void> {
  const targetsChanged = await writeTargets(tx, id, { targets, isNew });
  if (isNew || targetsChanged) await updateRecipients(tx, id, { notify_all: contentChanged });
  else if (contentChanged) await notifyRecipients(tx, id);
}

/** Callers with a limited access scope must not send messages to all agents of the company. */
export function requireTarget({ accessScope }: Db, lists: Targets): void {
  const { buyer_ids = [], buyer_group_ids = [], call_center_ids = [] } = lists;
  if (!accessScope || [...buyer_ids, ...buyer_group_ids, ...call_center_ids].length > 0) return;
  throw HttpProblem.field(
    'buyer_ids',
    'beyond_your_rights',
    'must name buyers, or buyer_group_ids or call_center_ids: your teams are granted single ' +
      'records',
  );
}

/**
 * Determines the recipients of a message from its targets, and notifies those who gained or lost
 * it; with `notify_all`, also those who had it before and still do. The message is locked.
 */
async function updateRecipients(
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
  await db.prisma.agentMessageRecipient.deleteMany({
    where: { agent_message_id: id, agent_id: { in: lost.map(BigInt) } },
  });
  await db.prisma.agentMessageRecipient.createMany({
    data: gained.map((agent) => ({
      company_id: db.company_id,
      agent_message_id: id,
      agent_id: BigInt(agent),
    })),
  });
  await db.prisma.agentMessage.updateMany({
    where: { id },
    data: { agent_widget_count: current.length },
  });
  await notify(db, id, [...lost, ...(notify_all ? current : gained)]);
}

/** The row of the message must be locked. */
export async function notifyRecipients(db: Db, id: bigint): Promise<void> {
  const agentIds = await listRecipients(db, id);
  await db.sql(LOCK_AGENTS, { agent_ids: agentIds });
  await notify(db, id, agentIds);
}

async function listRecipients(db: Db, id: bigint): Promise<string[]> {
  const recipients = await db.prisma.agentMessageRecipient.findMany({
    where: { agent_message_id: id },
    orderBy: { agent_id: 'asc' },
  });
  return recipients.map(({ agent_id }) => String(agent_id));
}

/** The rows of the agents must be locked. */
async function notify(db: Db, id: bigint, agentIds: readonly string[]): Promise<void> {
  if (agentIds.length === 0) return;
  await db.sql(ADD_EVENTS, { id, agent_ids: agentIds });
  await db.sql(NOTIFY_AGENTS, { channel: AGENT_CHANNEL, agent_ids: agentIds });
}
