import { sql, statement } from '../../db/sql';

// What is erased of a person. Calls stay, as those of a caller who withheld the number: money and
// reports are made of them. Leads, texts and e-mails stay as deleted ones without content.

const IN_CALLS = sql`company_id = {company_id} AND call_id = ANY ({call_ids}::bigint[])`;
const IN_LEADS = sql`company_id = {company_id} AND lead_id = ANY ({lead_ids}::bigint[])`;
const OF_EITHER = sql`
  company_id = {company_id}
  AND (call_id = ANY ({call_ids}::bigint[]) OR lead_id = ANY ({lead_ids}::bigint[]))`;

export const ERASE_LEADS = statement(
  'erasure.erase_leads',
  sql`
    UPDATE leads
    SET caller_number = 0, email = NULL, external_record_id = NULL, remote_ip = NULL,
      data = '{}', zones = '{}', callback_at = NULL
    WHERE company_id = {company_id} AND id = ANY ({lead_ids}::bigint[])
    RETURNING id
  `,
  { prepared: false },
);

export const ERASE_LEAD_LOGS = statement(
  'erasure.erase_lead_logs',
  sql`
    UPDATE lead_logs SET message = NULL, details = NULL
    WHERE ${IN_LEADS} AND (message IS NOT NULL OR details IS NOT NULL)
    RETURNING id
  `,
  { prepared: false },
);

/** Returns for each whether it was deleted before, and so no longer counted. */
export const ERASE_TEXTS = statement(
  'erasure.erase_texts',
  sql`
    WITH was AS (
      SELECT t.id, t.deleted_at
      FROM text_messages t
      WHERE t.company_id = {company_id}
        AND (
          t.lead_id = ANY ({lead_ids}::bigint[])
          OR t.from_number = {number}::bigint
          OR t.to_number = {number}::bigint
        )
      FOR UPDATE
    )
    UPDATE text_messages t
    SET from_number = CASE t.direction WHEN 'inbound' THEN 0 ELSE t.from_number END,
      to_number = CASE t.direction WHEN 'inbound' THEN t.to_number ELSE 0 END,
      body = '', token_values = '{}', error_message = NULL, external_record_id = NULL,
      deleted_at = coalesce(t.deleted_at, {now}::timestamptz), updated_at = {now}::timestamptz
    FROM was
    WHERE t.company_id = {company_id} AND t.id = was.id
    RETURNING was.deleted_at IS NULL AS was_counted
  `,
  { prepared: false },
);

export const ERASE_EMAILS = statement(
  'erasure.erase_emails',
  sql`
    WITH was AS (
      SELECT e.id, e.deleted_at
      FROM emails e
      WHERE e.company_id = {company_id}
        AND (
          e.lead_id = ANY ({lead_ids}::bigint[]) OR lower(e.to_email) = ANY ({emails}::text[])
        )
      FOR UPDATE
    )
    UPDATE emails e
    SET to_email = '', subject = '', body = '', token_values = '{}', error_message = NULL,
      external_record_id = NULL,
      deleted_at = coalesce(e.deleted_at, {now}::timestamptz), updated_at = {now}::timestamptz
    FROM was
    WHERE e.company_id = {company_id} AND e.id = was.id
    RETURNING was.deleted_at IS NULL AS was_counted
  `,
  { prepared: false },
);

export const ERASE_CALLS = statement(
  'erasure.erase_calls',
  sql`
    WITH was AS (
      SELECT c.id, c AS call
      FROM calls c
      WHERE c.company_id = {company_id} AND c.id = ANY ({call_ids}::bigint[])
      FOR NO KEY UPDATE
    ),
    call AS (
      UPDATE calls c
      SET caller_number = NULL,
        from_number = CASE c.direction WHEN 'inbound' THEN NULL ELSE c.from_number END,
        to_number = CASE c.direction WHEN 'inbound' THEN c.to_number END,
        caller_city = NULL, caller_state = NULL, caller_zip = NULL,
        external_record_id = NULL, error_message = NULL, recording_url = NULL,
        token_values = '{}', disposition_notes = NULL, machine_message = NULL
      FROM was
      WHERE c.company_id = {company_id} AND c.id = was.id
      RETURNING was.call AS was, c AS now
    )
    SELECT record_call_change(call.was, call.now) AS is_recorded
    FROM call
  `,
  { prepared: false, records: true },
);

export const ERASE_CALL_EVENTS = statement(
  'erasure.erase_call_events',
  sql`
    UPDATE call_events SET message = NULL, details = NULL
    WHERE ${IN_CALLS} AND (message IS NOT NULL OR details IS NOT NULL)
    RETURNING id
  `,
  { prepared: false },
);

