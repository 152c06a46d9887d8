import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';

// Contacts of another service. A person who must not be contacted there is not contacted here:
// restrictions of a number are only added.

const OF_OTHERS = sql`
  blocked = contacts.blocked OR excluded.blocked,
  blocked_at = coalesce(contacts.blocked_at, excluded.blocked_at),
  opt_out = contacts.opt_out OR excluded.opt_out,
  opted_out_at = coalesce(contacts.opted_out_at, excluded.opted_out_at)`;

/** Returns if each is new. Fails if another number has the id or the uuid. */
export const MOVE_CONTACTS = statement(
  'migration.move_contacts',
  sql`
    WITH moved AS (
      INSERT INTO contacts (
        company_id, id, uuid, created_at, updated_at, user_updated_at, external_record_id,
        caller_number, blocked, blocked_at, unblocked_at, opt_out, opted_out_at, opted_in_at,
        calls_count, sms_count, emails_count, last_contacted_at
      )
      SELECT
        {company_id}, r.id, r.uuid, r.created_at, r.updated_at, r.user_updated_at,
        r.external_record_id, r.caller_number, r.blocked, r.blocked_at, r.unblocked_at, r.opt_out,
        r.opted_out_at, r.opted_in_at, r.calls_count, r.sms_count, r.emails_count,
        r.last_contacted_at
      FROM jsonb_to_recordset({rows}::jsonb) AS r(
        id bigint, uuid uuid, created_at timestamptz, updated_at timestamptz,
        user_updated_at timestamptz, external_record_id text, caller_number bigint,
        blocked boolean, blocked_at timestamptz, unblocked_at timestamptz, opt_out boolean,
        opted_out_at timestamptz, opted_in_at timestamptz, calls_count int, sms_count int,
        emails_count int, last_contacted_at timestamptz
      )
      ORDER BY r.caller_number
      ON CONFLICT (company_id, caller_number) DO UPDATE SET ${OF_OTHERS}
      RETURNING company_id, id, xmax = 0 AS is_new
    ),
    made AS (SELECT company_id FROM moved WHERE is_new),
    counted AS (${countRows('contacts', 'made')})
    SELECT id, is_new FROM moved
  `,
  { prepared: false },
);

/** Offers and schedules that do not contact a number; those that are not here have no row. */
export const MOVE_RESTRICTIONS_OF_OFFERS = statement(
  'migration.move_restrictions_of_offers',
  sql`
    INSERT INTO contact_restrictions AS x (company_id, caller_number, offer_id, blocked, opt_out)
    SELECT {company_id}, r.caller_number, r.owner_id, r.blocked, r.opt_out
    FROM jsonb_to_recordset({rows}::jsonb) AS r(
      caller_number bigint, owner_id bigint, blocked boolean, opt_out boolean
    )
    ORDER BY r.caller_number, r.owner_id
    ON CONFLICT (company_id, offer_id, caller_number) DO UPDATE
    SET blocked = x.blocked OR excluded.blocked, opt_out = x.opt_out OR excluded.opt_out
  `,
  { prepared: false },
);

export const MOVE_RESTRICTIONS_OF_SCHEDULES = statement(
  'migration.move_restrictions_of_schedules',
  sql`
    INSERT INTO contact_restrictions AS x (company_id, caller_number, schedule_id, blocked, opt_out)
    SELECT {company_id}, r.caller_number, r.owner_id, r.blocked, r.opt_out
    FROM jsonb_to_recordset({rows}::jsonb) AS r(
      caller_number bigint, owner_id bigint, blocked boolean, opt_out boolean
    )
    ORDER BY r.caller_number, r.owner_id
    ON CONFLICT (company_id, schedule_id, caller_number) DO UPDATE
    SET blocked = x.blocked OR excluded.blocked, opt_out = x.opt_out OR excluded.opt_out
  `,
  { prepared: false },
);

/** Contacts of which only the restrictions are known. */
export const RESTRICT_NUMBERS = statement(
  'migration.restrict_numbers',
  sql`
    WITH moved AS (
      INSERT INTO contacts (
        company_id, uuid, created_at, updated_at, caller_number, blocked, opt_out
      )
      SELECT
        {company_id}, r.uuid, {now}::timestamptz, {now}::timestamptz, r.caller_number, r.blocked,
        r.opt_out
      FROM jsonb_to_recordset({rows}::jsonb) AS r(
        uuid uuid, caller_number bigint, blocked boolean, opt_out boolean
      )
      ORDER BY r.caller_number
      ON CONFLICT (company_id, caller_number) DO UPDATE SET ${OF_OTHERS}
      RETURNING company_id, xmax = 0 AS is_new
    ),
    made AS (SELECT company_id FROM moved WHERE is_new),
    counted AS (${countRows('contacts', 'made')})
    SELECT count(*)::int AS made FROM made
  `,
  { prepared: false },
);
