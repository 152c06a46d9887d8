import type { Row } from '../db/sql';
import type { Db, TransactionStatements } from '../db/tenant';
import type { Deps } from '../deps';
import { measure, type Found, type Rule } from './measure';
import {
  BEGIN_ALERTS,
  CLEAR_RULE_ERROR,
  END_ALERTS,
  END_UNWATCHED,
  LIST_OPEN_SUBJECTS,
  LIST_WATCHED_COMPANIES,
  LOCK_RULE,
  READ_RULES,
  RECORD_RULE_ERROR,
} from './queries/alerts';
import { describeFault } from './words';

type Context = Pick<Deps, 'database' | 'tenants' | 'queue' | 'clock' | 'log'>;

/** How many alerts a transaction begins, and how many it ends. */
const PORTION = 500;
/** How long one pass looks at the rules of one company: the others do not wait longer. */
const MAX_COMPANY_MS = 10_000;

/** Looks at the rules of all companies. Returns whether alerts are left to begin or to end now. */
export type RuleWatcher = (signal?: AbortSignal) => Promise<boolean>;

/**
 * Begins and ends the alerts of rules. Any number of processes may do so. Each portion of alerts is
 * committed by itself, with the jobs that tell of them. A rule that fails says why, and holds up no
 * other; where a company has more to do than fits into a pass, the next one goes on with the rules
 * that follow.
 */
export function ruleWatcher(
  context: Context,
  { portion = PORTION, max_company_ms = MAX_COMPANY_MS } = {},
): RuleWatcher {
  /** The rule that the last pass of a company ended with, where its time was over. */
  let last_rules = new Map<string, string>();
  const { database, tenants, log } = context;
  return async (signal) => {
    const before = last_rules;
    last_rules = new Map();
    let has_more = false;
    for (const { company_id } of await database.sql(LIST_WATCHED_COMPANIES, {})) {
      if (signal?.aborted) break;
      const until_ms = performance.now() + max_company_ms;
      const is_over = () => signal?.aborted === true || performance.now() > until_ms;
      const pass = { ...context, portion, is_over };
      try {
        const db = tenants.of(BigInt(company_id!));
        const end = await watchCompany(db, pass, before.get(company_id!));
        has_more ||= end.has_more;
        if (end.last_rule !== undefined) last_rules.set(company_id!, end.last_rule);
      } catch (error) {
        // The other companies do not wait for it; it is tried again.
        log.error({ err: error, company_id }, 'alert rules could not be looked at');
      }
    }
    return has_more;
  };
}

interface Pass extends Context {
  portion: number;
  /** Whether the time of the company in this pass is over. */
  is_over(): boolean;
}

type Ended = Row<'alerts.end_unwatched'>;

/** How a pass of a company ended. */
interface PassEnd {
  /** The rule with which its time was over, if it was. */
  last_rule?: string;
  /** Whether alerts of that rule are left. */
  has_more: boolean;
}

async function watchCompany(db: Db, pass: Pass, last_rule: string | undefined): Promise<PassEnd> {
  const { clock, portion, is_over } = pass;
  let ended;
  do [{ ended }] = (await db.sql(END_UNWATCHED, { now: clock(), max: portion })) as [Ended];
  while (ended === portion && !is_over());
  const rules = await db.sql(READ_RULES, { now: clock() });
  const first = rules.findIndex(({ id }) => id === last_rule) + 1;
  for (const rule of [...rules.slice(first), ...rules.slice(0, first)]) {
    const has_more = await watchRule(db, rule, pass);
    if (is_over()) return { last_rule: rule.id, has_more };
  }
  return { has_more: false };
}

/**
 * Looks at a rule until nothing is left to begin or to end, or the time is over. Returns whether
 * something is left.
 */
async function watchRule(db: Db, rule: Rule, pass: Pass): Promise<boolean> {
  const { log, clock, is_over } = pass;
  const { id } = rule;
  try {
    // At least one portion: however little time there is, something is done.
    let has_more;
    do has_more = await db.statements((tx) => changeSome(tx, rule, pass));
    while (has_more && !is_over());
    if (rule.has_error) await db.sql(CLEAR_RULE_ERROR, { id });
    return has_more;
  } catch (error) {
    log.error({ err: error, company_id: db.company_id, rule: id }, 'an alert rule has failed');
    await db.sql(RECORD_RULE_ERROR, { id, error: describeFault(error), now: clock() });
    return false;
  }
}

/**
 * Begins and ends one portion of the alerts of a rule. Measured in each transaction: under the lock,
 * nothing is begun or ended by what another process has measured before. Returns whether there is
 * more.
 */
async function changeSome(
  tx: TransactionStatements,
  rule: Rule,
  { queue, clock, portion }: Pass,
): Promise<boolean> {
  const { id: rule_id } = rule;
  const [lock] = await tx.sql(LOCK_RULE, { name: `alerts/${tx.company_id}/${rule_id}` });
  if (!lock!.is_locked) return false;
  const now = clock();
  const found = await measure(tx, rule, now);
  const open = new Set(
    (await tx.sql(LIST_OPEN_SUBJECTS, { rule_id })).map(({ subject }) => subject),
  );
  const holding = new Set(found.map(({ subject }) => subject));
  const new_ones = found.filter(({ subject }) => !open.has(subject));
  const over = [...open].filter((subject) => !holding.has(subject));
  const change = { rule, queue, now };
  const begun = await beginAlerts(tx, new_ones.slice(0, portion), change);
  const ended = await endAlerts(tx, over.slice(0, portion), change);
  // A rule that was paused meanwhile begins none.
  return begun + ended > 0 && (new_ones.length > portion || over.length > portion);
}

interface Change extends Pick<Context, 'queue'> {
  rule: Rule;
  now: Date;
}

async function beginAlerts(
  tx: TransactionStatements,
  found: readonly Found[],
  { rule: { id: rule_id, name: rule, kind, emails }, queue, now }: Change,
): Promise<number> {
  if (found.length === 0) return 0;
  const values = { rule_id, rule, kind, emails, now, found: JSON.stringify(found) };
  const begun = await tx.sql(BEGIN_ALERTS, values);
  await tellOf(tx, emails.length === 0 ? [] : begun, { queue, news: 'started' });
  return begun.length;
}

async function endAlerts(
  tx: TransactionStatements,
  subjects: readonly string[],
  { rule: { id: rule_id, name: rule }, queue, now }: Change,
): Promise<number> {
  if (subjects.length === 0) return 0;
  const ended = await tx.sql(END_ALERTS, { rule_id, rule, now, subjects: [...subjects] });
  const told = ended.filter(({ emails }) => emails.length > 0);
  await tellOf(tx, told, { queue, news: 'ended' });
  return ended.length;
}

/** Queues one job for each alert: who is mailed is decided there. */
async function tellOf(
  tx: TransactionStatements,
  alerts: readonly { id: string }[],
  { queue, news }: Pick<Context, 'queue'> & { news: 'started' | 'ended' },
): Promise<void> {
  const company_id = String(tx.company_id);
  const jobs = alerts.map(({ id }) => ({ company_id, alert_id: id, news }));
  await queue.addAll(tx, 'tell_of_alert', jobs);
}
