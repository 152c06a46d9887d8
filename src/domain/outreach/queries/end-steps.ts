import { sql, statement } from '../../../data/sql';

const ABANDON = sql`
  SET status = CASE WHEN t.error_code IS NULL THEN 'unknown' ELSE 'failed' END,
    error_code = coalesce(t.error_code, 'unknown'),
    updated_at = {now}::timestamptz
  FROM jsonb_to_recordset({leads}::jsonb) AS x(company_id bigint, lead_id bigint)
  WHERE t.company_id = x.company_id AND t.lead_id = x.lead_id AND t.status = 'sending'
`;

/** Messages that may have been sent (no error code) stay: the carrier will report about them. */
export const ABANDON_TEXT_MESSAGES = statement(
  'outreach.abandon_text_messages',
  sql`
    UPDATE text_messages t
    ${ABANDON}
      AND t.error_code IS NOT NULL
  `,
  { prepared: false },
);

export const ABANDON_EMAILS = statement(
  'outreach.abandon_emails',
  sql`
    UPDATE emails t
    ${ABANDON}
  `,
  { prepared: false },
);

/** Calls that may have been placed (no error code) stay: the carrier will report about them. */
export const ABANDON_CALLS = statement(
  'outreach.abandon_calls',
  sql`
    WITH was AS (
      SELECT t.company_id, t.id, t AS call
      FROM jsonb_to_recordset({leads}::jsonb) AS x(company_id bigint, lead_id bigint)
      JOIN calls t ON t.company_id = x.company_id AND t.lead_id = x.lead_id
      WHERE t.status = 'sending' AND t.error_code IS NOT NULL
      FOR NO KEY UPDATE OF t
    ),
    call AS (
      UPDATE calls t
      SET status = 'failed', updated_at = {now}::timestamptz
      FROM was
      WHERE t.company_id = was.company_id AND t.id = was.id
      RETURNING was.call AS was, t AS now
    )
    SELECT record_call_change(call.was, call.now) AS is_recorded
    FROM call
  `,
  { prepared: false, records: true },
);

export const END_CALLBACKS = statement(
  'outreach.end_callbacks',
  sql`
    UPDATE scheduled_callbacks c
    SET status = x.status, call_id = x.call_id
    FROM jsonb_to_recordset({callbacks}::jsonb)
      AS x(company_id bigint, id bigint, status text, call_id bigint)
    WHERE c.company_id = x.company_id AND c.id = x.id
  `,
  { prepared: false },
);

/**
 * Numbers are locked in the order of ids, and FOR NO KEY UPDATE, which does not conflict with leads
 * that refer to them, so that two workers never wait for each other.
 */
export const MARK_NUMBERS_ASSIGNED = statement(
  'outreach.mark_numbers_assigned',
  sql`
    UPDATE numbers n
    SET last_assigned_at = {now}::timestamptz
    FROM (
      SELECT t.company_id, t.id
      FROM jsonb_to_recordset({numbers}::jsonb) AS x(company_id bigint, id bigint)
      JOIN numbers t ON t.company_id = x.company_id AND t.id = x.id
      ORDER BY t.company_id, t.id
      FOR NO KEY UPDATE OF t
    ) locked
    WHERE n.company_id = locked.company_id AND n.id = locked.id
  `,
  { prepared: true },
);
