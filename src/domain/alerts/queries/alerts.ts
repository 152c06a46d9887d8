import { sql, statement, TIMESTAMP_FORMAT } from '../../../data/sql';

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

/** True for the one process that may check a rule until its commit. */
export const LOCK_RULE = statement(
  'alerts.lock_rule',
  sql`SELECT pg_try_advisory_xact_lock(hashtextextended({name}, 4112)) AS is_locked`,
  { prepared: false },
);

/** Rules that are watched at this time; `is_open_since`: throughout their window of minutes. */
export const READ_RULES = statement(
  'alerts.read_rules',
  sql`
    SELECT
      r.id::text, r.name, r.kind, r.buyer_id::text, r.buyer_group_id::text,
      r.traffic_source_id::text, r.offer_id::text, r.percent, r.minutes, r.count, r.min_calls,
      r.amount::float8, coalesce(r.emails, '{}') AS emails, r.last_error IS NOT NULL AS has_error,
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

/** The payload of events about the alert `a` of the rule `r`. */
const ALERT_PAYLOAD = sql`
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
            'started_at', to_char(a.created_at AT TIME ZONE 'UTC', ${TIMESTAMP_FORMAT}),
            'ended_at', to_char(a.ended_at AT TIME ZONE 'UTC', ${TIMESTAMP_FORMAT})
          )
        )`;

export const LIST_OPEN_SUBJECTS = statement(
  'alerts.list_open_subjects',
  sql`
    SELECT a.subject
    FROM alerts a
    WHERE a.company_id = {company_id} AND a.alert_rule_id = {rule_id} AND a.ended_at IS NULL`,
  { prepared: true },
);

/**
 * Starts alerts of a rule unless they are open, and records their events. Starts none where the
 * rule was paused, deleted or changed to another kind since it was read.
 */
export const BEGIN_ALERTS = statement(
  'alerts.begin_alerts',
  sql`
    WITH begun AS (
      INSERT INTO alerts (
        company_id, created_at, alert_rule_id, kind, subject, message, value, threshold, emails
      )
      SELECT
        {company_id}, {now}::timestamptz, r.id, r.kind, x.subject, x.message, x.value,
        x.threshold, {emails}::text[]
      FROM jsonb_to_recordset({findings}::jsonb) AS x(
        subject text, message text, value float8, threshold float8
      )
      JOIN alert_rules r
        ON r.company_id = {company_id}
        AND r.id = {rule_id}
        AND r.kind = {kind}
        AND r.deleted_at IS NULL
        AND NOT r.paused
      ON CONFLICT (company_id, alert_rule_id, subject) WHERE ended_at IS NULL DO NOTHING
      RETURNING *
    )
    SELECT
      a.id::text,
      record_webhook_event({company_id}::bigint, 'alert_started', a.id, ${ALERT_PAYLOAD})
    FROM begun a`,
  { prepared: true },
);

export const END_ALERTS = statement(
  'alerts.end_alerts',
  sql`
    WITH ended AS (
      UPDATE alerts a
      SET ended_at = {now}::timestamptz
      WHERE a.company_id = {company_id}
        AND a.alert_rule_id = {rule_id}
        AND a.ended_at IS NULL
        AND a.subject = ANY({subjects}::text[])
      RETURNING a.*
    )
    SELECT
      a.id::text,
      record_webhook_event({company_id}::bigint, 'alert_ended', a.id, ${ALERT_PAYLOAD}),
      coalesce(a.emails, '{}') AS emails
    FROM ended a`,
  { prepared: true },
).returning<{ emails: string[] }>();

/** Ends at most `max` alerts of rules that are paused, deleted, or of another kind now. */
export const END_UNWATCHED = statement(
  'alerts.end_unwatched',
  sql`
    WITH unwatched AS (
      SELECT a.id
      FROM alerts a
      JOIN alert_rules r ON r.company_id = a.company_id AND r.id = a.alert_rule_id
      WHERE a.company_id = {company_id}
        AND a.ended_at IS NULL
        AND (r.deleted_at IS NOT NULL OR r.paused OR r.kind <> a.kind)
      LIMIT {max}::int
      FOR NO KEY UPDATE OF a SKIP LOCKED
    ),
    ended AS (
      UPDATE alerts a
      SET ended_at = {now}::timestamptz
      FROM unwatched u
      WHERE a.company_id = {company_id} AND a.id = u.id
      RETURNING a.id
    )
    SELECT count(*)::int AS ended FROM ended`,
  { prepared: false },
);

/** Rules of all companies whose last check failed. */
export const COUNT_FAILING_RULES = statement(
  'alerts.count_failing_rules',
  sql`
    SELECT count(*)::int AS rules
    FROM alert_rules
    WHERE last_error IS NOT NULL AND deleted_at IS NULL AND NOT paused`,
  { prepared: false },
);

/** The lock lasts until the commit: two requests must not both create the last allowed rule. */
export const LOCK_RULE_COUNT = statement(
  'alerts.lock_rule_count',
  sql`SELECT pg_advisory_xact_lock(hashtextextended({name}, 4113))::text AS locked`,
  { prepared: false },
);

/**
 * Claims the news of an alert; no row where this news, or a later one, was claimed before. An end
 * that is claimed first replaces the start. The rule is locked first, as by a request that changes
 * it.
 */
export const CLAIM_NEWS = statement(
  'alerts.claim_news',
  sql`
    WITH rule AS MATERIALIZED (
      SELECT r.id
      FROM alerts a
      JOIN alert_rules r ON r.company_id = a.company_id AND r.id = a.alert_rule_id
      WHERE a.company_id = {company_id} AND a.id = {id}
      FOR NO KEY UPDATE OF r
    )
    UPDATE alerts a
    SET told = {news}
    FROM rule
    WHERE a.company_id = {company_id}
      AND a.id = {id}
      AND (a.told IS NULL OR (a.told = 'started' AND {news} = 'ended'))
    RETURNING a.alert_rule_id::text AS rule_id, coalesce(a.emails, '{}') AS emails`,
  { prepared: true },
).returning<{ emails: string[] }>();

export const RECORD_UNSENT = statement(
  'alerts.record_unsent',
  sql`
    UPDATE alert_rules
    SET
      unsent_mails_count = unsent_mails_count + {count}::int,
      last_unsent_at = {now}::timestamptz,
      last_unsent_reason = {reason}
    WHERE company_id = {company_id} AND id = {rule_id}`,
  { prepared: false },
);
