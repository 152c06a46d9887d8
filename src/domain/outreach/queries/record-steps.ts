import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';

// Deliveries are recorded under the key of their step (uuid): first as `sending`, then with the
// result. Carriers may report a later status first, which stays. Until a row is sent, its content
// may change.

const COMMON = sql`
  company_id bigint, uuid uuid, status text, error_code text, error_message text, lead_id bigint,
  offer_id bigint, schedule_id bigint, schedule_action_id bigint, token_values jsonb
`;

const MESSAGE_IS_NEWER = sql`
  CASE excluded.status WHEN 'sending' THEN 0 WHEN 'queued' THEN 1 WHEN 'sent' THEN 2 ELSE 3 END
  >= CASE t.status WHEN 'sending' THEN 0 WHEN 'queued' THEN 1 WHEN 'sent' THEN 2 ELSE 3 END
`;

export const RECORD_TEXT_MESSAGES = statement(
  'outreach.record_text_messages',
  sql`
    WITH written AS (
      INSERT INTO text_messages AS t (
        created_at, updated_at, company_id, uuid, status, error_code, error_message, lead_id,
        offer_id, schedule_id, schedule_action_id, token_values, from_number, to_number, body,
        carrier, carrier_message_id, direction, sent_at, delivered_at
      )
      SELECT {now}::timestamptz, {now}::timestamptz, x.company_id, x.uuid, x.status, x.error_code,
        x.error_message, x.lead_id, x.offer_id, x.schedule_id, x.schedule_action_id, x.token_values,
        x.from_number, x.to_number, x.body, x.carrier, x.carrier_message_id, 'outbound',
        CASE WHEN x.status NOT IN ('sending', 'failed', 'unknown') THEN {now}::timestamptz END,
        CASE WHEN x.status = 'delivered' THEN {now}::timestamptz END
      FROM jsonb_to_recordset({rows}::jsonb) AS x(
        ${COMMON}, from_number bigint, to_number bigint, body text, carrier text,
        carrier_message_id text
      )
      ON CONFLICT (company_id, uuid) DO UPDATE
      SET
        status = CASE WHEN ${MESSAGE_IS_NEWER} THEN excluded.status ELSE t.status END,
        error_code = CASE WHEN ${MESSAGE_IS_NEWER} THEN excluded.error_code ELSE t.error_code END,
        error_message =
          CASE WHEN ${MESSAGE_IS_NEWER} THEN excluded.error_message ELSE t.error_message END,
        offer_id = CASE WHEN t.status = 'sending' THEN excluded.offer_id ELSE t.offer_id END,
        schedule_id =
          CASE WHEN t.status = 'sending' THEN excluded.schedule_id ELSE t.schedule_id END,
        schedule_action_id = CASE
          WHEN t.status = 'sending' THEN excluded.schedule_action_id ELSE t.schedule_action_id
        END,
        token_values =
          CASE WHEN t.status = 'sending' THEN excluded.token_values ELSE t.token_values END,
        from_number =
          CASE WHEN t.status = 'sending' THEN excluded.from_number ELSE t.from_number END,
        to_number = CASE WHEN t.status = 'sending' THEN excluded.to_number ELSE t.to_number END,
        body = CASE WHEN t.status = 'sending' THEN excluded.body ELSE t.body END,
        carrier = CASE WHEN t.status = 'sending' THEN excluded.carrier ELSE t.carrier END,
        carrier_message_id = coalesce(t.carrier_message_id, excluded.carrier_message_id),
        sent_at = coalesce(t.sent_at, excluded.sent_at),
        delivered_at = coalesce(t.delivered_at, excluded.delivered_at),
        updated_at = excluded.updated_at
      RETURNING t.company_id, t.id, t.uuid, t.xmax = 0 AS is_new
    ),
    added AS (
      SELECT company_id
      FROM written
      WHERE is_new
    ),
    counted AS (${countRows('text_messages', 'added')})
    SELECT id, uuid
    FROM written
  `,
  { prepared: true },
);

const EMAIL_IS_NEWER = sql`
  CASE excluded.status WHEN 'sending' THEN 0 ELSE 1 END
  >= CASE t.status WHEN 'sending' THEN 0 ELSE 1 END
`;

