import { CHRONOLOGICAL } from '../../data/projection/list-statements';
import { commonColumns, type Projection } from '../../data/projection/projection';
import { buildReferenceConditions } from '../../data/records';
import type { Deps } from '../deps';
import type { Handlers } from '../../api/handlers';
import { page } from '../../api/records/list';
import { recordHandlers } from '../../api/records/record-handlers';
import { createRule, deleteRule, updateRule } from './save-rule';

export const projection = {
  schema: 'AlertRule',
  singular: 'alert_rule',
  plural: 'alert_rules',
  fulltext: `lower(coalesce(t.name, '') || E'\\n' || coalesce(t.external_record_id, ''))`,
  columns: {
    ...commonColumns('alert_rules'),
    type: `'AlertRule'`,
    name: true,
    kind: true,
    paused: true,
    buyer_id: true,
    buyer_group_id: true,
    traffic_source_id: true,
    offer_id: true,
    percent: true,
    minutes: true,
    count: true,
    min_calls: true,
    amount: true,
    emails: `coalesce(t.emails, '{}')`,
    time_zone: true,
    schedule: true,
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
    last_error: true,
    last_error_at: true,
    unsent_mails_count: true,
    last_unsent_at: true,
    last_unsent_reason: true,
  },
} as const satisfies Projection<'AlertRule', 'alert_rule', 'alert_rules'>;

const ALERTS = {
  schema: 'Alert',
  singular: 'alert',
  plural: 'alerts',
  appendOnly: true,
  fulltext: `lower(coalesce(t.message, ''))`,
  columns: {
    id: true,
    legacy_id: 't.id',
    type: `'Alert'`,
    uuid: true,
    created_at: true,
    ended_at: true,
    company_id: true,
    alert_rule_id: true,
    kind: true,
    subject: true,
    message: true,
    value: true,
    threshold: true,
  },
} as const satisfies Projection<'Alert', 'alert', 'alerts'>;

export const alertRules = ({ clock, queue, config }: Deps) => {
  const records = recordHandlers(projection, clock);
  return {
    listAlertRules: ({ query, db }) =>
      page(query, { db, now: clock(), projection, orders: CHRONOLOGICAL }),
    showAlertRule: (call) => records.show(call),
    createAlertRule: (call) =>
      records.create({ ...call, query: {} }, (tx, fields, now) =>
        createRule(tx, fields, { queue, config, now }),
      ),
    updateAlertRule: (call) =>
      records.update({ ...call, query: {} }, (tx, id, { fields, now }) =>
        updateRule(tx, id, { fields, queue, config, now }),
      ),
    deleteAlertRule: (call) => records.delete({ ...call, query: {} }, deleteRule),

    listAlerts: ({ query, db }) => {
      const filters = {
        open: '(t.ended_at IS NULL) = {open}::boolean',
        ...buildReferenceConditions(query, { alert_rule_id: 'alert_rules' }),
      };
      return page(query, { db, now: clock(), projection: ALERTS, orders: CHRONOLOGICAL, filters });
    },
  } satisfies Partial<Handlers>;
};
