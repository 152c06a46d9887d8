import type { Db } from '../db/tenant';
import type { Deps } from '../deps';
import { measure, type Rule } from './measure';
import {
  BEGIN_ALERTS,
  END_ALERTS,
  END_UNWATCHED,
  LIST_WATCHED_COMPANIES,
  LOCK_RULES,
  READ_RULES,
} from './queries/alerts';

type Context = Pick<Deps, 'database' | 'tenants' | 'queue' | 'clock' | 'log'>;

/**
 * Looks at the rules of all companies: begins alerts and ends them. Any number of processes may do
 * so. What is told of an alert is recorded in the transaction that begins or ends it.
 */
export async function watchRules(context: Context): Promise<void> {
  const { database, tenants, clock, log } = context;
  for (const { company_id } of await database.sql(LIST_WATCHED_COMPANIES, {})) {
    const db = tenants.of(BigInt(company_id!));
    try {
      await db.transaction((tx) => watchCompany(tx, context, clock()));
    } catch (error) {
      // The other companies do not wait for it; it is tried again.
      log.error({ err: error, company_id }, 'alert rules could not be looked at');
    }
  }
}

async function watchCompany(tx: Db, context: Context, now: Date): Promise<void> {
  const [lock] = await tx.sql(LOCK_RULES, { name: `alerts/${tx.company_id}` });
  if (!lock!.is_locked) return;
  await tx.sql(END_UNWATCHED, { now });
  for (const rule of await tx.sql(READ_RULES, { now }))
    await watchRule(tx, rule, { ...context, now });
}

async function watchRule(
  tx: Db,
  rule: Rule,
  { queue, now }: Pick<Context, 'queue'> & { now: Date },
): Promise<void> {
  const found = await measure(tx, rule, now);
  const { id: rule_id, name, kind, emails } = rule;
  const common = { rule_id, rule: name, now };
  const begun =
    found.length === 0
      ? []
      : await tx.sql(BEGIN_ALERTS, { ...common, kind, emails, found: JSON.stringify(found) });
  const subjects = found.map(({ subject }) => subject);
  const ended = await tx.sql(END_ALERTS, { ...common, subjects });
  const company_id = String(tx.company_id);
  for (const { id } of begun)
    for (const to of emails)
      await queue.add(tx, 'mail_alert', { company_id, alert_id: id, to, news: 'started' });
  for (const { id, emails: told } of ended)
    for (const to of told)
      await queue.add(tx, 'mail_alert', { company_id, alert_id: id, to, news: 'ended' });
}