export const RECORD_EMAILS = statement(
  'outreach.record_emails',
  sql`
    WITH written AS (
      INSERT INTO emails AS t (
        created_at, updated_at, company_id, uuid, status, error_code, error_message, lead_id,
        offer_id, schedule_id, schedule_action_id, token_values, from_email, to_email, subject,
        body, html, mailer, message_id, sent_at
      )
      SELECT {now}::timestamptz, {now}::timestamptz, x.company_id, x.uuid, x.status, x.error_code,
        x.error_message, x.lead_id, x.offer_id, x.schedule_id, x.schedule_action_id, x.token_values,
        x.from_email, x.to_email, x.subject, x.body, x.html, x.mailer, x.message_id,
        CASE WHEN x.status NOT IN ('sending', 'failed', 'unknown') THEN {now}::timestamptz END
      FROM jsonb_to_recordset({rows}::jsonb) AS x(
        ${COMMON}, from_email text, to_email text, subject text, body text, html boolean,
        mailer text, message_id text
      )
      ON CONFLICT (company_id, uuid) DO UPDATE
      SET
        status = CASE WHEN ${EMAIL_IS_NEWER} THEN excluded.status ELSE t.status END,
        error_code = CASE WHEN ${EMAIL_IS_NEWER} THEN excluded.error_code ELSE t.error_code END,
        error_message =
          CASE WHEN ${EMAIL_IS_NEWER} THEN excluded.error_message ELSE t.error_message END,
        offer_id = CASE WHEN t.status = 'sending' THEN excluded.offer_id ELSE t.offer_id END,
        schedule_id =
          CASE WHEN t.status = 'sending' THEN excluded.schedule_id ELSE t.schedule_id END,
        schedule_action_id = CASE
          WHEN t.status = 'sending' THEN excluded.schedule_action_id ELSE t.schedule_action_id
        END,
        token_values =
          CASE WHEN t.status = 'sending' THEN excluded.token_values ELSE t.token_values END,
        from_email = CASE WHEN t.status = 'sending' THEN excluded.from_email ELSE t.from_email END,
        to_email = CASE WHEN t.status = 'sending' THEN excluded.to_email ELSE t.to_email END,
        subject = CASE WHEN t.status = 'sending' THEN excluded.subject ELSE t.subject END,
        body = CASE WHEN t.status = 'sending' THEN excluded.body ELSE t.body END,
        html = CASE WHEN t.status = 'sending' THEN excluded.html ELSE t.html END,
        mailer = CASE WHEN t.status = 'sending' THEN excluded.mailer ELSE t.mailer END,
        message_id = coalesce(t.message_id, excluded.message_id),
        sent_at = coalesce(t.sent_at, excluded.sent_at),
        updated_at = excluded.updated_at
      RETURNING t.company_id, t.id, t.uuid, t.xmax = 0 AS is_new
    ),
    added AS (
      SELECT company_id
      FROM written
      WHERE is_new
    ),
    counted AS (${countRows('emails', 'added')})
    SELECT id, uuid
    FROM written
  `,
  { prepared: true },
);

const CALL_IS_NEWER = sql`
  CASE excluded.status
    WHEN 'sending' THEN 0 WHEN 'queued' THEN 1 WHEN 'ringing' THEN 2 WHEN 'in_progress' THEN 3
    ELSE 4
  END
  >= CASE t.status
    WHEN 'sending' THEN 0 WHEN 'queued' THEN 1 WHEN 'ringing' THEN 2 WHEN 'in_progress' THEN 3
    ELSE 4
  END
`;

