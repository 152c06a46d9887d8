import { readDefaults, type Schemas } from '../../platform/contract/contract';
import { commonColumns, type Projection } from '../../data/projection/projection';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { withDefaults } from '../../api/request/defaults';
import { newWebhookToken, type WebhookToken } from '../../api/auth/webhook-tokens';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import {
  createInboundWebhook,
  deleteInboundWebhook,
  updateInboundWebhook,
} from './save-inbound-webhook';
import { BY_TIMES, type SortKey } from '../../data/projection/list-statements';

type Fields = Schemas['InboundWebhookFields'];
const DEFAULTS = readDefaults('InboundWebhookFields') as {
  hold_seconds: number;
  paused: boolean;
  has_auth_token: boolean;
  show_buyer_names: boolean;
};
/** For `new`: any digest stands for the token that a create makes. */
const UNSAVED = { ...DEFAULTS, auth_token_digest: '\\x00' };

const buildPath = (kind: string) => `'/api/v1/inbound_webhooks/${kind}/' || t.vanity_uri`;

export const projection = {
  schema: 'InboundWebhook',
  singular: 'inbound_webhook',
  plural: 'inbound_webhooks',
  joins: {
    o: 'LEFT JOIN offers o ON o.company_id = t.company_id AND o.id = t.offer_id',
    s: 'LEFT JOIN traffic_sources s ON s.company_id = t.company_id AND s.id = t.traffic_source_id',
  },
  fulltext: `lower(
    coalesce(t.name, '')
    || E'\\n' || coalesce(t.vanity_uri, '')
    || E'\\n' || coalesce(t.external_record_id, '')
  )`,
  columns: {
    ...commonColumns('inbound_webhooks'),
    type: `'InboundWebhook'`,
    name: true,
    vanity_uri: true,
    offer_id: true,
    offer: 'o.name',
    traffic_source_id: true,
    traffic_source: 's.name',
    hold_seconds: true,
    max_open_holds: true,
    paused: true,
    has_auth_token: 't.auth_token_digest IS NOT NULL',
    ping_path: buildPath('ping'),
    post_path: buildPath('post'),
    full_path: buildPath('full'),
    maker_user_id: true,
    show_buyer_names: true,
  },
} as const satisfies Projection<'InboundWebhook', 'inbound_webhook', 'inbound_webhooks'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  vanity_uri: { sql: 't.vanity_uri', type: 'text' },
  ...BY_TIMES,
  paused: { sql: 't.paused', type: 'boolean' },
};

/**
 * The endpoints of sellers of calls. A change locks the endpoint, then its address, which is unique
 * in the installation.
 */
export const inboundWebhooks = ({ clock, pepper, authenticator }: Deps) => {
  const records = recordHandlers(projection, clock);
  /** Addresses are cached by the authenticator. */
  const forget = (db: Db, vanityUris: ReadonlySet<string>) => {
    for (const vanityUri of vanityUris) db.afterCommit(() => authenticator.forget(vanityUri));
  };
  return {
    listInboundWebhooks: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),
    newInboundWebhook: (call) => records.showUnsaved(call, UNSAVED),
    showInboundWebhook: records.show,

    createInboundWebhook: (call) => {
      const { has_auth_token = DEFAULTS.has_auth_token, reset_auth_token } = call.body;
      const token = has_auth_token || reset_auth_token ? newWebhookToken(pepper) : undefined;
      return records.create(
        call,
        (tx, body, now) => {
          const fields = { ...DEFAULTS, ...withDefaults<Fields>(body, DEFAULTS) };
          return createInboundWebhook(tx, { body, fields, token }, now);
        },
        () => toShownToken(token),
      );
    },

    updateInboundWebhook: async (call) => {
      let token: WebhookToken | undefined;
      const changed = new Set<string>();
      const reply = await records.update(
        { ...call, body: withDefaults<Schemas['InboundWebhookUpdate']>(call.body, DEFAULTS) },
        async (tx, id, { fields, now }) => {
          const updated = await updateInboundWebhook(tx, id, { fields, pepper, now });
          changed.add(updated.vanity_uri);
          token = updated.token;
        },
        () => toShownToken(token),
      );
      forget(call.db, changed);
      return reply;
    },

    deleteInboundWebhook: async (call) => {
      const freed = new Set<string>();
      const reply = await records.delete(call, async (tx, id, now) => {
        freed.add(await deleteInboundWebhook(tx, id, now));
      });
      forget(call.db, freed);
      return reply;
    },
  } satisfies Partial<Handlers>;
};

const toShownToken = (token: WebhookToken | undefined) =>
  token ? { auth_token: token.token } : {};
