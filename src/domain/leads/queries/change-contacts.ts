import { countRows } from '../../../data/counts/counters';
import { sql, statement, type SqlText } from '../../../data/sql';
import { storeLeads } from './record-leads';

/** Adds the contacts that do not exist yet, so that there is a row to lock. */
export const ADD_CONTACTS = statement(
  'leads.add_contacts',
  sql`
    WITH added AS (
      INSERT INTO contacts (company_id, uuid, created_at, updated_at, caller_number)
      SELECT {company_id}, uuid, {now}, {now}, number
      FROM unnest({numbers}::bigint[], {uuids}::uuid[]) AS x(number, uuid)
      ORDER BY number
      ON CONFLICT (company_id, caller_number) DO NOTHING
      RETURNING company_id
    )
    ${countRows('contacts', 'added')}
  `,
  { prepared: false },
);

/** Locks contacts in the order of their numbers, so that two transactions never deadlock. */
export const LOCK_CONTACTS = statement(
  'leads.lock_contacts',
  sql`
    SELECT id
    FROM contacts
    WHERE company_id = {company_id} AND caller_number = ANY({numbers}::bigint[])
    ORDER BY caller_number
    FOR NO KEY UPDATE
  `,
  { prepared: false },
);

export const BLOCK_CONTACTS = statement(
  'leads.block_contacts',
  sql`
    UPDATE contacts
    SET blocked = true, blocked_at = {now}::timestamptz, updated_at = {now}::timestamptz
    WHERE company_id = {company_id} AND caller_number = ANY({numbers}::bigint[]) AND NOT blocked
    RETURNING caller_number
  `,
  { prepared: false },
);

export const UNBLOCK_CONTACTS = statement(
  'leads.unblock_contacts',
  sql`
    UPDATE contacts
    SET blocked = false, unblocked_at = {now}::timestamptz, updated_at = {now}::timestamptz
    WHERE company_id = {company_id} AND caller_number = ANY({numbers}::bigint[]) AND blocked
    RETURNING caller_number
  `,
  { prepared: false },
);

export const OPT_CONTACTS_OUT = statement(
  'leads.opt_contacts_out',
  sql`
    UPDATE contacts
    SET opt_out = true, opted_out_at = {now}::timestamptz, updated_at = {now}::timestamptz
    WHERE company_id = {company_id} AND caller_number = ANY({numbers}::bigint[]) AND NOT opt_out
    RETURNING caller_number
  `,
  { prepared: false },
);

export const OPT_CONTACTS_IN = statement(
  'leads.opt_contacts_in',
  sql`
    UPDATE contacts
    SET opt_out = false, opted_in_at = {now}::timestamptz, updated_at = {now}::timestamptz
    WHERE company_id = {company_id} AND caller_number = ANY({numbers}::bigint[]) AND opt_out
    RETURNING caller_number
  `,
  { prepared: false },
);

/**
 * Records opt-outs of numbers that have no live lead. Must run after the leads of the numbers were
 * stopped.
 */
export const RECORD_OPT_OUTS = statement(
  'leads.record_opt_outs',
  sql`
    SELECT count(record_opt_out_of({company_id}, x.number, NULL, NULL)) AS n
    FROM unnest({numbers}::bigint[]) AS x(number)
  `,
  { prepared: false },
);

/** Stops live leads l. `status` says why. */
export const stopLeads = (which: SqlText, log?: SqlText): SqlText =>
  storeLeads(
    sql`
      SELECT
        l AS was,
        jsonb_populate_record(l, jsonb_build_object(
          'status', {status}::text, 'due_at', NULL, 'claim_id', NULL,
          'updated_at', {now}::timestamptz
        )) AS is_now
      FROM leads l
      WHERE l.company_id = {company_id} AND ${which} AND l.is_live AND l.status <> {status}
      ORDER BY l.id
      FOR UPDATE`,
    log,
  );

/**
 * Resumes leads l that were stopped. They are due at once when their schedule, an expiry or a
 * callback gives them something to do; their own next_action_at still applies.
 */
export const resumeLeads = (which: SqlText): SqlText =>
  storeLeads(sql`
      SELECT
        l AS was,
        jsonb_populate_record(l, jsonb_build_object(
          'status', CASE WHEN l.schedule_id IS NULL THEN 'queue' ELSE 'scheduled' END,
          'due_at', CASE
            WHEN l.schedule_id IS NOT NULL OR l.expires_in IS NOT NULL OR l.callback_at IS NOT NULL
            THEN {now}::timestamptz
          END,
          'claim_id', NULL,
          'updated_at', {now}::timestamptz
        )) AS is_now
      FROM leads l
      WHERE l.company_id = {company_id} AND ${which}
      FOR UPDATE`);

export const STOP_LEADS = statement(
  'leads.stop_leads',
  stopLeads(sql`l.caller_number = ANY({numbers}::bigint[])`),
  { prepared: false },
);

export const RESUME_LEADS = statement(
  'leads.resume_leads',
  resumeLeads(sql`
    l.caller_number = ANY({numbers}::bigint[]) AND l.is_live AND l.status = {status}
    ORDER BY l.id`),
  { prepared: false },
);
