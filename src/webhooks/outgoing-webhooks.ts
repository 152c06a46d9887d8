import { commonColumns, type Projection, type SortKey } from '../db/projection';
import { endQueue, openQueue, wakeQueue } from './queries/queues';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { page } from '../http/list';
import { recordHandlers } from '../http/record-handlers';
import { shownSecret } from '../egress/standard-webhooks';
import { countOfOwner, DEFAULTS, webhookRow, type WebhookRow } from './save-webhook';

export const projection = {
  schema: 'OutgoingWebhook',
  singular: 'outgoing_webhook',
  plural: 'outgoing_webhooks',
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.url, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('outgoing_webhooks'),
    type: `'OutgoingWebhook'`,
    name: true,
    owner_type: true,
    owner_id: true,
    trigger_type: true,
    url: true,
    method: true,
    headers: true,
    body: true,
    timeout_seconds: true,
    success_codes: true,
    retries: true,
    paused: true,
    paused_reason: true,
    record_token_filter_list: 't.token_filters',
    alert_email: true,
    secret_version: true,
    secret_rotated_at: true,
  },
} as const satisfies Projection<'OutgoingWebhook', 'outgoing_webhook', 'outgoing_webhooks'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  trigger_type: { sql: 't.trigger_type', type: 'text' },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
  updated_at: { sql: 't.updated_at', type: 'timestamptz' },
  paused: { sql: 't.paused', type: 'boolean' },
};

const filters = { trigger_type: 't.trigger_type = {trigger_type}', paused: 't.paused = {paused}' };
const SIGNING = { uuid: true, secret_version: true } as const;

/** Who is told of what happens. */
export const outgoingWebhooks = ({ clock, config, pepper }: Deps) => {
  const records = recordHandlers(projection, clock);
  const networks = config.webhook_allow_networks;
  const key = (company_id: bigint, id: bigint) => ({ company_id_id: { company_id, id } });
  return {
    listOutgoingWebhooks: ({ query, db }) =>
      page(query, { db, now: clock(), projection, orders, filters }),
    newOutgoingWebhook: (call) =>
      records.unsaved(call, {
        ...DEFAULTS,
        headers: {},
        success_codes: [],
        token_filters: [],
        secret_version: 1,
      }),
    showOutgoingWebhook: records.show,

    createOutgoingWebhook: (call) => {
      let secret = '';
      return records.create(
        call,
        async (tx, fields, now) => {
          const row = await webhookRow(tx, undefined, fields, networks);
          const data = {
            ...row,
            company_id: tx.company_id,
            user_updated_at: now,
            created_at: now,
            updated_at: now,
          };
          const { id, ...signing } = await tx.prisma.outgoingWebhook.create({
            data,
            select: { id: true, ...SIGNING },
          });
          secret = shownSecret(pepper, signing);
          await openQueue(tx, id);
          await countOfOwner(tx, [row]);
          return id;
        },
        () => ({ secret }),
      );
    },

    updateOutgoingWebhook: (call) =>
      records.update(call, async (tx, id, { fields, now }) => {
        const where = key(tx.company_id, id);
        const before = (await tx.prisma.outgoingWebhook.findUniqueOrThrow({
          where,
        })) as WebhookRow & { paused: boolean };
        const row = await webhookRow(tx, before, fields, networks);
        // Whoever unpauses it by hand knows why it was paused.
        const paused_reason = fields.paused === undefined ? {} : { paused_reason: null };
        await tx.prisma.outgoingWebhook.update({
          where,
          data: { ...row, ...paused_reason, user_updated_at: now, updated_at: now },
        });
        if (row.paused !== before.paused)
          await (row.paused ? endQueue(tx, id) : wakeQueue(tx, id, now));
        if (row.owner_type !== before.owner_type || row.owner_id !== before.owner_id)
          await countOfOwner(tx, [before, row]);
      }),

    rotateOutgoingWebhookSecret: (call) => {
      let secret = '';
      return records.update(
        { ...call, body: {} },
        async (tx, id, { now }) => {
          const data = {
            secret_version: { increment: 1 },
            secret_rotated_at: now,
            user_updated_at: now,
            updated_at: now,
          };
          secret = shownSecret(
            pepper,
            await tx.prisma.outgoingWebhook.update({
              where: key(tx.company_id, id),
              data,
              select: SIGNING,
            }),
          );
        },
        () => ({ secret }),
      );
    },

    deleteOutgoingWebhook: (call) =>
      records.delete(call, async (tx, id, now) => {
        const data = { deleted_at: now, updated_at: now, user_updated_at: now };
        const row = await tx.prisma.outgoingWebhook.update({ where: key(tx.company_id, id), data });
        await endQueue(tx, id);
        await countOfOwner(tx, [row]);
      }),
  } satisfies Partial<Handlers>;
};
