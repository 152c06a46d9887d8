import { readDefaults, type Schemas } from '../../platform/contract/contract';
import { resolveReferences, type Reference, type Table } from '../../data/records';
import type { Db } from '../../data/db';
import { changedAt, createdAt, deletedAt } from '../../data/timestamps';
import { HttpProblem } from '../../platform/errors';
import { withDefaults } from '../../api/request/defaults';
import type { Queue } from '../../data/jobs/queue';
import { requestConfirmations } from '../people/confirm-addresses';
import type { MailContext } from '../people/take-mails';
import { openMinutes } from '../../platform/time/opening-hours';
import { LOCK_RULE_COUNT } from './queries/alerts';

type Fields = Schemas['AlertRuleFields'];
type Kind = Schemas['AlertKind'];

const DEFAULTS = readDefaults('AlertRuleFields') as { paused: boolean; time_zone: string };
const DEFAULT_MIN_CALLS = 10;
/** Rules of a company at most: each is checked every few seconds. */
export const MAX_RULES = 100;

const OWNERS = {
  buyer_id: 'buyers',
  buyer_group_id: 'buyer_groups',
  traffic_source_id: 'traffic_sources',
  offer_id: 'offers',
} as const satisfies Partial<Record<keyof Fields, Table>>;
type Owner = keyof typeof OWNERS;
type Limit = 'percent' | 'minutes' | 'count' | 'min_calls' | 'amount';

interface KindFields {
  needed: readonly Limit[];
  optional?: readonly Limit[];
  owners: readonly Owner[];
}

const KINDS: Record<Kind, KindFields> = {
  cap_used: { needed: ['percent'], owners: ['buyer_id', 'buyer_group_id', 'traffic_source_id'] },
  connect_rate_low: {
    needed: ['percent', 'minutes'],
    optional: ['min_calls'],
    owners: ['buyer_id', 'traffic_source_id', 'offer_id'],
  },
  no_calls: { needed: ['minutes'], owners: ['buyer_id', 'traffic_source_id', 'offer_id'] },
  balance_low: { needed: [], optional: ['amount'], owners: ['buyer_id'] },
  carrier_errors: { needed: ['count', 'minutes'], owners: [] },
  webhook_paused: { needed: [], owners: [] },
};

const LIMITS: readonly Limit[] = ['percent', 'minutes', 'count', 'min_calls', 'amount'];
const OWNER_NAMES = Object.keys(OWNERS) as Owner[];

type RuleInput = Partial<Record<Limit | Owner, unknown>> & { kind?: string | undefined };
const isSet = (value: unknown): boolean => value !== undefined && value !== null;

/** Throws 422 for a field that a kind of rule lacks or does not have. */
function requireKindFields(rule: RuleInput): void {
  const kind = rule.kind as Kind;
  const { needed, optional = [], owners } = KINDS[kind];
  const missing = needed.find((name) => !isSet(rule[name]));
  if (missing)
    throw HttpProblem.field(missing, 'missing_field', `must be given for a rule of kind ${kind}`);
  const allowed = new Set<string>([...needed, ...optional, ...owners]);
  const surplus = [...LIMITS, ...OWNER_NAMES].find(
    (name) => isSet(rule[name]) && !allowed.has(name),
  );
  if (surplus)
    throw HttpProblem.field(surplus, 'invalid_value', `is not for a rule of kind ${kind}`);
  const [, second] = owners.filter((name) => isSet(rule[name]));
  if (second)
    throw HttpProblem.field(
      second,
      'conflicting_fields',
      `must be left out: a rule watches one of ${owners.join(', ')}`,
    );
}

/** Each address once, in its first spelling. */
const distinctAddresses = (emails: readonly string[]): string[] => {
  const lowered = emails.map((email) => email.toLowerCase());
  return emails.filter((_, n) => lowered.indexOf(lowered[n]!) === n);
};

