import { sql, statement } from '../../../data/sql';

// Text messages that come in, and reports of carriers. These come twice, late, and before a
// delivery has been recorded: a status changes only to a later one; `lead_id` never changes.

/** Stores a text message that has come in (prisma/sql/outreach/record_text.sql). */
export const RECORD_TEXT = statement(
  'outreach.record_text',
  sql`
    SELECT r.message_id, r.reply_key, r.reply_body
    FROM record_text(
      {company_id}::bigint, {message}::json, {reply}::json, {now}::timestamptz
    ) r`,
  { prepared: true, nullable: ['reply_key', 'reply_body'] },
);

/** How a company answers words of consent, and whether the message was stored before. */
export const READ_REPLY_SETTINGS = statement(
  'outreach.read_reply_settings',
  sql`
    SELECT
      c.name, c.country, c.contact_countries,
      coalesce(c.contact_prefixes, '{}') AS contact_prefixes,
      c.keyword_replies, c.help_text, c.opt_out_text, c.opt_in_text,
      EXISTS (
        SELECT
        FROM text_messages t
        WHERE t.company_id = {company_id} AND t.carrier = {carrier}
          AND t.carrier_message_id = {carrier_message_id}
      ) AS is_repeated
    FROM companies c
    WHERE c.id = {company_id}
  `,
  { prepared: false },
).returning<{ contact_prefixes: string[]; is_repeated: boolean }>();

/** Writes the status of a message (prisma/sql/outreach/record_message_status.sql). */
export const RECORD_MESSAGE_STATUS = statement(
  'outreach.record_message_status',
  sql`
    SELECT record_message_status(
      {company_id}::bigint, {key}::uuid, {status}, {error_code}, {error_message},
      {carrier_message_id}, {now}::timestamptz
    )::text AS recorded`,
  { prepared: true },
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

export const UPDATE_CALL = statement(
  'outreach.update_call',
  sql`
    WITH was AS (
      SELECT
        c.id, c AS call, coalesce({duration}::int, c.total_duration) AS total_duration,
        CASE WHEN {is_over}::boolean THEN {now}::timestamptz ELSE c.ended_at END AS ended_at
      FROM calls c
      WHERE c.company_id = {company_id}::bigint AND c.uuid = {key}::uuid
        AND delivery_rank(c.status) < delivery_rank({status})
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