export const RECORD_CALLS = statement(
  'outreach.record_calls',
  sql`
    WITH steps AS MATERIALIZED (
      SELECT *
      FROM jsonb_to_recordset({rows}::jsonb) AS x(
        ${COMMON}, from_number bigint, to_number bigint, connect_to text, carrier text,
        carrier_call_id text, routed boolean, machine_action text, machine_message text
      )
    ),
    was AS (
      SELECT c.company_id, c.id, c AS call
      FROM steps x
      JOIN calls c ON c.company_id = x.company_id AND c.uuid = x.uuid
      FOR NO KEY UPDATE OF c
    ),
    written AS (
      INSERT INTO calls AS t (
        created_at, updated_at, company_id, uuid, status, error_code, error_message, lead_id,
        offer_id, schedule_id, schedule_action_id, token_values, from_number, to_number, connect_to,
        carrier, carrier_call_id, direction, caller_number, answered_at, ended_at, routed,
        machine_action, machine_message, service_cost
      )
      SELECT {now}::timestamptz, {now}::timestamptz, x.company_id, x.uuid, x.status, x.error_code,
        x.error_message, x.lead_id, x.offer_id, x.schedule_id, x.schedule_action_id, x.token_values,
        x.from_number, x.to_number, x.connect_to, x.carrier, x.carrier_call_id, 'outbound',
        x.to_number,
        CASE WHEN x.status IN ('in_progress', 'completed') THEN {now}::timestamptz END,
        CASE
          WHEN x.status NOT IN ('sending', 'queued', 'ringing', 'in_progress')
            THEN {now}::timestamptz
        END,
        x.routed, x.machine_action, x.machine_message,
        service_cost_of(
          x.company_id, NULL, {now}::timestamptz,
          CASE
            WHEN x.status NOT IN ('sending', 'queued', 'ringing', 'in_progress')
              THEN {now}::timestamptz
          END
        )
      -- The count is there so that rows that exist are locked first.
      FROM steps x, (SELECT count(*) AS n FROM was) locked
      WHERE locked.n >= 0
      ON CONFLICT (company_id, uuid) DO UPDATE
      SET
        status = CASE WHEN ${CALL_IS_NEWER} THEN excluded.status ELSE t.status END,
        error_code = CASE WHEN ${CALL_IS_NEWER} THEN excluded.error_code ELSE t.error_code END,
        error_message =
          CASE WHEN ${CALL_IS_NEWER} THEN excluded.error_message ELSE t.error_message END,
        offer_id = CASE WHEN t.status = 'sending' THEN excluded.offer_id ELSE t.offer_id END,
        schedule_id =
          CASE WHEN t.status = 'sending' THEN excluded.schedule_id ELSE t.schedule_id END,
        schedule_action_id = CASE
          WHEN t.status = 'sending' THEN excluded.schedule_action_id ELSE t.schedule_action_id
        END,
        token_values =
          CASE WHEN t.status = 'sending' THEN excluded.token_values ELSE t.token_values END,
        from_number =
          CASE WHEN t.status = 'sending' THEN excluded.from_number ELSE t.from_number END,
        to_number = CASE WHEN t.status = 'sending' THEN excluded.to_number ELSE t.to_number END,
        connect_to = CASE WHEN t.status = 'sending' THEN excluded.connect_to ELSE t.connect_to END,
        routed = CASE WHEN t.status = 'sending' THEN excluded.routed ELSE t.routed END,
        machine_action =
          CASE WHEN t.status = 'sending' THEN excluded.machine_action ELSE t.machine_action END,
        machine_message =
          CASE WHEN t.status = 'sending' THEN excluded.machine_message ELSE t.machine_message END,
        carrier = CASE WHEN t.status = 'sending' THEN excluded.carrier ELSE t.carrier END,
        carrier_call_id = coalesce(t.carrier_call_id, excluded.carrier_call_id),
        answered_at = coalesce(t.answered_at, excluded.answered_at),
        ended_at = coalesce(t.ended_at, excluded.ended_at),
        service_cost =
          service_cost_after(t, t.total_duration, coalesce(t.ended_at, excluded.ended_at)),
        updated_at = excluded.updated_at
      RETURNING t.company_id, t.id, t.uuid, t.xmax = 0 AS is_new, t AS now
    ),
    added AS (
      SELECT company_id
      FROM written
      WHERE is_new
    ),
    counted AS (${countRows('calls', 'added')})
    SELECT w.id, w.uuid,
      record_upserted_call(
        w.is_new,
        (SELECT was.call FROM was WHERE was.company_id = w.company_id AND was.id = w.id),
        w.now
      ) AS is_recorded
    FROM written w
  `,
  { prepared: true, records: true },
);
