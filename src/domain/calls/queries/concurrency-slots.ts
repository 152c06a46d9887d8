import { sql, statement } from '../../../data/sql';

// A call holds a row of call_slots for each row of caps: of the buyers and groups that it is dialed
// to until it no longer rings there, and of its traffic source until it ends.
// The procedure that deletes or changes such a row (prisma/sql/calls/) also changes
// the counters of the cap, once.

/**
 * Locks all caps that a change of dollars or a return may write for a locked call: what it holds,
 * those of its buyer and of buyers that pay for it with their groups, and of its source.
 * One after the other, several changes of one request would lock them in another order.
 */
export const LOCK_CAPS_OF_CALL = statement(
  'calls.lock_caps_of_call',
  sql`
    SELECT lock_caps(
      {company_id}::bigint,
      ARRAY(
        SELECT s.call_limit_id
        FROM call_slots s
        WHERE s.company_id = {company_id} AND s.call_id = {call_id}::bigint
        UNION
        SELECT l.id
        FROM call_attempts a
        JOIN call_limits l
          ON l.company_id = {company_id}
          AND (l.buyer_id = a.buyer_id OR l.buyer_group_id = a.buyer_group_id)
        WHERE a.company_id = {company_id}
          AND a.call_id = {call_id}::bigint
          AND (
            a.buyer_id = {buyer_id}::bigint
            OR EXISTS (
              SELECT
              FROM conversions v
              WHERE v.company_id = {company_id}
                AND v.call_id = {call_id}::bigint
                AND v.buyer_id = a.buyer_id
                AND v.returned_at IS NULL
            )
          )
        UNION
        SELECT l.id
        FROM call_limits l
        WHERE l.company_id = {company_id} AND l.traffic_source_id = {traffic_source_id}::bigint
      )
    ) IS NULL AS is_locked`,
  { prepared: true },
);

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
    SELECT coalesce(max(lease_until) < {now}::timestamptz, false) AS is_stale
    FROM call_slots
    WHERE company_id = {company_id} AND call_id = {call_id}::bigint`,
  { prepared: true },
);
