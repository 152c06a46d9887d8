import { Prisma } from '../../generated/prisma/client';
import { toKey } from '../../data/references';
import type { Schemas } from '../../platform/contract/contract';
import { formatSecret } from '../../platform/egress/standard-webhooks';
import { toMakerColumns } from '../../data/access/makers';
import { changedAt } from '../../data/timestamps';
import type { Deps } from '../deps';
import type { Call, Handlers } from '../../api/handlers';
import { noun } from '../../api/records/noun';
import { requestConfirmations } from '../people/confirm-addresses';
import { requireValueLists } from '../value-lists/require-lists';
import { closeQueue, openQueue, wakeQueue } from './queues';
import { requireReadable } from './readable-events';
import { DEFAULTS, webhookColumns, type WebhookColumns } from './webhook-columns';
import { countWebhooks, resolveOwner, type WebhookOwner } from './webhook-owner';

// Outgoing webhooks. Writers of records also record their events (prisma/sql/webhooks). Events are
// fanned out to deliveries, which are sent with retries; each attempt is logged. Lock order: owner,
// webhook, buyer that counts its webhooks, queue, delivery.

const outgoingWebhook = noun({
  schema: 'OutgoingWebhook',
  singular: 'outgoing_webhook',
  plural: 'outgoing_webhooks',
  search: ['name', 'url', 'external_record_id'],
  computed: {
    record_token_filter_list: 't.token_filters',
    alert_email_confirmed: `CASE WHEN t.alert_email IS NOT NULL THEN EXISTS (
      SELECT
      FROM mail_addresses a
      WHERE a.company_id = t.company_id AND a.email = lower(t.alert_email)
        AND a.confirmed_at IS NOT NULL
    ) END`,
  },
  filters: { trigger_type: 't.trigger_type = {trigger_type}', paused: 't.paused = {paused}' },
});
export const { projection } = outgoingWebhook;

type Row = WebhookColumns & WebhookOwner;

const SIGNING = { uuid: true, secret_version: true } as const;

export const outgoingWebhooks = (deps: Deps) => {
  const { pepper, config, queue, clock } = deps;
  const handlers = outgoingWebhook.handlers(deps, {
    reads: Object.values(Prisma.OutgoingWebhookScalarFieldEnum),
    unsaved: {
      ...DEFAULTS,
      headers: {},
      success_codes: [],
      token_filters: [],
      secret_version: 1,
    },

    columns: async ({ tx, fields: { owner_id, owner_type, ...fields }, caller, ...work }) => {
      const before = work.before as Row | undefined;
      const columns = webhookColumns(before, fields, config.webhook_allow_networks);
      await requireValueLists(tx, fields.record_token_filter_list, 'record_token_filter_list');
      requireReadable(caller, columns.trigger_type as Schemas['WebhookTriggerType']);
      return {
        ...columns,
        ...(await resolveOwner(tx, before, { owner_id, owner_type })),
        ...toMakerColumns(tx),
        // The stored reason is of a pause by the service; now the customer has decided.
        ...(before && fields.paused !== undefined && { paused_reason: null }),
      };
    },

    save: async ({ tx, id, fields, before, now, extra, ...work }) => {
      const row = work.row as unknown as Row;
      const { owner_type, owner_id, paused, alert_email } = row;
      if (!before) {
        await openQueue(tx, id);
        await countWebhooks(tx, [row]);
      } else {
        if (paused !== before.paused) await (paused ? closeQueue(tx, id) : wakeQueue(tx, id, now));
        if (owner_type !== before.owner_type || owner_id !== before.owner_id)
          await countWebhooks(tx, [before as Row, row]);
      }
      if (alert_email !== null && (!before || fields.alert_email !== undefined))
        await requestConfirmations(tx, [alert_email], { queue, config, now, field: 'alert_email' });
      if (before) return;
      const signing = await tx.prisma.outgoingWebhook.findUniqueOrThrow({
        where: toKey(tx, id),
        select: SIGNING,
      });
      extra.secret = formatSecret(pepper, signing);
    },

    deletion: {
      finish: async ({ tx, id, before }) => {
        await closeQueue(tx, id);
        await countWebhooks(tx, [before as Row]);
      },
    },
  });
  const { change } = outgoingWebhook.writer({ clock });
  return {
    ...handlers,
    // The previous secret stays valid for a day.
    rotateOutgoingWebhookSecret: (call: Call<'rotateOutgoingWebhookSecret'>) =>
      change(call, {
        work: async ({ tx, id, now }) => {
          const signing = await tx.prisma.outgoingWebhook.update({
            where: toKey(tx, id),
            data: { secret_version: { increment: 1 }, secret_rotated_at: now, ...changedAt(now) },
            select: SIGNING,
          });
          return { secret: formatSecret(pepper, signing) };
        },
      }),
  } satisfies Partial<Handlers>;
};
