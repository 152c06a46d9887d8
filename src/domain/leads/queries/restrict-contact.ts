import { sql, statement, type SqlText } from '../../../data/sql';
import { stopLeads } from './change-contacts';

// Restrictions of one offer or schedule. Callers lock the contact before they write.

/** The offer of a schedule's leads; null if the schedule has none. */
export const FIND_OFFER_OF_SCHEDULE = statement(
  'leads.find_offer_of_schedule',
  sql`
    SELECT s.offer_id
    FROM schedules s
    WHERE s.company_id = {company_id} AND s.id = {schedule_id}::bigint
  `,
  { prepared: false },
);

/**
 * SQL that restricts a number at the offer or the schedule in `column`; it removes no restriction.
 * Returns whether this statement opted the number out there.
 */
const restrictAt = (column: SqlText, id: SqlText): SqlText => sql`
  WITH before AS (
    SELECT b.opt_out
    FROM contact_restrictions b
    WHERE b.company_id = {company_id}
      AND b.${column} = ${id}
      AND b.caller_number = {caller_number}::bigint
  )
  INSERT INTO contact_restrictions AS x (
    company_id, created_at, updated_at, caller_number, ${column}, blocked, opt_out
  )
  VALUES (
    {company_id}, {now}::timestamptz, {now}::timestamptz, {caller_number}::bigint,
    ${id}, {blocked}::boolean, {opt_out}::boolean
  )
  ON CONFLICT (company_id, ${column}, caller_number) DO UPDATE SET
    blocked = x.blocked OR excluded.blocked,
    opt_out = x.opt_out OR excluded.opt_out,
    updated_at = excluded.updated_at
  RETURNING x.opt_out AND NOT EXISTS (SELECT FROM before WHERE before.opt_out) AS opts_out
`;

export const RESTRICT_AT_OFFER = statement(
  'leads.restrict_at_offer',
  restrictAt(sql`offer_id`, sql`{offer_id}::bigint`),
  { prepared: false },
);

export const RESTRICT_IN_SCHEDULE = statement(
  'leads.restrict_in_schedule',
  restrictAt(sql`schedule_id`, sql`{schedule_id}::bigint`),
  { prepared: false },
);

/**
 * Records that a number has opted out at an offer or in a schedule where it has no live lead. Must
 * run after its leads there were stopped.
 */
export const RECORD_RESTRICTED_OPT_OUT = statement(
  'leads.record_restricted_opt_out',
  sql`
    SELECT record_opt_out_of(
      {company_id}, {caller_number}::bigint, {offer_id}::bigint, {schedule_id}::bigint
    ) AS recorded
  `,
  { prepared: false },
);

export const STOP_RESTRICTED_LEADS = statement(
  'leads.stop_restricted_leads',
  stopLeads(
    sql`l.caller_number = {caller_number}::bigint
      AND (l.offer_id = {offer_id}::bigint OR l.schedule_id = {schedule_id}::bigint)`,
    sql`{event}, {message}, {details}::json`,
  ),
  { prepared: false },
);

/** Removes blocks by lead tokens. Returns the numbers that had one. */
export const LIFT_BLOCKS = statement(
  'leads.lift_blocks',
  sql`
    UPDATE contact_restrictions
    SET blocked = false, updated_at = {now}::timestamptz
    WHERE company_id = {company_id} AND caller_number = ANY({numbers}::bigint[]) AND blocked
    RETURNING caller_number
  `,
  { prepared: false },
);

/** Removes opt-outs by lead tokens. Returns the numbers that had one. */
export const LIFT_OPT_OUTS = statement(
  'leads.lift_opt_outs',
  sql`
    UPDATE contact_restrictions
    SET opt_out = false, updated_at = {now}::timestamptz
    WHERE company_id = {company_id} AND caller_number = ANY({numbers}::bigint[]) AND opt_out
    RETURNING caller_number
  `,
  { prepared: false },
);
