import type { Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/tenant';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import { HttpProblem } from '../../platform/errors';
import { resolveTargets, writeTargets, type Targets } from './message-targets';
import { notifyRecipients, updateRecipients } from './notify-recipients';

type NewFields = Omit<Schemas['AgentMessageCreate'], 'serializer'>;
type Fields = Omit<Schemas['AgentMessageUpdate'], 'serializer'>;

export async function createMessage(
  tx: Db,
  { content, external_record_id, ...fields }: NewFields,
  { user_id, now }: { user_id: bigint | null; now: Date },
): Promise<bigint> {
  const { agent_status_id, ...lists } = await resolveTargets(tx, fields);
  requireTarget(tx, lists);
  const { id } = await tx.prisma.agentMessage.create({
    data: {
      content,
      external_record_id,
      agent_status_id,
      user_id,
      company_id: tx.company_id,
      ...createdAt(now),
    },
    select: { id: true },
  });
  await writeTargets(tx, id, lists);
  await updateRecipients(tx, id, { notify_all: true });
  return id;
}

/** Changes a locked message. Its recipients are determined again if its targets change. */
export async function updateMessage(
  tx: Db,
  id: bigint,
  { fields, targets, now }: { fields: Fields; targets: Targets; now: Date },
): Promise<void> {
  const { content, external_record_id } = fields;
  const where = { company_id_id: { company_id: tx.company_id, id } };
  const before = await tx.prisma.agentMessage.findUniqueOrThrow({
    where,
    select: { content: true },
  });
  await tx.prisma.agentMessage.update({
    where,
    data: { content, external_record_id, ...changedAt(now) },
  });
  const contentChanged = content !== undefined && content !== before.content;
  if (await writeTargets(tx, id, targets))
    await updateRecipients(tx, id, { notify_all: contentChanged });
  else if (contentChanged) await notifyRecipients(tx, id);
}

/** Deletes a locked message and notifies its recipients that it is withdrawn. */
export async function deleteMessage(tx: Db, id: bigint, now: Date): Promise<void> {
  await tx.prisma.agentMessage.update({
    where: { company_id_id: { company_id: tx.company_id, id } },
    data: deletedAt(now),
  });
  await notifyRecipients(tx, id);
}

/** Callers with a limited access scope must not send messages to all agents of the company. */
function requireTarget({ accessScope }: Db, lists: Targets): void {
  const { buyer_ids = [], buyer_group_ids = [], call_center_ids = [] } = lists;
  if (!accessScope || [...buyer_ids, ...buyer_group_ids, ...call_center_ids].length > 0) return;
  throw HttpProblem.field(
    'buyer_ids',
    'beyond_your_rights',
    'must name buyers, or buyer_group_ids or call_center_ids: your teams are granted single ' +
      'records',
  );
}
