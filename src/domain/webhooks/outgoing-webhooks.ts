import { commonColumns, type Projection } from '../../data/projection/projection';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { createWebhook, deleteWebhook, rotateSecret, updateWebhook } from './save-webhook';
import { DEFAULTS } from './webhook-columns';
import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';

// Outgoing webhooks. Writers of records also record their events (prisma/sql/webhooks). Events are
// fanned out to deliveries, which are sent with retries; each attempt is logged. Lock order: owner,
// webhook, buyer that counts its webhooks, queue, delivery.

export const projection = {
  schema: 'OutgoingWebhook',
  singular: 'outgoing_webhook',
  plural: 'outgoing_webhooks',
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.url, '')
    || E'\\n' || coalesce(t.external_record_id, ''))`,
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
    alert_email_confirmed: `CASE WHEN t.alert_email IS NOT NULL THEN EXISTS (
      SELECT
      FROM mail_addresses a
      WHERE a.company_id = t.company_id AND a.email = lower(t.alert_email)
        AND a.confirmed_at IS NOT NULL
    ) END`,
    secret_version: true,
    secret_rotated_at: true,
    maker_user_id: true,
  },
} as const satisfies Projection<'OutgoingWebhook', 'outgoing_webhook', 'outgoing_webhooks'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  trigger_type: { sql: 't.trigger_type', type: 'text' },
  ...BY_TIMES,
  paused: { sql: 't.paused', type: 'boolean' },
};

const filters = { trigger_type: 't.trigger_type = {trigger_type}', paused: 't.paused = {paused}' };

const UNSAVED = {
  ...DEFAULTS,
  headers: {},
  success_codes: [],
  token_filters: [],
  secret_version: 1,
};

export const outgoingWebhooks = ({ clock, config, pepper, queue }: Deps) => {
  const records = recordHandlers(projection, clock);
  const saving = { allow_networks: config.webhook_allow_networks, queue, config };
  return {
    listOutgoingWebhooks: ({ query, db }) =>
      page(query, { db, now: clock(), projection, orders, filters }),
    newOutgoingWebhook: (call) => records.showUnsaved(call, UNSAVED),
    showOutgoingWebhook: records.show,

    createOutgoingWebhook: (call) => {
      let secret = '';
      return records.create(
        call,
        async (tx, fields, now) => {
          const created = await createWebhook(tx, fields, {
            ...saving,
            caller: call.caller,
            pepper,
            now,
          });
          ({ secret } = created);
          return created.id;
        },
        () => ({ secret }),
      );
    },

    updateOutgoingWebhook: (call) =>
      records.update(call, (tx, id, { fields, now }) =>
        updateWebhook(tx, id, { fields, ...saving, caller: call.caller, now }),
      ),

    rotateOutgoingWebhookSecret: (call) => {
      let secret = '';
      return records.update(
        { ...call, body: {} },
        async (tx, id, { now }) => {
          secret = await rotateSecret(tx, id, { pepper, now });
        },
        () => ({ secret }),
      );
    },

    deleteOutgoingWebhook: (call) => records.delete(call, deleteWebhook),
  } satisfies Partial<Handlers>;
};
