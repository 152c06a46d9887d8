import type { Row } from '../../data/sql';
import type { Db, TransactionStatements } from '../../data/db';
import type { Deps } from '../deps';
import { measureRule, type Finding, type Rule } from './measure';
import {
  BEGIN_ALERTS,
  END_ALERTS,
  END_UNWATCHED,
  LIST_OPEN_SUBJECTS,
  LIST_WATCHED_COMPANIES,
  LOCK_RULE,
  READ_RULES,
} from './queries/alerts';
import { describeFault } from './words';

type Context = Pick<Deps, 'database' | 'tenants' | 'queue' | 'clock' | 'log'>;

/** Alerts that a transaction starts at most, and ends at most. */
const PORTION = 500;
/** Time limit of one company in a pass: the others do not wait longer. */
const MAX_COMPANY_MS = 10_000;

/** Checks the rules of all companies. Returns true while alerts are left to start or end. */
export type RuleWatcher = (signal?: AbortSignal) => Promise<boolean>;

/**
 * Starts and ends the alerts of rules. Any number of processes may do so. Each portion of alerts is
 * committed by itself, with the jobs that mail them. A rule that fails records its error and delays
 * no other; where a company has more work than fits into a pass, the next pass continues with the
 * following rules.
 */
export function createRuleWatcher(
  context: Context,
  { portion = PORTION, max_company_ms = MAX_COMPANY_MS } = {},
): RuleWatcher {
  /** By company, the last rule of a pass that ran out of time. */
  let lastRules = new Map<string, string>();
  const { database, tenants, log } = context;
  return async (signal) => {
    const before = lastRules;
    lastRules = new Map();
    let hasMore = false;
    for (const { company_id } of await database.sql(LIST_WATCHED_COMPANIES, {})) {
      if (signal?.aborted) break;
      const untilMs = performance.now() + max_company_ms;
      const isOver = () => signal?.aborted === true || performance.now() > untilMs;
      const pass = { ...context, portion, is_over: isOver };
      try {
        const db = tenants.of(BigInt(company_id!));
        const end = await watchCompany(db, pass, before.get(company_id!));
        hasMore ||= end.has_more;
        if (end.last_rule !== undefined) lastRules.set(company_id!, end.last_rule);
      } catch (error) {
        // The other companies do not wait; this one is retried in the next pass.
        log.error({ err: error, company_id }, 'alert rules could not be looked at');
      }
    }
    return hasMore;
  };
}

interface Pass extends Context {
  portion: number;
  /** True when the time of the company in this pass is over. */
  is_over(): boolean;
}

type EndedRow = Row<'alerts.end_unwatched'>;

interface PassEnd {
  /** The rule at which the time ran out. */
  last_rule?: string;
  /** True when alerts of that rule are left. */
  has_more: boolean;
}

async function watchCompany(db: Db, pass: Pass, lastRule: string | undefined): Promise<PassEnd> {
  const { clock, portion, is_over } = pass;
  let ended;
  do [{ ended }] = (await db.sql(END_UNWATCHED, { now: clock(), max: portion })) as [EndedRow];
  while (ended === portion && !is_over());
  const rules = await db.sql(READ_RULES, { now: clock() });
  const first = rules.findIndex(({ id }) => id === lastRule) + 1;
  for (const rule of [...rules.slice(first), ...rules.slice(0, first)]) {
    const hasMore = await watchRule(db, rule, pass);
    if (is_over()) return { last_rule: rule.id, has_more: hasMore };
  }
  return { has_more: false };
}

/**
 * Checks a rule until nothing is left to start or end, or the time is over. Returns true when
 * something is left.
 */
async function watchRule(db: Db, rule: Rule, pass: Pass): Promise<boolean> {
  const { log, clock, is_over } = pass;
  const { id } = rule;
  try {
    // At least one portion, so that every pass makes progress.
    let hasMore;
    do hasMore = await db.statements((tx) => updateAlerts(tx, rule, pass));
    while (hasMore && !is_over());
    if (rule.has_error) await saveError(db, id, { last_error: null, last_error_at: null });
    return hasMore;
  } catch (error) {
    log.error({ err: error, company_id: db.company_id, rule: id }, 'an alert rule has failed');
    await saveError(db, id, { last_error: describeFault(error), last_error_at: clock() });
    return false;
  }
}

async function saveError(
  db: Db,
  id: string,
  data: { last_error: string | null; last_error_at: Date | null },
): Promise<void> {
  await db.prisma.alertRule.updateMany({ where: { id: BigInt(id) }, data });
}

/**
 * Starts and ends one portion of the alerts of a rule. Measures in each transaction: under the
 * lock, so that nothing starts or ends by an outdated measurement of another process. Returns true
 * when there is more.
 */
async function updateAlerts(
  tx: TransactionStatements,
  rule: Rule,
  { queue, clock, portion }: Pass,
): Promise<boolean> {
  const { id: ruleId } = rule;
  const [lock] = await tx.sql(LOCK_RULE, { name: `alerts/${tx.company_id}/${ruleId}` });
  if (!lock!.is_locked) return false;
  const now = clock();
  const findings = await measureRule(tx, rule, now);
  const open = new Set(
    (await tx.sql(LIST_OPEN_SUBJECTS, { rule_id: ruleId })).map(({ subject }) => subject),
  );
  const holding = new Set(findings.map(({ subject }) => subject));
  const newOnes = findings.filter(({ subject }) => !open.has(subject));
  const over = [...open].filter((subject) => !holding.has(subject));
  const change = { rule, queue, now };
  const startedCount = await beginAlerts(tx, newOnes.slice(0, portion), change);
  const ended = await endAlerts(tx, over.slice(0, portion), change);
  // A rule that was paused in the meantime starts none.
  return startedCount + ended > 0 && (newOnes.length > portion || over.length > portion);
}

interface Change extends Pick<Context, 'queue'> {
  rule: Rule;
  now: Date;
}

async function beginAlerts(
  tx: TransactionStatements,
  findings: readonly Finding[],
  { rule: { id: ruleId, name: rule, kind, emails }, queue, now }: Change,
): Promise<number> {
  if (findings.length === 0) return 0;
  const values = { rule_id: ruleId, rule, kind, emails, now, findings: JSON.stringify(findings) };
  const startedAlerts = await tx.sql(BEGIN_ALERTS, values);
  await enqueueNotices(tx, emails.length === 0 ? [] : startedAlerts, { queue, news: 'started' });
  return startedAlerts.length;
}

async function endAlerts(
  tx: TransactionStatements,
  subjects: readonly string[],
  { rule: { id: ruleId, name: rule }, queue, now }: Change,
): Promise<number> {
  if (subjects.length === 0) return 0;
  const ended = await tx.sql(END_ALERTS, { rule_id: ruleId, rule, now, subjects: [...subjects] });
  const alertsToMail = ended.filter(({ emails }) => emails.length > 0);
  await enqueueNotices(tx, alertsToMail, { queue, news: 'ended' });
  return ended.length;
}

/** Queues one job for each alert; the job selects the recipients. */
async function enqueueNotices(
  tx: TransactionStatements,
  alerts: readonly { id: string }[],
  { queue, news }: Pick<Context, 'queue'> & { news: 'started' | 'ended' },
): Promise<void> {
  const companyId = String(tx.company_id);
  const jobs = alerts.map(({ id }) => ({ company_id: companyId, alert_id: id, news }));
  await queue.addAll(tx, 'tell_of_alert', jobs);
}