export const DELETE_DECISIONS = statement(
  'erasure.delete_decisions',
  sql`DELETE FROM call_decisions WHERE ${IN_CALLS} RETURNING call_id AS id`,
  { prepared: false },
);

export const ERASE_CONVERSIONS = statement(
  'erasure.erase_conversions',
  sql`
    UPDATE conversions SET caller_number = NULL
    WHERE company_id = {company_id}
      AND (caller_number = {number}::bigint OR call_id = ANY ({call_ids}::bigint[]))
    RETURNING id
  `,
  { prepared: false },
);

/** The instruction by which a leg was dialed has the caller's number. */
export const ERASE_ATTEMPTS = statement(
  'erasure.erase_attempts',
  sql`
    UPDATE call_attempts
    SET dial = dial || jsonb_build_object('caller_id', NULL)
    WHERE ${IN_CALLS}
    RETURNING id
  `,
  { prepared: false },
);

export const DELETE_PINGS = statement(
  'erasure.delete_pings',
  sql`
    DELETE FROM pings
    WHERE company_id = {company_id} AND caller_number = {number}::bigint
      AND NOT EXISTS (
        SELECT FROM call_holds h WHERE h.company_id = {company_id} AND h.ping_id = pings.id
      )
    RETURNING id
  `,
  { prepared: false },
);

/** Of bidders that were asked about the person. */
export const DELETE_BIDS = statement(
  'erasure.delete_bids',
  sql`
    DELETE FROM bids
    WHERE company_id = {company_id} AND caller_number = {number}::bigint
    RETURNING buyer_id
  `,
  { prepared: false },
);

export const DELETE_CONTACT = statement(
  'erasure.delete_contact',
  sql`
    DELETE FROM contacts
    WHERE company_id = {company_id} AND caller_number = {number}::bigint
      AND NOT blocked AND NOT opt_out
    RETURNING deleted_at IS NULL AS was_counted
  `,
  { prepared: false },
);

export const DELETE_RESTRICTIONS = statement(
  'erasure.delete_restrictions',
  sql`
    DELETE FROM contact_restrictions
    WHERE company_id = {company_id} AND caller_number = {number}::bigint
      AND NOT blocked AND NOT opt_out
    RETURNING id
  `,
  { prepared: false },
);

/** What was to be delivered to webhooks is not delivered any more. */
export const ERASE_DELIVERIES = statement(
  'erasure.erase_deliveries',
  sql`
    UPDATE webhook_deliveries
    SET request_body = NULL, request_url = '', request_headers = '{}',
      status = CASE status WHEN 'waiting' THEN 'dead' ELSE status END, due_at = NULL
    WHERE ${OF_EITHER}
    RETURNING id
  `,
  { prepared: false },
);

export const ERASE_WEBHOOK_LOGS = statement(
  'erasure.erase_webhook_logs',
  sql`
    UPDATE webhook_logs
    SET request_url = NULL, request_headers = '{}', request_body = NULL,
      response_headers = NULL, response_body = NULL, notes = NULL
    WHERE ${OF_EITHER}
    RETURNING id
  `,
  { prepared: false },
);

/** Events that have not become deliveries yet. */
export const DELETE_EVENTS = statement(
  'erasure.delete_events',
  sql`
    DELETE FROM webhook_events
    WHERE company_id = {company_id}
      AND (
        (snapshot -> 'lead' ->> 'id')::bigint = ANY ({lead_ids}::bigint[])
        OR (snapshot -> 'call' ->> 'id')::bigint = ANY ({call_ids}::bigint[])
      )
    RETURNING id
  `,
  { prepared: false },
);

export const ERASE_CHANGE_LOGS = statement(
  'erasure.erase_change_logs',
  sql`
    UPDATE change_logs SET changes = '{}', changes_shown = NULL
    WHERE company_id = {company_id}
      AND (
        (record_type = 'Lead' AND record_id = ANY ({lead_ids}::bigint[]))
        OR (record_type IN ('Call', 'CallSession') AND record_id = ANY ({call_ids}::bigint[]))
        OR changes::text ~ {mentioned}::text
      )
    RETURNING id
  `,
  { prepared: false },
);

export const ERASE_REJECTED_ROWS = statement(
  'erasure.erase_rejected_rows',
  sql`
    UPDATE rejected_rows SET caller_id = ''
    WHERE company_id = {company_id}
      AND right(regexp_replace(caller_id, '\D', '', 'g'), 10) = right({number}::text, 10)
    RETURNING line AS id
  `,
  { prepared: false },
);
