import { sql, statement } from '../../db/sql';

// What one offer or schedule does not contact. Callers lock the contact before they write.

/** The offer of a schedule's leads; none if the schedule has none. */
export const FIND_OFFER_OF_SCHEDULE = statement(
  'leads.find_offer_of_schedule',
  sql`
    SELECT s.offer_id
    FROM schedules s
    WHERE s.company_id = {company_id} AND s.id = {schedule_id}::bigint
  `,
  { prepared: false },
);

export const RESTRICT_AT_OFFER = statement(
  'leads.restrict_at_offer',
  sql`
    INSERT INTO contact_restrictions AS x (
      company_id, created_at, updated_at, caller_number, offer_id, blocked, opt_out
    )
    VALUES (
      {company_id}, {now}::timestamptz, {now}::timestamptz, {caller_number}::bigint,
      {offer_id}::bigint, {blocked}::boolean, {opt_out}::boolean
    )
    ON CONFLICT (company_id, offer_id, caller_number) DO UPDATE SET
      blocked = x.blocked OR excluded.blocked,
      opt_out = x.opt_out OR excluded.opt_out,
      updated_at = excluded.updated_at
  `,
  { prepared: false },
);

export const RESTRICT_IN_SCHEDULE = statement(
  'leads.restrict_in_schedule',
  sql`
    INSERT INTO contact_restrictions AS x (
      company_id, created_at, updated_at, caller_number, schedule_id, blocked, opt_out
    )
    VALUES (
      {company_id}, {now}::timestamptz, {now}::timestamptz, {caller_number}::bigint,
      {schedule_id}::bigint, {blocked}::boolean, {opt_out}::boolean
    )
    ON CONFLICT (company_id, schedule_id, caller_number) DO UPDATE SET
      blocked = x.blocked OR excluded.blocked,
      opt_out = x.opt_out OR excluded.opt_out,
      updated_at = excluded.updated_at
  `,
  { prepared: false },
);

/** Stops the live leads of a number at an offer or in a schedule, with `status` saying why. */
export const STOP_RESTRICTED_LEADS = statement(
  'leads.stop_restricted_leads',
  sql`
    WITH locked AS (
      SELECT l.id
      FROM leads l
      WHERE l.company_id = {company_id}
        AND l.caller_number = {caller_number}::bigint
        AND (l.offer_id = {offer_id}::bigint OR l.schedule_id = {schedule_id}::bigint)
        AND l.is_live
        AND l.status <> {status}
      ORDER BY l.id
      FOR UPDATE
    ),
    stopped AS (
      UPDATE leads l
      SET status = {status}, due_at = NULL, claim_id = NULL, updated_at = {now}::timestamptz
      WHERE l.company_id = {company_id} AND l.id = ANY(ARRAY(SELECT id FROM locked))
      RETURNING l.id
    )
    INSERT INTO lead_logs (company_id, created_at, lead_id, event, message, details)
    SELECT {company_id}, {now}::timestamptz, id, {event}, {message}, {details}::json
    FROM stopped
    ORDER BY id
  `,
  { prepared: false },
);

/** Lifts what lead tokens have blocked. Returns the numbers that were blocked somewhere. */
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

/** Lifts the opt-outs by lead tokens. Returns the numbers that had opted out somewhere. */
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
