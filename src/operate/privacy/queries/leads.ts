import { sql, statement } from '../../../data/sql';

const OF_LEADS = sql`company_id = {company_id} AND lead_id = ANY ({ids}::bigint[])`;

export const LOCK_LEADS = statement(
  'retention.lock_leads',
  sql`
    SELECT id, deleted_at IS NULL AS is_counted
    FROM leads
    WHERE company_id = {company_id} AND id = ANY ({ids}::bigint[]) AND NOT is_live
    ORDER BY id
    FOR UPDATE
  `,
  { prepared: false },
);

/** Deletes the parts of leads, and removes the leads from other records. */
export const DELETE_PARTS_OF_LEADS = statement(
  'retention.delete_parts_of_leads',
  sql`
    WITH logs AS (DELETE FROM lead_logs WHERE ${OF_LEADS} RETURNING id),
    callbacks AS (DELETE FROM scheduled_callbacks WHERE ${OF_LEADS}),
    events AS (DELETE FROM schedule_events WHERE ${OF_LEADS}),
    fires AS (UPDATE webhook_manual_fires SET lead_id = NULL WHERE ${OF_LEADS}),
    texts AS (UPDATE text_messages SET lead_id = NULL WHERE ${OF_LEADS}),
    mails AS (UPDATE emails SET lead_id = NULL WHERE ${OF_LEADS})
    SELECT count(*)::int AS logs FROM logs
  `,
  { prepared: false },
);

/** Calls stay without their lead. */
export const DETACH_CALLS = statement(
  'retention.detach_calls',
  sql`
    WITH was AS (
      SELECT c.id, c AS call
      FROM calls c
      WHERE c.company_id = {company_id} AND c.lead_id = ANY ({ids}::bigint[])
      ORDER BY c.id
      FOR NO KEY UPDATE
    ),
    call AS (
      UPDATE calls c
      SET lead_id = NULL
      FROM was
      WHERE c.company_id = {company_id} AND c.id = was.id
      RETURNING was.call AS was, c AS now
    )
    SELECT record_call_change(call.was, call.now) AS is_recorded FROM call
  `,
  { prepared: false, records: true },
);

export const DELETE_LEADS = statement(
  'retention.delete_leads',
  sql`
    WITH deleted AS (
      DELETE FROM leads WHERE company_id = {company_id} AND id = ANY ({ids}::bigint[])
      RETURNING id
    )
    SELECT count(*)::int AS deleted FROM deleted
  `,
  { prepared: false },
);
