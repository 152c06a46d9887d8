import type { Schemas } from '../../platform/contract/contract';
import { resolveReferences, type Reference, type Table } from '../../data/records';
import type { Db } from '../../data/db';
import { createdAt, deletedAt } from '../../data/timestamps';
import { HttpProblem } from '../../platform/errors';
import { newWebhookToken, type WebhookToken } from '../../api/auth/webhook-tokens';
import { newLeadToken } from './lead-token';

type Fields = Schemas['TrafficSourceTokenCreate'];

const TARGETS = {
  offer_id: 'offers',
  schedule_id: 'schedules',
  inbound_webhook_id: 'inbound_webhooks',
} as const satisfies Partial<Record<keyof Fields, Table>>;
type TargetName = keyof typeof TARGETS;
const NAMES = Object.keys(TARGETS) as TargetName[];

/** The record that a token is for. Throws 422 unless exactly one is named. */
function parseTarget(fields: Fields): { field: TargetName; reference: Reference } {
  const [field, conflictingField] = NAMES.filter(
    (name) => fields[name] !== undefined && fields[name] !== null,
  );
  if (!field)
    throw HttpProblem.field(
      'offer_id',
      'missing_field',
      'must be given, or schedule_id or inbound_webhook_id: where the token is used',
    );
  if (conflictingField)
    throw HttpProblem.field(
      conflictingField,
      'conflicting_fields',
      `must be left out where ${field} is given: a token is for one of them`,
    );
  return { field, reference: fields[field]! };
}

/**
 * Creates a token of a traffic source. The secret of a token for an inbound webhook is returned
 * only here.
 */
export async function createSourceToken(
  tx: Db,
  fields: Fields,
  { pepper, now }: { pepper: string; now: Date },
): Promise<{ id: bigint; webhookToken: WebhookToken | undefined }> {
  const { field, reference } = parseTarget(fields);
  const lockOne = async (table: Table, recordReference: Reference, name: string) =>
    (await resolveReferences(tx, table, [recordReference], { field: name }))[0]!;
  const target = { [field]: await lockOne(TARGETS[field], reference, field) };
  const trafficSourceId = await lockOne(
    'traffic_sources',
    fields.traffic_source_id,
    'traffic_source_id',
  );
  const webhookToken = field === 'inbound_webhook_id' ? newWebhookToken(pepper) : undefined;
  const leadToken = webhookToken ? null : newLeadToken();
  const { company_id } = tx;
  if (leadToken !== null) {
    await tx.keys.claim('lead_token', leadToken);
    const data = { ...target, token: leadToken, traffic_source_id: trafficSourceId, company_id };
    await tx.prisma.leadToken.create({ data });
  }
  const { id } = await tx.prisma.trafficSourceToken.create({
    data: {
      ...target,
      name: fields.name ?? null,
      external_record_id: fields.external_record_id ?? null,
      traffic_source_id: trafficSourceId,
      lead_token: leadToken,
      auth_token_digest: webhookToken?.digest ?? null,
      company_id,
      ...createdAt(now),
    },
    select: { id: true },
  });
  return { id, webhookToken };
}

type Owner =
  | { id: bigint }
  | { traffic_source_id: bigint }
  | { offer_id: bigint }
  | { schedule_id: bigint }
  | { inbound_webhook_id: bigint };

export async function revokeSourceTokens(tx: Db, owner: Owner, now: Date): Promise<void> {
  const where = { ...owner, deleted_at: null };
  const select = { lead_token: true };
  const tokens = await tx.prisma.trafficSourceToken.findMany({ where, select });
  if (tokens.length === 0) return;
  await tx.prisma.trafficSourceToken.updateMany({ where, data: deletedAt(now) });
  const revoked = tokens.flatMap(({ lead_token }) => lead_token ?? []);
  await tx.prisma.leadToken.deleteMany({ where: { token: { in: revoked } } });
}
