import { sql, statement } from '../../db/sql';

// A call holds a row of call_slots for each cap of the buyers and groups that it is dialed to.
// The statement that deletes or changes such a row also changes the counters of the cap, once.

export const RELEASE_SLOTS = statement(
  'calls.release_slots',
  sql`
    WITH released AS (
      DELETE FROM call_slots s
      USING call_limits l
      WHERE s.company_id = {company_id}
        AND s.call_id = {call_id}::bigint
        AND l.company_id = s.company_id
        AND l.id = s.call_limit_id
        AND NOT EXISTS (
          SELECT
          FROM call_attempts a
          WHERE a.company_id = s.company_id
            AND a.call_id = s.call_id
            AND a.ended_at IS NULL
            AND (a.buyer_id = l.buyer_id OR a.buyer_group_id = l.buyer_group_id)
        )
      RETURNING s.*
    ),
    locked AS (
      SELECT l.id
      FROM call_limits l
      WHERE l.company_id = {company_id} AND l.id IN (SELECT call_limit_id FROM released)
      ORDER BY (l.buyer_group_id IS NULL), l.buyer_group_id, l.buyer_id
      FOR NO KEY UPDATE
    )
    UPDATE call_limits l
    SET
      changed_by = pg_current_xact_id(),
      concurrency_cap_used = greatest(0, l.concurrency_cap_used - 1),
      pending_connections = l.pending_connections - released.connections,
      pending_conversions = l.pending_conversions - released.conversions,
      pending_revenue = l.pending_revenue - released.revenue
    FROM locked
    JOIN released ON released.call_limit_id = locked.id
    WHERE l.company_id = {company_id} AND l.id = locked.id`,
  { prepared: true },
);

/** The slots of a call for one buyer and its group, and the locks on their caps. */
const HELD_AND_LOCKED = sql`
    held AS (
      SELECT s.*
      FROM call_slots s
      JOIN call_limits l ON l.company_id = s.company_id AND l.id = s.call_limit_id
      WHERE s.company_id = {company_id}
        AND s.call_id = {call_id}::bigint
        AND (
          l.buyer_id = {buyer_id}::bigint OR l.buyer_group_id = {buyer_group_id}::bigint
        )
    ),
    locked AS (
      SELECT l.id
      FROM call_limits l
      WHERE l.company_id = {company_id} AND l.id IN (SELECT call_limit_id FROM held)
      ORDER BY (l.buyer_group_id IS NULL), l.buyer_group_id, l.buyer_id
      FOR NO KEY UPDATE
    )`;

export const SETTLE_CONNECTION = statement(
  'calls.settle_connection',
  sql`
    WITH ${HELD_AND_LOCKED},
    settled AS (
      UPDATE call_slots s
      SET connections = 0
      FROM held
      WHERE s.company_id = {company_id}
        AND s.call_id = {call_id}::bigint
        AND s.call_limit_id = held.call_limit_id
    )
    UPDATE call_limits l
    SET
      changed_by = pg_current_xact_id(),
      pending_connections = l.pending_connections - held.connections
    FROM locked
    JOIN held ON held.call_limit_id = locked.id
    WHERE l.company_id = {company_id} AND l.id = locked.id`,
  { prepared: true },
);

export const SETTLE_CONVERSION = statement(
  'calls.settle_conversion',
  sql`
    WITH ${HELD_AND_LOCKED},
    settled AS (
      UPDATE call_slots s
      SET conversions = 0, revenue = 0
      FROM held
      WHERE s.company_id = {company_id}
        AND s.call_id = {call_id}::bigint
        AND s.call_limit_id = held.call_limit_id
    )
    UPDATE call_limits l
    SET
      changed_by = pg_current_xact_id(),
      pending_conversions = l.pending_conversions - held.conversions,
      pending_revenue = l.pending_revenue - held.revenue
    FROM locked
    JOIN held ON held.call_limit_id = locked.id
    WHERE l.company_id = {company_id} AND l.id = locked.id`,
  { prepared: true },
);

/** Of all companies. */
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
