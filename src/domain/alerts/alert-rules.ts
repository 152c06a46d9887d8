import type { Schemas } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { HttpProblem } from '../../platform/errors';
import { noun } from '../../api/records/noun';
import { openMinutes } from '../../platform/time/opening-hours';
import { requestConfirmations } from '../people/confirm-addresses';
import { LOCK_RULE_COUNT } from './queries/alerts';

type Kind = Schemas['AlertKind'];

const DEFAULT_MIN_CALLS = 10;
/** Rules of a company at most: each is checked every few seconds. */
const MAX_RULES = 100;

const OWNERS = ['buyer_id', 'buyer_group_id', 'traffic_source_id', 'offer_id'] as const;
type Owner = (typeof OWNERS)[number];
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
  const surplus = [...LIMITS, ...OWNERS].find((name) => isSet(rule[name]) && !allowed.has(name));
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

const alertRule = noun({
  schema: 'AlertRule',
  singular: 'alert_rule',
  plural: 'alert_rules',
  search: ['name', 'external_record_id'],
  computed: {
    emails: `coalesce(t.emails, '{}')`,
    open_alerts_count: `(
      SELECT count(*)
      FROM alerts a
      WHERE a.company_id = t.company_id AND a.alert_rule_id = t.id AND a.ended_at IS NULL
    )`,
    unconfirmed_emails: `ARRAY(
      SELECT e.email
      FROM unnest(t.emails) WITH ORDINALITY AS e(email, n)
      WHERE NOT EXISTS (
        SELECT
        FROM mail_addresses a
        WHERE a.company_id = t.company_id AND a.email = lower(e.email)
          AND a.confirmed_at IS NOT NULL
      )
      ORDER BY e.n
    )`,
  },
  references: ['offer_id', 'buyer_group_id', 'buyer_id', 'traffic_source_id'],
});

const alert = noun({
  schema: 'Alert',
  singular: 'alert',
  plural: 'alerts',
  appendOnly: true,
  search: ['message'],
  filters: { open: '(t.ended_at IS NULL) = {open}::boolean' },
});

/** Rules are watched by a job; the alerts of one that is deleted end at the next check. */
export const alertRules = (deps: Deps) => {
  const { queue, config } = deps;
  return {
    ...alert.handlers(deps),
    ...alertRule.handlers(deps, {
      reads: ['kind', 'min_calls', ...OWNERS, 'percent', 'minutes', 'count', 'amount'],

      lock: async ({ isNew, fields }) => {
        if (isNew) requireKindFields(fields);
      },

      columns: async ({ tx, fields, before }) => {
        if (before) requireKindFields({ ...before, ...fields });
        if (!before) await requireRuleQuota(tx);
        const { emails, schedule, min_calls = before?.min_calls } = fields;
        const kind = (fields.kind ?? before?.kind)!;
        return {
          min_calls: min_calls ?? (kind === 'connect_rate_low' ? DEFAULT_MIN_CALLS : null),
          ...(emails !== undefined && { emails: distinctAddresses(emails ?? []) }),
          ...(schedule !== undefined && {
            schedule: schedule ?? [],
            open_minutes: openMinutes(schedule ?? []),
          }),
        };
      },

      save: ({ tx, fields: { emails }, now }) =>
        requestConfirmations(tx, emails ?? [], { queue, config, now, field: 'emails' }),
    }),
  };
};

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
