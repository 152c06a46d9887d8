import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';
import { RECORD_CHANGE } from './record-leads';

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

export const EXPIRE_LEADS = statement(
  'leads.expire_leads',
  sql`
    WITH locked AS MATERIALIZED (
      SELECT l.id, l AS was FROM leads l WHERE ${MATCHES} AND l.is_live ORDER BY l.id FOR UPDATE
    ),
    expired AS (
      UPDATE leads l
      SET
        status = 'expired',
        schedule_ended_at = {now}::timestamptz,
        is_live = false,
        due_at = NULL,
        claim_id = NULL,
        updated_at = {now}::timestamptz
      FROM locked
      WHERE l.company_id = {company_id} AND l.id = locked.id
      RETURNING l.id, locked.was, l AS is_now
    ),
    canceled AS (
      UPDATE scheduled_callbacks c
      SET status = 'canceled'
      FROM expired
      WHERE c.company_id = {company_id} AND c.lead_id = expired.id AND c.status = 'pending'
    ),
    recorded AS MATERIALIZED (SELECT x.id, ${RECORD_CHANGE} FROM expired x)
    INSERT INTO lead_logs (company_id, created_at, lead_id, event, message)
    SELECT {company_id}, {now}::timestamptz, id, 'expired', 'asked for by a submission'
    FROM recorded
  `,
  { prepared: false },
);

export const DELETE_LEADS = statement(
  'leads.delete_leads',
  sql`
    WITH locked AS MATERIALIZED (
      SELECT l.id, l AS was
      FROM leads l
      WHERE ${MATCHES} AND l.deleted_at IS NULL
      ORDER BY l.id
      FOR UPDATE
    ),
    deleted AS (
      UPDATE leads l
      SET
        deleted_at = {now}::timestamptz,
        is_live = false,
        due_at = NULL,
        claim_id = NULL,
        updated_at = {now}::timestamptz
      FROM locked
      WHERE l.company_id = {company_id} AND l.id = locked.id
      RETURNING l.company_id, l.id, locked.was, l AS is_now
    ),
    recorded AS MATERIALIZED (SELECT x.company_id, x.id, ${RECORD_CHANGE} FROM deleted x),
    canceled AS (
      UPDATE scheduled_callbacks c
      SET status = 'canceled'
      FROM deleted
      WHERE c.company_id = {company_id} AND c.lead_id = deleted.id AND c.status = 'pending'
    ),
    logged AS (
      INSERT INTO lead_logs (company_id, created_at, lead_id, event, message)
      SELECT {company_id}, {now}::timestamptz, id, 'deleted', 'asked for by a submission'
      FROM recorded
    )
    ${countRows('leads', 'recorded', -1)}
  `,
  { prepared: false },
);

export const UPDATE_OTHER_LEADS = statement(
  'leads.update_other_leads',
  sql`
    WITH locked AS MATERIALIZED (
      SELECT l.id, l AS was
      FROM leads l
      WHERE ${MATCHES} AND l.deleted_at IS NULL AND l.id <> {lead_id}::bigint
      ORDER BY l.id
      FOR UPDATE
    ),
    changed AS (
      UPDATE leads l
      SET
        data = (l.data - {removed}::text[]) || {data}::jsonb,
        email = coalesce({email}, l.email),
        updated_at = {now}::timestamptz
      FROM locked
      WHERE l.company_id = {company_id} AND l.id = locked.id
      RETURNING l.id, locked.was, l AS is_now
    ),
    recorded AS MATERIALIZED (SELECT x.id, ${RECORD_CHANGE} FROM changed x)
    INSERT INTO lead_logs (company_id, created_at, lead_id, event, message)
    SELECT {company_id}, {now}::timestamptz, id, 'updated', 'with all leads of its number'
    FROM recorded
  `,
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
