import { sql, statement } from '../../../data/sql';
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

/** Ends the leads of a submission's number (prisma/sql/leads/end_matching_leads.sql). */
export const END_MATCHING_LEADS = statement(
  'leads.end_matching_leads',
  sql`
    SELECT end_matching_leads(
      {company_id}, {offer_id}::bigint, {schedule_id}::bigint, {caller_number}::bigint,
      {deletes}::boolean, {now}::timestamptz
    )::text AS ended`,
  { prepared: false },
);

export const UPDATE_OTHER_LEADS = statement(
  'leads.update_other_leads',
  storeLeads(sql`
    SELECT
      l AS was,
      jsonb_populate_record(l, jsonb_build_object(
        'data', (l.data - {removed}::text[]) || {data}::jsonb,
        'email', coalesce({email}, l.email),
        'updated_at', {now}::timestamptz
      )) AS is_now
    FROM leads l
    WHERE ${MATCHES} AND l.deleted_at IS NULL AND l.id <> {lead_id}::bigint
    ORDER BY l.id
    FOR UPDATE`),
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
