import type { Db } from '../../data/db';
import { toMakerColumns } from '../../data/access/makers';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import { newWebhookToken } from '../../api/auth/webhook-tokens';
import { noun } from '../../api/records/noun';
import { revokeSourceTokens } from '../offers/source-tokens';

const buildPath = (kind: string) => `'/api/v1/inbound_webhooks/${kind}/' || t.vanity_uri`;

const inboundWebhook = noun({
  schema: 'InboundWebhook',
  singular: 'inbound_webhook',
  plural: 'inbound_webhooks',
  joins: {
    o: 'LEFT JOIN offers o ON o.company_id = t.company_id AND o.id = t.offer_id',
    s: 'LEFT JOIN traffic_sources s ON s.company_id = t.company_id AND s.id = t.traffic_source_id',
  },
  search: ['name', 'vanity_uri', 'external_record_id'],
  computed: {
    offer: 'o.name',
    traffic_source: 's.name',
    has_auth_token: 't.auth_token_digest IS NOT NULL',
    ping_path: buildPath('ping'),
    post_path: buildPath('post'),
    full_path: buildPath('full'),
  },
  references: ['offer_id', 'traffic_source_id'],
});
export const { projection } = inboundWebhook;

/**
 * The endpoints of sellers of calls. A change locks the endpoint, then its address, which is unique
 * in the installation.
 */
export const inboundWebhooks = (deps: Deps) => {
  const { pepper, authenticator } = deps;
  /** The authenticator caches endpoints by their address. */
  const forget = (tx: Db, vanityUri: string) =>
    tx.afterCommit(() => authenticator.forget(vanityUri));
  const freeAddress = (tx: Db, vanityUri: string) =>
    tx.afterCommit(() => void tx.keys.release('inbound_webhook', vanityUri));
  return inboundWebhook.handlers(deps, {
    reads: ['vanity_uri', 'auth_token_digest'],
    // Any digest stands for the token that a create makes.
    unsaved: { ...inboundWebhook.defaults, auth_token_digest: '\\x00' },

    columns: ({ tx, fields, before, extra }) => {
      const token = needsToken(fields, before) ? newWebhookToken(pepper) : undefined;
      if (token) extra.auth_token = token.token;
      const digest = fields.has_auth_token === false ? null : undefined;
      return { ...toMakerColumns(tx), auth_token_digest: token?.digest ?? digest };
    },

    save: async ({ tx, id, fields: { vanity_uri }, before }) => {
      if (vanity_uri !== undefined && vanity_uri !== before?.vanity_uri) {
        await takeVanityUri(tx, id, vanity_uri);
        if (before) freeAddress(tx, before.vanity_uri);
      }
      if (before) forget(tx, before.vanity_uri);
    },

    deletion: {
      detach: async ({ tx, id, now, before: { vanity_uri } }) => {
        await tx.prisma.inboundWebhookLookup.deleteMany({ where: { inbound_webhook_id: id } });
        await revokeSourceTokens(tx, { inbound_webhook_id: id }, now);
        freeAddress(tx, vanity_uri);
        forget(tx, vanity_uri);
      },
    },
  });
};

interface TokenFields {
  has_auth_token?: boolean;
  reset_auth_token?: boolean;
}

const needsToken = (
  { has_auth_token, reset_auth_token }: TokenFields,
  before: { auth_token_digest: unknown } | undefined,
): boolean =>
  reset_auth_token
    ? !before || has_auth_token !== false
    : has_auth_token === true && (before?.auth_token_digest ?? null) === null;

/** Makes a name the address of an endpoint. Throws 422 if another endpoint has it. */
async function takeVanityUri(db: Db, inboundWebhookId: bigint, vanityUri: string): Promise<void> {
  await db.prisma.inboundWebhookLookup.deleteMany({
    where: { inbound_webhook_id: inboundWebhookId },
  });
  const isOurs = await db.keys.claim('inbound_webhook', vanityUri);
  const lookup = {
    company_id: db.company_id,
    vanity_uri: vanityUri,
    inbound_webhook_id: inboundWebhookId,
  };
  const { count } = isOurs
    ? await db.prisma.inboundWebhookLookup.createMany({ data: lookup, skipDuplicates: true })
    : { count: 0 };
  if (count === 0)
    throw HttpProblem.field(
      'vanity_uri',
      'taken',
      'is taken; it must be unique in this installation',
    );
}
