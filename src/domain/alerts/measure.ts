import type { Row } from '../../data/sql';
import type { Db } from '../../data/db';
import {
  CARRIER_ERRORS,
  LOW_BALANCES,
  LOW_CONNECT_RATE,
  NO_CALLS,
  PAUSED_WEBHOOKS,
  USED_CAPS,
} from './queries/measures';
import { formatDollars, toPercent } from './words';

export type Rule = Row<'alerts.read_rules'>;

/** A subject for which a rule holds. */
export interface Finding {
  /** Unique within the rule. */
  subject: string;
  message: string;
  value: number | null;
  threshold: number | null;
}

type Measure = (db: Pick<Db, 'sql'>, rule: Rule, now: Date) => Promise<Finding[]>;

const pickName = (name: string | null, subject: string): string => name ?? subject;

const measureUsedCaps: Measure = async (db, rule, now) => {
  const { percent, buyer_id, buyer_group_id, traffic_source_id } = rule;
  const owner = { buyer_id, buyer_group_id, traffic_source_id };
  const rows = await db.sql(USED_CAPS, { ...owner, percent, now });
  return rows.map(({ subject, name, cap, used, max }) => {
    const value = toPercent(used!, max!);
    const what = `${value} % of ${cap} is used (${used} of ${max})`;
    return {
      subject: subject!,
      message: `${pickName(name, subject!)}: ${what}`,
      value,
      threshold: percent,
    };
  });
};

const measureLowBalances: Measure = async (db, { amount, buyer_id }) => {
  const rows = await db.sql(LOW_BALANCES, { amount, buyer_id });
  return rows.map(({ subject, name, balance, low }) => ({
    subject: subject!,
    message:
      `${pickName(name, subject!)}: the balance is ${formatDollars(balance!)}, ` +
      `below ${formatDollars(low!)}`,
    value: balance,
    threshold: low,
  }));
};

const measureConnectRate: Measure = async (db, rule, now) => {
  const { buyer_id, traffic_source_id, offer_id, minutes, percent, min_calls } = rule;
  const owner = { buyer_id, traffic_source_id, offer_id };
  const rows = await db.sql(LOW_CONNECT_RATE, { ...owner, minutes, percent, min_calls, now });
  return rows.map(({ subject, name, calls, connects }) => {
    const value = toPercent(connects!, calls!);
    const what = `${connects} of ${calls} calls of the last ${minutes} minutes were connected`;
    const message = `${pickName(name, subject!)}: ${what} (${value} %)`;
    return { subject: subject!, message, value, threshold: percent };
  });
};

const measureNoCalls: Measure = async (db, rule, now) => {
  const { buyer_id, traffic_source_id, offer_id, minutes, is_open_since } = rule;
  if (!is_open_since) return [];
  const rows = await db.sql(NO_CALLS, { buyer_id, traffic_source_id, offer_id, minutes, now });
  return rows.map(({ subject, name }) => {
    const message = `${pickName(name, subject!)}: no call has come in for ${minutes} minutes`;
    return { subject: subject!, message, value: minutes, threshold: minutes };
  });
};

const measureCarrierErrors: Measure = async (db, { minutes, count }, now) => {
  const rows = await db.sql(CARRIER_ERRORS, { minutes, count, now });
  return rows.map(({ failures }) => ({
    subject: 'company',
    message: `${failures} calls and texts of the last ${minutes} minutes failed at the carrier`,
    value: Number(failures),
    threshold: count,
  }));
};

const measurePausedWebhooks: Measure = async (db) => {
  const rows = await db.sql(PAUSED_WEBHOOKS, {});
  return rows.map(({ subject, name, paused_reason }) => ({
    subject: subject!,
    message: `the webhook "${name}" was paused: ${paused_reason}`,
    value: null,
    threshold: null,
  }));
};

const MEASURES: Record<string, Measure> = {
  cap_used: measureUsedCaps,
  balance_low: measureLowBalances,
  connect_rate_low: measureConnectRate,
  no_calls: measureNoCalls,
  carrier_errors: measureCarrierErrors,
  webhook_paused: measurePausedWebhooks,
};

export const measureRule: Measure = (db, rule, now) => MEASURES[rule.kind]!(db, rule, now);
