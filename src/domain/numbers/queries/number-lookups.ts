import { sql, statement } from '../../../data/sql';

// number_lookups has one row for each number of the installation: that of its owner, or of the
// company that is buying it.

/** One transaction of the installation holds the lock of a number; it ends with the process. */
export const CLAIM_NUMBER = statement(
  'numbers.claim_number',
  sql`SELECT pg_try_advisory_xact_lock(hashtextextended({name}, 7481203)) AS is_claimed`,
  { prepared: false },
);

export const INSERT_RESERVATION = statement(
  'numbers.insert_reservation',
  sql`
    INSERT INTO number_lookups (phone_number, company_id, purchase_key, purchase_tried_at)
    VALUES ({phone_number}::bigint, {company_id}::bigint, {key}::uuid, {tried_at}::timestamptz)
    ON CONFLICT DO NOTHING
    RETURNING phone_number
  `,
  { prepared: false },
);

export const DELETE_RESERVATION = statement(
  'numbers.delete_reservation',
  sql`
    DELETE FROM number_lookups
    WHERE phone_number = {phone_number}::bigint AND purchase_key = {key}::uuid
  `,
  { prepared: false },
);

export const UPSERT_OWNER = statement(
  'numbers.upsert_owner',
  sql`
    INSERT INTO number_lookups AS l (phone_number, company_id, number_id)
    VALUES ({phone_number}::bigint, {company_id}::bigint, {number_id}::bigint)
    ON CONFLICT (phone_number) DO UPDATE
    SET company_id = excluded.company_id, number_id = excluded.number_id,
      purchase_key = NULL, purchase_tried_at = NULL
    WHERE l.number_id IS NULL
    RETURNING phone_number
  `,
  { prepared: false },
);

export const HELD_NUMBERS = statement(
  'numbers.held_numbers',
  sql`
    SELECT '+' || phone_number AS phone_number
    FROM number_lookups
    WHERE phone_number = ANY({phone_numbers}::bigint[])
      AND (number_id IS NOT NULL OR purchase_tried_at > {since}::timestamptz)
  `,
  { prepared: false },
);
