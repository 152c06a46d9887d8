import { sql, statement } from '../../../data/sql';

// A call holds a row of call_slots for each row of caps: of the buyers and groups that it is dialed
// to until it no longer rings there, and of its traffic source until it ends.
// The procedure that deletes or changes such a row (prisma/sql/calls/) also changes
// the counters of the cap, once.

/** Finds calls of all companies. */
export const FIND_STALE_CALLS = statement(
  'calls.find_stale_calls',
  sql`
    SELECT DISTINCT stale.company_id::text AS company_id, stale.call_id::text AS call_id
    FROM (
      SELECT company_id, call_id
      FROM call_slots
      WHERE lease_until < {now}::timestamptz
      ORDER BY lease_until
      LIMIT {limit}::int
    ) stale`,
  { prepared: true },
);

export const IS_STALE = statement(
  'calls.is_stale',
  sql`
    SELECT
      coalesce(max(lease_until) < {now}::timestamptz, false) AS is_stale, max(seen_at) AS seen_at
    FROM call_slots
    WHERE company_id = {company_id} AND call_id = {call_id}::bigint`,
  { prepared: true },
);
