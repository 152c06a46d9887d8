import type { Schemas } from '../../platform/contract/contract';
import { toMakerColumns } from '../../data/access/makers';
import type { Db } from '../../data/db';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import type { Caller } from '../../api/auth/caller';
import { formatSecret } from '../../platform/egress/standard-webhooks';
import type { Queue } from '../../data/jobs/queue';
import { requestConfirmations } from '../people/confirm-addresses';
import type { MailContext } from '../people/take-mails';
import { requireValueLists } from '../value-lists/require-lists';
import { requireReadable } from './readable-events';
import { closeQueue, openQueue, wakeQueue } from './queues';
import { webhookColumns, type WebhookColumns, type WebhookFields } from './webhook-columns';
import { countWebhooks, resolveOwner, type WebhookOwner } from './webhook-owner';

const SIGNING = { uuid: true, secret_version: true } as const;

const toKey = ({ company_id }: Db, id: bigint) => ({ company_id_id: { company_id, id } });

type WebhookRow = WebhookColumns & WebhookOwner;

interface SaveContext extends MailContext {
  caller: Caller;
  allow_networks: readonly string[];
  queue: Queue;
}

/** Creates a webhook with its queue, and returns its id and its secret. */
export async function createWebhook(
  tx: Db,
  fields: WebhookFields,
  { caller, allow_networks, pepper, ...context }: SaveContext & { pepper: string },
): Promise<{ id: bigint; secret: string }> {
  const { now } = context;
  const row = await mergeRow(tx, undefined, fields, { caller, allow_networks });
  const { id, ...signing } = await tx.prisma.outgoingWebhook.create({
    data: { ...row, ...toMakerColumns(tx), company_id: tx.company_id, ...createdAt(now) },
    select: { id: true, ...SIGNING },
  });
  await openQueue(tx, id);
  await countWebhooks(tx, [row]);
  await requestConfirmation(tx, row, context);
  return { id, secret: formatSecret(pepper, signing) };
}

export async function updateWebhook(
  tx: Db,
  id: bigint,
  { fields, caller, allow_networks, ...context }: SaveContext & { fields: WebhookFields },
): Promise<void> {
  const { now } = context;
  const where = toKey(tx, id);
  const before = (await tx.prisma.outgoingWebhook.findUniqueOrThrow({ where })) as WebhookRow;
  const row = await mergeRow(tx, before, fields, { caller, allow_networks });
  // The stored reason is of a pause by the service; now the customer has decided.
  const reason = fields.paused === undefined ? {} : { paused_reason: null };
  await tx.prisma.outgoingWebhook.update({
    where,
    data: { ...row, ...reason, ...toMakerColumns(tx), ...changedAt(now) },
  });
  if (row.paused !== before.paused)
    await (row.paused ? closeQueue(tx, id) : wakeQueue(tx, id, now));
  if (row.owner_type !== before.owner_type || row.owner_id !== before.owner_id)
    await countWebhooks(tx, [before, row]);
  if (fields.alert_email !== undefined) await requestConfirmation(tx, row, context);
}

/** Sends a confirmation request to an unconfirmed address; throws 429 when that must wait. */
const requestConfirmation = (
  tx: Db,
  { alert_email }: WebhookRow,
  context: MailContext & Pick<SaveContext, 'queue'>,
): Promise<void> =>
  requestConfirmations(tx, alert_email === null ? [] : [alert_email], {
    ...context,
    field: 'alert_email',
  });

async function mergeRow(
  db: Db,
  before: WebhookRow | undefined,
  { owner_id, owner_type, ...fields }: WebhookFields,
  { caller, allow_networks }: Pick<SaveContext, 'caller' | 'allow_networks'>,
): Promise<WebhookRow> {
  const columns = webhookColumns(before, fields, allow_networks);
  await requireValueLists(db, fields.record_token_filter_list, 'record_token_filter_list');
  requireReadable(caller, columns.trigger_type as Schemas['WebhookTriggerType']);
  return { ...columns, ...(await resolveOwner(db, before, { owner_id, owner_type })) };
}

/** Gives a locked webhook a new secret, and returns it. The previous one stays valid for a day. */
export async function rotateSecret(
  tx: Db,
  id: bigint,
  { pepper, now }: { pepper: string; now: Date },
): Promise<string> {
  const signing = await tx.prisma.outgoingWebhook.update({
    where: toKey(tx, id),
    data: {
      secret_version: { increment: 1 },
      secret_rotated_at: now,
      ...changedAt(now),
    },
    select: SIGNING,
  });
  return formatSecret(pepper, signing);
}

export async function deleteWebhook(tx: Db, id: bigint, now: Date): Promise<void> {
  const row = await tx.prisma.outgoingWebhook.update({
    where: toKey(tx, id),
    data: deletedAt(now),
  });
  await closeQueue(tx, id);
  await countWebhooks(tx, [row]);
}
