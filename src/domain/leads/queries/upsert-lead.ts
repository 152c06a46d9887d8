import { countRows } from '../../../data/counts/counters';
import { sql, statement, type SqlText } from '../../../data/sql';
import { CHANGEABLE, CHANGES } from './changed-lead';

// A submission creates a lead or updates the live lead of its number. Two statements, one for leads
// of an offer and one for leads of a schedule, because the unique index that finds the live lead
// differs. Each is a list of CTEs that ends with `written`, the leads after the change;
// `upsertLead` appends the SELECT of the record, which src/data/projection/record-statements.ts
// builds. The statements at the end of this file append a plain SELECT, so that `npm run
// generate:sql` checks the CTEs.
//
// Submissions that differ only in their rows are written by one statement, in the order of their
// numbers, so that two batches never deadlock. A batch first locks the live leads of its numbers
// (`held`), to record their changes (src/domain/leads/queries/record-leads.ts). It fails with
// serialization_failure, and must be retried, if another batch has created a lead in the meantime.

/** Columns of a single submission. All other parameters apply to the whole batch. */
const SUBMITTED_COLUMNS = sql`
  uuid uuid, caller_number bigint, zones text[], data jsonb, email text,
  contact_field_type text, expires_in int, sub_id text, traffic_source_id bigint,
  remote_ip text, lead_priority numeric, hours_to_expire int, max_contact_attempts int,
  sender json, note text`;

const COLUMNS = sql`
  company_id, created_at, updated_at, user_updated_at, first_queued_at, entered_at,
  offer_id, schedule_id, status, next_action_at, due_at, callback_at, scheduled_callback_id,
  uuid, caller_number, zones, data, email, contact_field_type, expires_in, sub_id,
  traffic_source_id, remote_ip, lead_priority, hours_to_expire, max_contact_attempts,
  triggered_by`;

const VALUES = sql`
  {company_id}, {now}::timestamptz, {now}::timestamptz, {now}::timestamptz, {now}::timestamptz,
  {now}::timestamptz, s.offer_id, s.schedule_id, s.status, s.first_action_at,
  CASE WHEN s.status IN ('queue', 'scheduled', 'waiting') THEN s.first_due_at END,
  {callback_at}::timestamptz,
  CASE WHEN {callback_at}::timestamptz IS NOT NULL
    THEN nextval('scheduled_callbacks_id_seq') END,
  s.uuid, s.caller_number, s.zones, s.data, s.email, s.contact_field_type, s.expires_in,
  s.sub_id, s.traffic_source_id, s.remote_ip, s.lead_priority, s.hours_to_expire,
  s.max_contact_attempts, {triggered_by}::bigint[]`;

const WRITE_HISTORY = sql`
  INSERT INTO lead_logs (company_id, created_at, lead_id, event, message, details)
  SELECT {company_id}, {now}::timestamptz, w.id, entry.event, entry.message, entry.details
  FROM written w
  JOIN started s ON s.caller_number = w.caller_number
  CROSS JOIN LATERAL (VALUES
    (1, CASE WHEN w.created THEN 'created' ELSE 'updated' END, s.note, s.sender),
    (2, CASE WHEN {restart}::boolean AND NOT w.created THEN 'restarted' END,
      'asked for by a submission', NULL),
    (3, CASE WHEN {next_action_at}::timestamptz IS NOT NULL THEN 'next_action_changed' END,
      {next_action_at}::timestamptz::text, NULL),
    (4, CASE WHEN {callback_at}::timestamptz IS NOT NULL THEN 'callback_scheduled' END,
      {callback_at}::timestamptz::text, NULL),
    (5, CASE WHEN w.status = 'disabled' THEN 'disabled' END, 'its offer or schedule is paused',
      NULL),
    (6, CASE WHEN w.status = 'blocked' THEN 'blocked' END, 'its number is blocked', NULL),
    (7, CASE WHEN w.status = 'opt_out' THEN 'opted_out' END, 'its number has opted out', NULL)
  ) entry(place, event, message, details)
  WHERE entry.event IS NOT NULL
  ORDER BY entry.place`;

/** Restrictions at the offer or the schedule of the owner o, for a row q. */
const JOIN_RESTRICTIONS = sql`
  LEFT JOIN LATERAL (
    SELECT bool_or(x.blocked) AS blocked, bool_or(x.opt_out) AS opt_out
    FROM contact_restrictions x
    WHERE x.company_id = {company_id} AND x.caller_number = q.caller_number
      AND (x.offer_id = o.offer_id OR x.schedule_id = o.schedule_id)
  ) r ON true`;

/**
 * The live leads of the numbers, locked in the order of numbers. Each is looked up separately: for
 * a join, PostgreSQL might read all leads.
 */
const selectHeldLeads = (isItsOwner: SqlText): SqlText => sql`
  SELECT h.was, h.id
  FROM (SELECT * FROM started ORDER BY caller_number) s
  CROSS JOIN LATERAL (
    SELECT l AS was, l.id
    FROM leads l
    WHERE l.company_id = {company_id}
      AND l.caller_number = s.caller_number
      AND l.is_live
      AND ${isItsOwner}
    LIMIT 1
    FOR NO KEY UPDATE
  ) h`;

/** Makes the statement lock all rows before it writes the first lead. */
const AFTER_LOCKS = sql`(SELECT count(*) AS n FROM held) all_held WHERE all_held.n >= 0`;

/**
 * Steps after the leads were stored. `created` has the new leads, whose next actions are counted.
 */
