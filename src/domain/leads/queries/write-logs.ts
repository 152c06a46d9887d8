import { sql, statement } from '../../../data/sql';

/** The order of the entries is the order of their ids. */
export const WRITE_LOGS = statement(
  'leads.write_logs',
  sql`
    WITH entry AS (
      SELECT *
      FROM jsonb_to_recordset({entries}::jsonb) AS e(
        n int, company_id bigint, lead_id bigint, event text, message text,
        schedule_action_id bigint, call_id bigint, text_message_id bigint, email_id bigint,
        details jsonb
      )
    ),
    logged AS (
      INSERT INTO lead_logs (
        company_id, created_at, lead_id, event, message,
        schedule_action_id, call_id, text_message_id, email_id, details
      )
      SELECT
        company_id, {now}::timestamptz, lead_id, event, message,
        schedule_action_id, call_id, text_message_id, email_id, details
      FROM entry
      ORDER BY n
      RETURNING id
    )
    SELECT id FROM logged ORDER BY id
  `,
  { prepared: false },
);