async function buildColumns(db: Db, fields: Fields) {
  const owners: Partial<Record<Owner, bigint | null>> = {};
  for (const name of OWNER_NAMES) {
    const reference = fields[name] as Reference | null | undefined;
    if (reference === undefined) continue;
    owners[name] =
      reference === null
        ? null
        : (await resolveReferences(db, OWNERS[name], [reference], { field: name }))[0]!;
  }
  const { name, kind, paused, percent, minutes, count, min_calls, amount } = fields;
  const { emails, time_zone, schedule, external_record_id } = fields;
  return {
    ...{ name, kind, paused, percent, minutes, count, min_calls, amount, external_record_id },
    ...owners,
    ...(time_zone && { time_zone }),
    ...(emails !== undefined && { emails: distinctAddresses(emails ?? []) }),
    ...(schedule !== undefined && {
      schedule: (schedule ?? []) as object[],
      open_minutes: openMinutes(schedule ?? []),
    }),
  };
}

const defaultMinCalls = (kind: string): number | null =>
  kind === 'connect_rate_low' ? DEFAULT_MIN_CALLS : null;

const buildRowKey = ({ company_id }: Db, id: bigint) => ({ company_id_id: { company_id, id } });

/**
 * Throws 422 where the company has the maximum of rules; locks their count until the transaction
 * ends.
 */
async function requireRuleQuota(tx: Db): Promise<void> {
  await tx.sql(LOCK_RULE_COUNT, { name: `alert rules/${tx.company_id}` });
  const count = await tx.prisma.alertRule.count({ where: { deleted_at: null } });
  if (count < MAX_RULES) return;
  throw HttpProblem.field(
    'alert_rules',
    'limit_exceeded',
    `must be at most ${MAX_RULES} in a company: delete one, or let one rule watch more`,
  );
}

/** Requests confirmation of unconfirmed addresses; throws 429 where that must wait. */
const requestAddressConfirmations = (
  tx: Db,
  { emails }: Fields,
  context: SaveContext,
): Promise<void> => requestConfirmations(tx, emails ?? [], { ...context, field: 'emails' });

interface SaveContext extends MailContext {
  queue: Queue;
}

export async function createRule(
  tx: Db,
  input: Schemas['AlertRuleCreate'],
  context: SaveContext,
): Promise<bigint> {
  const { now } = context;
  const fields = { ...DEFAULTS, ...withDefaults<Fields>(input, DEFAULTS) };
  requireKindFields(fields);
  await requireRuleQuota(tx);
  const columns = await buildColumns(tx, fields);
  const data = {
    ...columns,
    min_calls: columns.min_calls ?? defaultMinCalls(input.kind),
    name: input.name,
    kind: input.kind,
    time_zone: columns.time_zone ?? DEFAULTS.time_zone,
    company_id: tx.company_id,
    ...createdAt(now),
  };
  const { id } = await tx.prisma.alertRule.create({ data, select: { id: true } });
  await requestAddressConfirmations(tx, fields, context);
  return id;
}

/** Changes a locked rule. */
export async function updateRule(
  tx: Db,
  id: bigint,
  { fields: input, ...context }: SaveContext & { fields: Schemas['AlertRuleUpdate'] },
): Promise<void> {
  const { now } = context;
  const fields = withDefaults<Fields>(input, DEFAULTS);
  const where = buildRowKey(tx, id);
  const before = await tx.prisma.alertRule.findUniqueOrThrow({ where });
  requireKindFields({ ...before, ...fields });
  const columns = await buildColumns(tx, fields);
  const requestedMinimum = columns.min_calls === undefined ? before.min_calls : columns.min_calls;
  const minCalls = requestedMinimum ?? defaultMinCalls(fields.kind ?? before.kind);
  await tx.prisma.alertRule.update({
    where,
    data: { ...columns, min_calls: minCalls, ...changedAt(now) },
  });
  await requestAddressConfirmations(tx, fields, context);
}

/** Deletes a locked rule; its alerts end at the next check of rules. */
export async function deleteRule(tx: Db, id: bigint, now: Date): Promise<void> {
  await tx.prisma.alertRule.update({ where: buildRowKey(tx, id), data: deletedAt(now) });
}
