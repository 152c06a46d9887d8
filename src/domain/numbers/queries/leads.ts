import { sql, statement } from '../../../data/sql';

// Statements that write the numbers from which a lead is contacted.

export const LOCK_NUMBERS_OF_LEAD = statement(
  'numbers.lock_numbers_of_lead',
  sql`
    SELECT dial_number_id, sms_number_id
    FROM leads
    WHERE company_id = {company_id} AND id = {lead_id}
    FOR UPDATE
  `,
  { prepared: false },
);

/** The row is locked by LOCK_NUMBERS_OF_LEAD. */
const LEAD_WAS = sql`(
        SELECT w AS was, w.id FROM leads w WHERE w.company_id = {company_id} AND w.id = {lead_id}
      ) held`;

/** An event recorded in this transaction shows the lead with its number. */
const RECORD = sql`SELECT record_lead_change(was, is_now) AS recorded FROM lead`;

const ASSIGNED = sql`
    assigned AS (
      UPDATE numbers
      SET last_assigned_at = {now}::timestamptz
      WHERE company_id = {company_id} AND id = {number_id}::bigint
    )`;

export const ASSIGN_DIAL_NUMBER = statement(
  'numbers.assign_dial_number',
  sql`
    WITH ${ASSIGNED},
    lead AS (
      UPDATE leads l
      SET dial_number_id = {number_id}::bigint
      FROM ${LEAD_WAS}
      WHERE l.company_id = {company_id} AND l.id = held.id
      RETURNING held.was, l AS is_now
    )
    ${RECORD}
  `,
  { prepared: false },
);

export const ASSIGN_SMS_NUMBER = statement(
  'numbers.assign_sms_number',
  sql`
    WITH ${ASSIGNED},
    lead AS (
      UPDATE leads l
      SET sms_number_id = {number_id}::bigint
      FROM ${LEAD_WAS}
      WHERE l.company_id = {company_id} AND l.id = held.id
      RETURNING held.was, l AS is_now
    )
    ${RECORD}
  `,
  { prepared: false },
);

/** Clears a number from the next 10,000 leads after an id, in the order of ids. */
export const REMOVE_NUMBER_FROM_LEADS = statement(
  'numbers.remove_number_from_leads',
  sql`
    WITH batch AS (
      SELECT l.id
      FROM leads l
      WHERE l.company_id = {company_id} AND l.id > {after}::bigint
      ORDER BY l.id
      LIMIT 10000
    ),
    using_it AS (
      SELECT l.id
      FROM leads l
      JOIN batch b ON b.id = l.id
      WHERE l.company_id = {company_id}
        AND {number_id}::bigint IN (l.sms_number_id, l.dial_number_id)
      ORDER BY l.id
      FOR UPDATE OF l
    ),
    changed AS (
      UPDATE leads l
      SET sms_number_id = nullif(l.sms_number_id, {number_id}::bigint),
        dial_number_id = nullif(l.dial_number_id, {number_id}::bigint)
      FROM using_it u
      WHERE l.company_id = {company_id} AND l.id = u.id
    )
    SELECT max(id) AS last
    FROM batch
  `,
  { prepared: false, nullable: ['last'] },
);
