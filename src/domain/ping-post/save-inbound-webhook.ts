import type { Schemas } from '../../platform/contract/contract';
import { toMakerColumns } from '../../data/access/makers';
import { resolveReferences, type Reference, type Table } from '../../data/records';
import type { Db } from '../../data/db';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import { newWebhookToken, type WebhookToken } from '../../api/auth/webhook-tokens';
import { HttpProblem } from '../../platform/errors';
import { revokeSourceTokens } from '../offers/source-tokens';

type Fields = Schemas['InboundWebhookFields'];

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

interface NewWebhook {
  /** The body as sent: required fields are present. */
  body: Fields;
  /** The body with defaults. */
  fields: Fields;
  token: WebhookToken | undefined;
}

export async function createInboundWebhook(
  db: Db,
  { body, fields, token }: NewWebhook,
  now: Date,
): Promise<bigint> {
  const { offer_id, ...columns } = await resolveColumns(db, fields);
  const data = {
    ...columns,
    ...toMakerColumns(db),
    name: body.name!,
    vanity_uri: body.vanity_uri!,
    offer_id: offer_id!,
    auth_token_digest: token?.digest ?? null,
    company_id: db.company_id,
    ...createdAt(now),
  };
  const { id } = await db.prisma.inboundWebhook.create({ data, select: { id: true } });
  await takeVanityUri(db, id, data.vanity_uri);
  return id;
}

const buildKey = ({ company_id }: Db, id: bigint) => ({ company_id_id: { company_id, id } });

const wantsToken = ({ has_auth_token, reset_auth_token }: Fields, hasOne: boolean): boolean =>
  reset_auth_token ? has_auth_token !== false : has_auth_token === true && !hasOne;

/** Changes an endpoint. Returns the address that it had, and a token if it got a new one. */
export async function updateInboundWebhook(
  db: Db,
  id: bigint,
  { fields, pepper, now }: { fields: Fields; pepper: string; now: Date },
): Promise<{ vanity_uri: string; token: WebhookToken | undefined }> {
  const where = buildKey(db, id);
  const before = await db.prisma.inboundWebhook.findUniqueOrThrow({
    where,
    select: { vanity_uri: true, auth_token_digest: true },
  });
  const token = wantsToken(fields, before.auth_token_digest !== null)
    ? newWebhookToken(pepper)
    : undefined;
  const digest = token?.digest ?? (fields.has_auth_token === false ? null : undefined);
  const columns = await resolveColumns(db, fields);
  const data = {
    ...columns,
    ...toMakerColumns(db),
    ...(digest !== undefined && { auth_token_digest: digest }),
    ...changedAt(now),
  };
  await db.prisma.inboundWebhook.update({ where, data });
  if (fields.vanity_uri !== undefined && fields.vanity_uri !== before.vanity_uri) {
    await takeVanityUri(db, id, fields.vanity_uri);
    db.afterCommit(() => void db.keys.release('inbound_webhook', before.vanity_uri));
  }
  return { vanity_uri: before.vanity_uri, token };
}

/** The address is free again; it is returned. */
export async function deleteInboundWebhook(db: Db, id: bigint, now: Date): Promise<string> {
  const data = deletedAt(now);
  const where = buildKey(db, id);
  const { vanity_uri } = await db.prisma.inboundWebhook.update({ where, data });
  await db.prisma.inboundWebhookLookup.deleteMany({ where: { inbound_webhook_id: id } });
  await revokeSourceTokens(db, { inbound_webhook_id: id }, now);
  db.afterCommit(() => void db.keys.release('inbound_webhook', vanity_uri));
  return vanity_uri;
}

const PLAIN_FIELDS = [
  'name',
  'vanity_uri',
  'hold_seconds',
  'max_open_holds',
  'paused',
  'show_buyer_names',
  'external_record_id',
] as const satisfies readonly (keyof Fields)[];

async function resolveColumns(db: Db, fields: Fields) {
  const columns = Object.fromEntries(
    PLAIN_FIELDS.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );
  const { offer_id, traffic_source_id } = fields;
  const resolveId = async (
    table: Table,
    field: 'offer_id' | 'traffic_source_id',
    reference: Reference,
  ) => (await resolveReferences(db, table, [reference], { field }))[0]!;
  return {
    ...columns,
    ...(offer_id !== undefined && { offer_id: await resolveId('offers', 'offer_id', offer_id) }),
    ...(traffic_source_id !== undefined && {
      traffic_source_id:
        traffic_source_id === null
          ? null
          : await resolveId('traffic_sources', 'traffic_source_id', traffic_source_id),
    }),
  };
}
