import { sql, statement } from '../../../data/sql';

// Carriers report twice, late, and before a delivery has been recorded. A status changes only to a
// later one; `lead_id` never changes.

export const LOCK_LEAD_OF_MESSAGE = statement(
  'outreach.lock_lead_of_message',
  sql`
    SELECT l.id
    FROM leads l
    WHERE l.company_id = {company_id}::bigint
      AND l.id = (
        SELECT lead_id
        FROM text_messages
        WHERE company_id = {company_id}::bigint AND uuid = {key}::uuid
      )
    FOR NO KEY UPDATE
  `,
  { prepared: false },
);

export const LOCK_LEAD_OF_CALL = statement(
  'outreach.lock_lead_of_call',
  sql`
    SELECT l.id, l.status, l.due_at, l.schedule_id
    FROM leads l
    WHERE l.company_id = {company_id}::bigint
      AND l.id = (
        SELECT lead_id
        FROM calls
        WHERE company_id = {company_id}::bigint AND uuid = {key}::uuid
      )
    FOR NO KEY UPDATE
  `,
  { prepared: false },
);

export const UPDATE_MESSAGE = statement(
  'outreach.update_message',
  sql`
    UPDATE text_messages
    SET status = {status}::text,
      error_code = coalesce({error_code}, error_code),
      error_message = coalesce({error_message}, error_message),
      carrier_message_id = coalesce(carrier_message_id, {carrier_message_id}),
      updated_at = {now}::timestamptz,
      sent_at =
        CASE WHEN {status} = 'failed' THEN sent_at ELSE coalesce(sent_at, {now}::timestamptz) END,
      delivered_at = CASE WHEN {status} = 'delivered' THEN {now}::timestamptz ELSE delivered_at END
    WHERE company_id = {company_id}::bigint AND uuid = {key}::uuid AND direction = 'outbound'
      AND CASE status WHEN 'sending' THEN 0 WHEN 'queued' THEN 1 WHEN 'sent' THEN 2 ELSE 3 END
        < CASE {status} WHEN 'sending' THEN 0 WHEN 'queued' THEN 1 WHEN 'sent' THEN 2 ELSE 3 END
    RETURNING id, lead_id, schedule_action_id
  `,
  { prepared: false },
);

export const UPDATE_CALL = statement(
  'outreach.update_call',
  sql`
    WITH was AS (
      SELECT
        c.id, c AS call, coalesce({duration}::int, c.total_duration) AS total_duration,
        CASE WHEN {is_over}::boolean THEN {now}::timestamptz ELSE c.ended_at END AS ended_at
      FROM calls c
      WHERE c.company_id = {company_id}::bigint AND c.uuid = {key}::uuid
        AND CASE c.status
            WHEN 'sending' THEN 0 WHEN 'queued' THEN 1 WHEN 'ringing' THEN 2
            WHEN 'in_progress' THEN 3 ELSE 4
          END
          < CASE {status}
            WHEN 'sending' THEN 0 WHEN 'queued' THEN 1 WHEN 'ringing' THEN 2
            WHEN 'in_progress' THEN 3 ELSE 4
          END
      FOR NO KEY UPDATE
    ),
    call AS (
      UPDATE calls c
      SET status = {status}::text,
        carrier_call_id = coalesce(c.carrier_call_id, {carrier_call_id}),
        total_duration = was.total_duration,
        updated_at = {now}::timestamptz,
        answered_at = CASE
          WHEN {is_answered}::boolean THEN
            coalesce(
              c.answered_at,
              {now}::timestamptz - coalesce({duration}::int, 0) * interval '1 second'
            )
          ELSE c.answered_at
        END,
        ended_at = was.ended_at,
        service_cost = service_cost_after(was.call, was.total_duration, was.ended_at)
      FROM was
      WHERE c.company_id = {company_id}::bigint AND c.id = was.id
      RETURNING c.id, c.lead_id, c.schedule_action_id, was.call AS was, c AS now
    )
    SELECT
      call.id, call.lead_id, call.schedule_action_id,
      record_call_change(call.was, call.now) AS is_recorded
    FROM call
  `,
  { prepared: false, records: true },
);