const RECORD_WRITTEN_LEADS = sql`
  left_or_stayed AS MATERIALIZED (
    SELECT
      h.was, x.created,
      leave_schedule(
        x.is_now,
        CASE
          WHEN NOT x.created AND (x.is_now).status = 'opt_out' AND (h.was).status <> 'opt_out'
          THEN 'opted_out'
        END
      ) AS is_now
    FROM stored x
    LEFT JOIN held h ON h.id = (x.is_now).id
  ),
  recorded AS MATERIALIZED (
    SELECT x.is_now, x.created, record_submitted_lead(x.was, x.is_now, x.created) AS is_recorded
    FROM left_or_stayed x
  ),
  written AS MATERIALIZED (SELECT (x.is_now).*, x.created FROM recorded x),
  counted_actions AS MATERIALIZED (
    SELECT count_next_actions(
      {company_id}, '{}', array_agg(next_action_hour(w.due_at, w.callback_at, w.next_action_at))
    ) AS is_counted
    FROM written w
    WHERE w.created
    HAVING count(*) > 0
  ),
  logged AS (${WRITE_HISTORY}),
  created AS (
    SELECT {company_id}::bigint AS company_id
    FROM written w
    JOIN counted_actions ON is_counted
    WHERE w.created
  ),
  counted AS (${countRows('leads', 'created')})`;

export const WRITE_OFFER_LEADS = sql`
  WITH owner AS (
    SELECT o.paused, o.id AS offer_id, NULL::bigint AS schedule_id
    FROM offers o
    WHERE o.company_id = {company_id} AND o.id = {offer_id}::bigint AND o.deleted_at IS NULL
  ),
  started AS (
    SELECT
      q.*, o.offer_id, o.schedule_id,
      CASE
        WHEN k.blocked OR r.blocked THEN 'blocked'
        WHEN k.opt_out OR r.opt_out THEN 'opt_out'
        WHEN o.paused THEN 'disabled'
        WHEN {callback_at}::timestamptz IS NOT NULL THEN 'waiting'
        ELSE 'queue'
      END AS status,
      {next_action_at}::timestamptz AS first_action_at,
      coalesce(
        {callback_at}::timestamptz, {now}::timestamptz + q.expires_in * interval '1 minute'
      ) AS first_due_at
    FROM owner o
    CROSS JOIN json_to_recordset({rows}::json) AS q(${SUBMITTED_COLUMNS})
    LEFT JOIN contacts k ON k.company_id = {company_id} AND k.caller_number = q.caller_number
    ${JOIN_RESTRICTIONS}
  ),
  held AS MATERIALIZED (${selectHeldLeads(sql`l.offer_id = s.offer_id AND l.schedule_id IS NULL`)}),
  stored AS (
    INSERT INTO leads (${COLUMNS})
    SELECT ${VALUES}
    FROM started s, ${AFTER_LOCKS}
    ORDER BY s.caller_number
    ON CONFLICT (company_id, offer_id, caller_number) WHERE is_live AND schedule_id IS NULL
    DO UPDATE SET ${CHANGES}
    WHERE ${CHANGEABLE}
    RETURNING leads AS is_now, leads.xmax = 0 AS created
  ),
  ${RECORD_WRITTEN_LEADS}`;

export const WRITE_SCHEDULE_LEADS = sql`
  WITH owner AS (
    SELECT
      s.id AS schedule_id,
      coalesce({offer_id}::bigint, s.offer_id) AS offer_id,
      s.paused OR coalesce(o.paused, false) AS paused
    FROM schedules s
    LEFT JOIN offers o
      ON o.company_id = s.company_id AND o.id = coalesce({offer_id}::bigint, s.offer_id)
    WHERE s.company_id = {company_id} AND s.id = {schedule_id}::bigint AND s.deleted_at IS NULL
  ),
  started AS (
    SELECT
      q.*, o.offer_id, o.schedule_id,
      CASE
        WHEN k.blocked OR r.blocked THEN 'blocked'
        WHEN k.opt_out OR r.opt_out THEN 'opt_out'
        WHEN o.paused THEN 'disabled'
        WHEN {callback_at}::timestamptz IS NOT NULL THEN 'waiting'
        ELSE 'scheduled'
      END AS status,
      coalesce({next_action_at}::timestamptz, {now}::timestamptz) AS first_action_at,
      coalesce(
        {callback_at}::timestamptz, {next_action_at}::timestamptz, {now}::timestamptz
      ) AS first_due_at
    FROM owner o
    CROSS JOIN json_to_recordset({rows}::json) AS q(${SUBMITTED_COLUMNS})
    LEFT JOIN contacts k ON k.company_id = {company_id} AND k.caller_number = q.caller_number
    ${JOIN_RESTRICTIONS}
  ),
  held AS MATERIALIZED (${selectHeldLeads(sql`l.schedule_id = s.schedule_id`)}),
  stored AS (
    INSERT INTO leads (${COLUMNS})
    SELECT ${VALUES}
    FROM started s, ${AFTER_LOCKS}
    ORDER BY s.caller_number
    ON CONFLICT (company_id, schedule_id, caller_number) WHERE is_live AND schedule_id IS NOT NULL
    DO UPDATE SET ${CHANGES}
    WHERE ${CHANGEABLE}
    RETURNING leads AS is_now, leads.xmax = 0 AS created
  ),
  ${RECORD_WRITTEN_LEADS}`;

export const OFFER_LEADS_CHECK = statement(
  'leads.write_offer_leads',
  sql`${WRITE_OFFER_LEADS} SELECT id FROM written`,
  { prepared: true },
);
export const SCHEDULE_LEADS_CHECK = statement(
  'leads.write_schedule_leads',
  sql`${WRITE_SCHEDULE_LEADS} SELECT id FROM written`,
  { prepared: true },
);
