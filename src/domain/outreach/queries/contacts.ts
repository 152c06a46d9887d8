import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';

/** Adds the contacts that do not exist yet, so that there is a row to lock. */
export const ADD_CONTACTS = statement(
  'outreach.add_contacts',
  sql`
    WITH added AS (
      INSERT INTO contacts (company_id, uuid, created_at, updated_at, caller_number)
      SELECT company_id, uuid, {now}::timestamptz, {now}::timestamptz, caller_number
      FROM unnest({company_ids}::bigint[], {caller_numbers}::bigint[], {uuids}::uuid[])
        AS x(company_id, caller_number, uuid)
      ORDER BY company_id, caller_number
      ON CONFLICT (company_id, caller_number) DO NOTHING
      RETURNING company_id
    )
    ${countRows('contacts', 'added')}
  `,
  { prepared: true },
);

export const LOCK_CONTACTS = statement(
  'outreach.lock_contacts',
  sql`
    SELECT k.company_id, k.caller_number, k.blocked, k.opt_out
    FROM unnest({company_ids}::bigint[], {caller_numbers}::bigint[]) AS x(company_id, caller_number)
    JOIN contacts k ON k.company_id = x.company_id AND k.caller_number = x.caller_number
    ORDER BY k.company_id, k.caller_number
    FOR UPDATE OF k
  `,
  { prepared: true },
);

export const READ_CONTACT = statement(
  'outreach.read_contact',
  sql`
    SELECT blocked, opt_out
    FROM contacts
    WHERE company_id = {company_id} AND caller_number = {caller_number}
  `,
  { prepared: false },
);

export const COUNT_CONTACTED = statement(
  'outreach.count_contacted',
  sql`
    UPDATE contacts k
    SET calls_count = k.calls_count + x.calls,
      sms_count = k.sms_count + x.sms,
      emails_count = k.emails_count + x.emails,
      last_contacted_at = {now}::timestamptz,
      updated_at = {now}::timestamptz
    FROM jsonb_to_recordset({contacts}::jsonb)
      AS x(company_id bigint, caller_number bigint, calls int, sms int, emails int)
    WHERE k.company_id = x.company_id AND k.caller_number = x.caller_number
  `,
  { prepared: true },
);
