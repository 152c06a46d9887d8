import { sql, statement } from '../../db/sql';

const TIME = sql`'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"'`;

/** Companies with a rule that is watched, or with an alert that has not ended. */
export const LIST_WATCHED_COMPANIES = statement(
  'alerts.list_watched_companies',
  sql`
    SELECT DISTINCT company_id::text
    FROM (
      SELECT company_id FROM alert_rules WHERE deleted_at IS NULL AND NOT paused
      UNION ALL
      SELECT company_id FROM alerts WHERE ended_at IS NULL
    ) x`,
  { prepared: false },
);

/** True for the one process that may look at the rules of a company, until its commit. */
export const LOCK_RULES = statement(
  'alerts.lock_rules',
  sql`SELECT pg_try_advisory_xact_lock(hashtextextended({name}, 4112)) AS is_locked`,
  { prepared: false },
);

/** Rules that are watched at this time; `is_open_since` for all of their minutes. */
export const READ_RULES = statement(
  'alerts.read_rules',
  sql`
    SELECT
      r.id::text, r.name, r.kind, r.buyer_id::text, r.buyer_group_id::text,
      r.traffic_source_id::text, r.offer_id::text, r.percent, r.minutes, r.count, r.min_calls,
      r.amount::float8, coalesce(r.emails, '{}') AS emails,
      r.updated_at <= {now}::timestamptz - coalesce(r.minutes, 0) * interval '1 minute'
        AND is_open(
          r.open_minutes,
          local_minute_of_week(
            {now}::timestamptz - coalesce(r.minutes, 0) * interval '1 minute',
            r.time_zone
          )
        ) AS is_open_since
    FROM alert_rules r
    WHERE r.company_id = {company_id}
      AND r.deleted_at IS NULL
      AND NOT r.paused
      AND is_open(r.open_minutes, local_minute_of_week({now}::timestamptz, r.time_zone))
    ORDER BY r.id`,
  {
    prepared: true,
    nullable: [
      'buyer_id',
      'buyer_group_id',
      'traffic_source_id',
      'offer_id',
      'percent',
      'minutes',
      'count',
      'min_calls',
      'amount',
    ],
  },
).returning<{ emails: string[] }>();

/** What events tell of the alert `a` of the rule `r`. */
const TOLD = sql`
        jsonb_build_object(
          'alert',
          jsonb_build_object(
            'id', a.id,
            'uuid', a.uuid,
            'alert_rule_id', a.alert_rule_id,
            'rule', {rule}::text,
            'kind', a.kind,
            'subject', a.subject,
            'message', a.message,
            'value', a.value,
            'threshold', a.threshold,
            'started_at', to_char(a.created_at AT TIME ZONE 'UTC', ${TIME}),
            'ended_at', to_char(a.ended_at AT TIME ZONE 'UTC', ${TIME})
          )
        )`;

/** Begins the alerts of a rule that have not begun, and records their events. */
export const BEGIN_ALERTS = statement(
  'alerts.begin_alerts',
  sql`
    WITH begun AS (
      INSERT INTO alerts (
        company_id, created_at, alert_rule_id, kind, subject, message, value, threshold, emails
      )
      SELECT
        {company_id}, {now}::timestamptz, {rule_id}, {kind}, x.subject, x.message, x.value,
        x.threshold, {emails}::text[]
      FROM jsonb_to_recordset({found}::jsonb) AS x(
        subject text, message text, value float8, threshold float8
      )
      ON CONFLICT (company_id, alert_rule_id, subject) WHERE ended_at IS NULL DO NOTHING
      RETURNING *
    )
    SELECT
      a.id::text,
      record_webhook_event({company_id}::bigint, 'alert_started', a.id, ${TOLD})
    FROM begun a`,
  { prepared: true },
);

/** Ends the alerts of a rule whose subjects are not among those of which it holds. */
export const END_ALERTS = statement(
  'alerts.end_alerts',
  sql`
    WITH ended AS (
      UPDATE alerts a
      SET ended_at = {now}::timestamptz
      WHERE a.company_id = {company_id}
        AND a.alert_rule_id = {rule_id}
        AND a.ended_at IS NULL
        AND a.subject <> ALL({subjects}::text[])
      RETURNING a.*
    )
    SELECT
      a.id::text,
      record_webhook_event({company_id}::bigint, 'alert_ended', a.id, ${TOLD}),
      coalesce(a.emails, '{}') AS emails
    FROM ended a`,
  { prepared: true },
).returning<{ emails: string[] }>();

/** Ends the alerts of rules that are paused or deleted, or that have become another kind. */
export const END_UNWATCHED = statement(
  'alerts.end_unwatched',
  sql`
    UPDATE alerts a
    SET ended_at = {now}::timestamptz
    FROM alert_rules r
    WHERE a.company_id = {company_id}
      AND a.ended_at IS NULL
      AND r.company_id = a.company_id
      AND r.id = a.alert_rule_id
      AND (r.deleted_at IS NOT NULL OR r.paused OR r.kind <> a.kind)`,
  { prepared: false },
);

export const READ_ALERT = statement(
  'alerts.read_alert',
  sql`
    SELECT
      r.name AS rule, a.subject, a.message, a.created_at, a.ended_at, r.time_zone
    FROM alerts a
    JOIN alert_rules r ON r.company_id = a.company_id AND r.id = a.alert_rule_id
    WHERE a.company_id = {company_id} AND a.id = {id}`,
  { prepared: false },
);
