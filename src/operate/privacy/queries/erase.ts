import { sql, statement } from '../../../data/sql';
import { isMentioned } from './spelled';

// Erases a person, a portion at a time. Calls stay, as if the caller had withheld the number: money
// and reports depend on them. Leads, texts and e-mails stay as deleted ones without content.

const IN_CALLS = sql`company_id = {company_id} AND call_id = ANY ({call_ids}::bigint[])`;
const IN_LEADS = sql`company_id = {company_id} AND lead_id = ANY ({lead_ids}::bigint[])`;
const IN_CALLS_OR_LEADS = sql`
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

/** Conversions of calls lose the number and the reason of a return. */
export const ERASE_CONVERSIONS = statement(
  'erasure.erase_conversions',
  sql`
    UPDATE conversions SET caller_number = NULL, return_reason = NULL
    WHERE ${IN_CALLS} AND (caller_number IS NOT NULL OR return_reason IS NOT NULL)
    RETURNING id
  `,
  { prepared: false },
);

export const ERASE_CONVERSIONS_OF_NUMBER = statement(
  'erasure.erase_conversions_of_number',
  sql`
    UPDATE conversions SET caller_number = NULL, return_reason = NULL
    WHERE company_id = {company_id}
      AND id IN (
        SELECT v.id
        FROM conversions v
        WHERE v.company_id = {company_id} AND v.caller_number = {number}::bigint
        ORDER BY v.id
        LIMIT {limit}::int
      )
    RETURNING id
  `,
  { prepared: false },
);

/** Entries of the ledger keep their amounts, and lose the notes about a call. */
export const ERASE_NOTES = statement(
  'erasure.erase_notes',
  sql`
    UPDATE account_entries SET note = NULL
    WHERE ${IN_CALLS} AND note IS NOT NULL
    RETURNING id
  `,
  { prepared: false },
);

/** The dial instruction of a leg has the caller's number. */
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
    WHERE company_id = {company_id}
      AND id IN (
        SELECT p.id
        FROM pings p
        WHERE p.company_id = {company_id} AND p.caller_number = {number}::bigint
          AND NOT EXISTS (
            SELECT FROM call_holds h WHERE h.company_id = {company_id} AND h.ping_id = p.id
          )
        ORDER BY p.id
        LIMIT {limit}::int
      )
    RETURNING id
  `,
  { prepared: false },
);

export const DELETE_BIDS = statement(
  'erasure.delete_bids',
  sql`
    DELETE FROM bids
    WHERE company_id = {company_id} AND caller_number = {number}::bigint
    RETURNING buyer_id
  `,
  { prepared: false },
);

/** A contact that stays keeps only the number. */
export const ERASE_CONTACT = statement(
  'erasure.erase_contact',
  sql`
    UPDATE contacts SET external_record_id = NULL
    WHERE company_id = {company_id} AND caller_number = {number}::bigint
      AND external_record_id IS NOT NULL
    RETURNING id
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

/** A waiting delivery is not delivered any more. */
export const EMPTY_DELIVERY = sql`
  request_body = NULL, request_url = '', request_headers = '{}',
  status = CASE status WHEN 'waiting' THEN 'dead' ELSE status END, due_at = NULL`;

export const ERASE_DELIVERIES = statement(
  'erasure.erase_deliveries',
  sql`
    UPDATE webhook_deliveries
    SET ${EMPTY_DELIVERY}
    WHERE ${IN_CALLS_OR_LEADS}
    RETURNING id
  `,
  { prepared: false },
);

export const EMPTY_WEBHOOK_LOG = sql`
  request_url = NULL, request_headers = '{}', request_body = NULL, response_headers = NULL,
  response_body = NULL, notes = NULL`;

export const ERASE_WEBHOOK_LOGS = statement(
  'erasure.erase_webhook_logs',
  sql`
    UPDATE webhook_logs
    SET ${EMPTY_WEBHOOK_LOG}
    WHERE ${IN_CALLS_OR_LEADS}
    RETURNING id
  `,
  { prepared: false },
);

/** Events without deliveries yet. */
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

/** Other events with the number, such as a text from an unknown sender. */
export const DELETE_MENTIONING_EVENTS = statement(
  'erasure.delete_mentioning_events',
  sql`
    DELETE FROM webhook_events t
    WHERE t.company_id = {company_id} AND ${isMentioned('t.snapshot')}
    RETURNING t.id
  `,
  { prepared: false },
);

/** The IP address is the person's where a page of the company sent the request. */
export const EMPTY_CHANGE_LOG = sql`
  changes = '{}', changes_shown = NULL, client_request_id = NULL,
  ip = CASE WHEN access_token_id IS NULL THEN NULL ELSE ip END`;

export const ERASE_CHANGE_LOGS = statement(
  'erasure.erase_change_logs',
  sql`
    UPDATE change_logs
    SET ${EMPTY_CHANGE_LOG}
    WHERE company_id = {company_id}
      AND (
        (record_type = 'Lead' AND record_id = ANY ({lead_ids}::bigint[]))
        OR (record_type IN ('Call', 'CallSession') AND record_id = ANY ({call_ids}::bigint[]))
      )
    RETURNING id
  `,
  { prepared: false },
);
