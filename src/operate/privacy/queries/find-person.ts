import { sql, statement } from '../../../data/sql';

// Finds the leads and calls of a telephone number, a portion at a time.

const LEADS_OF_NUMBER = sql`
  SELECT l.id FROM leads l
  WHERE l.company_id = {company_id} AND l.caller_number = {number}::bigint`;

const IS_OF_NUMBER = sql`
  c.company_id = {company_id}
  AND (
    c.caller_number = {number}::bigint
    OR c.from_number = {number}::bigint
    OR c.to_number = {number}::bigint
    OR c.lead_id IN (${LEADS_OF_NUMBER})
  )`;

/** The country of numbers without a country code. */
export const READ_COUNTRY = statement(
  'erasure.read_country',
  sql`SELECT country FROM companies WHERE id = {company_id}`,
  { prepared: false },
);

/** A call in progress of the person, and the end of a reservation of a buyer for one. */
export const FIND_ACTIVITY = statement(
  'erasure.find_activity',
  sql`
    SELECT
      EXISTS (SELECT FROM calls c WHERE ${IS_OF_NUMBER} AND c.ended_at IS NULL) AS is_in_call,
      (
        SELECT max(h.expires_at)
        FROM call_holds h
        WHERE h.company_id = {company_id} AND h.caller_number = {number}::bigint
          AND h.expires_at > {now}::timestamptz
      ) AS held_until
  `,
  { prepared: false, nullable: ['held_until'] },
);

/** Locks leads in the order of their ids. */
export const LOCK_LIVING_LEADS = statement(
  'erasure.lock_living_leads',
  sql`
    SELECT l.id::text
    FROM leads l
    WHERE l.company_id = {company_id} AND l.caller_number = {number}::bigint
      AND l.deleted_at IS NULL
    ORDER BY l.id
    LIMIT {limit}::int
    FOR NO KEY UPDATE
  `,
  { prepared: false },
).returning<{ id: string }>();

/** Deleted leads that are not erased yet: erased ones have no number. */
export const LIST_DELETED_LEADS = statement(
  'erasure.list_deleted_leads',
  sql`
    SELECT l.id::text, lower(l.email) AS email
    FROM leads l
    WHERE l.company_id = {company_id} AND l.caller_number = {number}::bigint
      AND l.deleted_at IS NOT NULL
    ORDER BY l.id
    LIMIT {limit}::int
  `,
  { prepared: false, nullable: ['email'] },
).returning<{ id: string }>();

/** Ended calls. */
export const LIST_CALLS = statement(
  'erasure.list_calls',
  sql`
    SELECT c.id::text, c.recording_url
    FROM calls c
    WHERE ${IS_OF_NUMBER} AND c.ended_at IS NOT NULL AND c.id > {after}::bigint
    ORDER BY c.id
    LIMIT {limit}::int
  `,
  { prepared: false },
).returning<{ id: string }>();
