import { defaultsOf, type Schemas } from '../contract';
import { commonColumns, type Projection, type SortKey } from '../db/projection';
import { resolveReferences, type Reference, type Table } from '../db/records';
import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import type { Handlers } from '../http/handlers';
import { page } from '../http/list';
import { recordHandlers } from '../http/record-handlers';
import { newWebhookToken, takeVanityUri, type WebhookToken } from './save-inbound-webhook';
import { withDefaults } from '../http/defaults';

type Fields = Schemas['InboundWebhookFields'];
const DEFAULTS = defaultsOf('InboundWebhookFields') as { hold_seconds: number; paused: boolean };

const pathOf = (kind: string) => `'/api/v1/inbound_webhooks/${kind}/' || t.vanity_uri`;

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
    paused: true,
    has_auth_token: 't.auth_token_digest IS NOT NULL',
    ping_path: pathOf('ping'),
    post_path: pathOf('post'),
    full_path: pathOf('full'),
  },
} as const satisfies Projection<'InboundWebhook', 'inbound_webhook', 'inbound_webhooks'>;

const orders: Record<string, SortKey> = {
  name: { sql: 't.name', type: 'text' },
  vanity_uri: { sql: 't.vanity_uri', type: 'text' },
  created_at: { sql: 't.created_at', type: 'timestamptz' },
  updated_at: { sql: 't.updated_at', type: 'timestamptz' },
  paused: { sql: 't.paused', type: 'boolean' },
};

/**
 * The endpoints of sellers of calls. A change locks the endpoint, then its address, which is unique
 * in the installation.
 */
export const inboundWebhooks = ({ clock, pepper, authenticator }: Deps) => {
  const records = recordHandlers(projection, clock);
  const key = (company_id: bigint, id: bigint) => ({ company_id_id: { company_id, id } });
  return {
    listInboundWebhooks: ({ query, db }) => page(query, { db, now: clock(), projection, orders }),
    newInboundWebhook: (call) => records.unsaved(call, DEFAULTS),
    showInboundWebhook: records.show,

    createInboundWebhook: (call) => {
      const { has_auth_token, reset_auth_token } = call.body;
      const made = has_auth_token || reset_auth_token ? newWebhookToken(pepper) : undefined;
      return records.create(
        call,
        async (tx, sent, now) => {
          const { offer_id, ...own } = await columnsOf(tx, {
            ...DEFAULTS,
            ...withDefaults<Fields>(sent, DEFAULTS),
          });
          const data = {
            ...own,
            name: sent.name!,
            vanity_uri: sent.vanity_uri!,
            offer_id: offer_id!,
            auth_token_digest: made?.digest ?? null,
          };
          const { id } = await tx.prisma.inboundWebhook.create({
            data: {
              ...data,
              company_id: tx.company_id,
              user_updated_at: now,
              created_at: now,
              updated_at: now,
            },
            select: { id: true },
          });
          await takeVanityUri(tx, id, data.vanity_uri);
          return id;
        },
        () => shownOnce(made),
      );
    },

    updateInboundWebhook: async (call) => {
      let made: WebhookToken | undefined;
      const changed = new Set<string>();
      const reply = await records.update(
        { ...call, body: withDefaults<Schemas['InboundWebhookUpdate']>(call.body, DEFAULTS) },
        async (tx, id, { fields, now }) => {
          const where = key(tx.company_id, id);
          const before = await tx.prisma.inboundWebhook.findUniqueOrThrow({
            where,
            select: { vanity_uri: true, auth_token_digest: true },
          });
          changed.add(before.vanity_uri);
          made = wantsToken(fields, before.auth_token_digest !== null)
            ? newWebhookToken(pepper)
            : undefined;
          const digest = made?.digest ?? (fields.has_auth_token === false ? null : undefined);
          const own = await columnsOf(tx, fields);
          await tx.prisma.inboundWebhook.update({
            where,
            data: {
              ...own,
              ...(digest !== undefined && { auth_token_digest: digest }),
              user_updated_at: now,
              updated_at: now,
            },
          });
          if (fields.vanity_uri !== undefined && fields.vanity_uri !== before.vanity_uri)
            await takeVanityUri(tx, id, fields.vanity_uri);
        },
        () => shownOnce(made),
      );
      for (const vanity_uri of changed) call.db.afterCommit(() => authenticator.forget(vanity_uri));
      return reply;
    },

    deleteInboundWebhook: async (call) => {
      const freed = new Set<string>();
      const reply = await records.delete(call, async (tx, id, now) => {
        const data = { deleted_at: now, updated_at: now, user_updated_at: now };
        freed.add(
          (await tx.prisma.inboundWebhook.update({ where: key(tx.company_id, id), data }))
            .vanity_uri,
        );
        await tx.prisma.inboundWebhookLookup.deleteMany({ where: { inbound_webhook_id: id } });
      });
      for (const vanity_uri of freed) call.db.afterCommit(() => authenticator.forget(vanity_uri));
      return reply;
    },
  } satisfies Partial<Handlers>;
};

const shownOnce = (made: WebhookToken | undefined) => (made ? { auth_token: made.token } : {});

const wantsToken = ({ has_auth_token, reset_auth_token }: Fields, has_one: boolean): boolean =>
  reset_auth_token ? has_auth_token !== false : has_auth_token === true && !has_one;

const OWN = [
  'name',
  'vanity_uri',
  'hold_seconds',
  'paused',
  'external_record_id',
] as const satisfies readonly (keyof Fields)[];

/** The columns of an endpoint that are among the fields, with the ids of its references. */
async function columnsOf(db: Db, fields: Fields) {
  const own = Object.fromEntries(
    OWN.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );
  const { offer_id, traffic_source_id } = fields;
  const one = async (table: Table, field: 'offer_id' | 'traffic_source_id', reference: Reference) =>
    (await resolveReferences(db, table, [reference], { field }))[0]!;
  return {
    ...own,
    ...(offer_id !== undefined && { offer_id: await one('offers', 'offer_id', offer_id) }),
    ...(traffic_source_id !== undefined && {
      traffic_source_id:
        traffic_source_id === null
          ? null
          : await one('traffic_sources', 'traffic_source_id', traffic_source_id),
    }),
  };
}
