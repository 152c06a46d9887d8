import { countRows } from '../../../data/counts/counters';
import { sql, statement, type SqlText } from '../../../data/sql';
import { storeLeads } from './record-leads';

// Leads of one number at an offer (`schedule_id` is null then) or in a schedule.

const MATCHES = sql`
  l.company_id = {company_id}
  AND l.caller_number = {caller_number}::bigint
  AND l.schedule_id IS NOT DISTINCT FROM {schedule_id}::bigint
  AND ({schedule_id}::bigint IS NOT NULL OR l.offer_id = {offer_id}::bigint)`;

/** The live lead, else the latest one. */
export const FIND_LEAD = statement(
  'leads.find_lead',
  sql`
    SELECT l.id
    FROM leads l
    WHERE ${MATCHES} AND l.deleted_at IS NULL
    ORDER BY l.is_live DESC, l.id DESC
    LIMIT 1
  `,
  { prepared: false },
);

/**
 * Until the transaction ends, no other submission ends the matching leads. The number 4114
 * separates these advisory locks from those of other statements.
 */
export const LOCK_ENDING = statement(
  'leads.lock_ending',
  sql`
    SELECT pg_advisory_xact_lock(
      hashtextextended(
        concat_ws(
          '/', 'ends leads', {company_id}::bigint, {schedule_id}::bigint IS NULL,
          coalesce({schedule_id}::bigint, {offer_id}::bigint), {caller_number}::bigint
        ),
        4114
      )
    )::text AS locked
  `,
  { prepared: false },
);

/** Locked leads l with their new columns. */
const change = (which: SqlText, columns: SqlText): SqlText => sql`
  SELECT l AS was, jsonb_populate_record(l, jsonb_build_object(${columns})) AS is_now
  FROM leads l
  WHERE ${MATCHES} AND ${which}
  ORDER BY l.id
  FOR UPDATE`;

/** The stored leads, whose callbacks are canceled. */
const storeEnded = (rows: SqlText): SqlText => sql`
  ended AS MATERIALIZED (${storeLeads(rows)}),
  canceled AS (
    UPDATE scheduled_callbacks c
    SET status = 'canceled'
    FROM ended
    WHERE c.company_id = {company_id} AND c.lead_id = ended.id AND c.status = 'pending'
  )`;

export const EXPIRE_LEADS = statement(
  'leads.expire_leads',
  sql`
    WITH ${storeEnded(
      change(
        sql`l.is_live`,
        sql`
          'status', 'expired', 'schedule_ended_at', {now}::timestamptz, 'is_live', false,
          'due_at', NULL, 'claim_id', NULL, 'updated_at', {now}::timestamptz`,
      ),
    )}
    SELECT id FROM ended
  `,
  { prepared: false },
);

export const DELETE_LEADS = statement(
  'leads.delete_leads',
  sql`
    WITH ${storeEnded(
      change(
        sql`l.deleted_at IS NULL`,
        sql`
          'deleted_at', {now}::timestamptz, 'is_live', false, 'due_at', NULL, 'claim_id', NULL,
          'updated_at', {now}::timestamptz`,
      ),
    )},
    deleted AS (SELECT {company_id}::bigint AS company_id FROM ended)
    ${countRows('leads', 'deleted', -1)}
  `,
  { prepared: false },
);

export const UPDATE_OTHER_LEADS = statement(
  'leads.update_other_leads',
  storeLeads(
    change(
      sql`l.deleted_at IS NULL AND l.id <> {lead_id}::bigint`,
      sql`
        'data', (l.data - {removed}::text[]) || {data}::jsonb,
        'email', coalesce({email}, l.email),
        'updated_at', {now}::timestamptz`,
    ),
  ),
  { prepared: false },
);

/**
 * Writes the data of a submission to the calls of its lead, or with `all` to the calls of all
 * matching leads. With `since` only to later calls of their offer or schedule.
 */
export const UPDATE_CALLS = statement(
  'leads.update_calls',
  sql`
    WITH was AS (
      SELECT c.id, c AS call
      FROM leads l
      JOIN calls c ON c.company_id = l.company_id AND c.lead_id = l.id
      WHERE ${MATCHES}
        AND (l.id = {lead_id}::bigint OR {all}::boolean)
        AND (
          {since}::timestamptz IS NULL
          OR c.created_at >= {since}::timestamptz
            AND (c.offer_id = l.offer_id OR c.schedule_id = l.schedule_id)
        )
      ORDER BY c.id
      FOR NO KEY UPDATE OF c
    ),
    call AS (
      UPDATE calls c
      SET
        token_values = (c.token_values - {removed}::text[]) || {data}::jsonb,
        updated_at = {now}::timestamptz
      FROM was
      WHERE c.company_id = {company_id} AND c.id = was.id
      RETURNING was.call AS was, c AS now
    )
    SELECT record_call_change(call.was, call.now) AS is_recorded
    FROM call
  `,
  { prepared: false, records: true },
);
