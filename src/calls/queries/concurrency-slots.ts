import { sql, statement } from '../../db/sql';

// A call holds a row of call_slots for each row of caps: of the buyers and groups that it is dialed
// to until it no longer rings there, and of its traffic source until it ends.
// The statement that deletes or changes such a row (record-progress.ts, record-use.ts) also changes
// the counters of the cap, once.

/** Releases all that a locked call holds: it has ended without a buyer. */
export const RELEASE_SLOTS = statement(
  'calls.release_slots',
  sql`
    WITH released AS (
      DELETE FROM call_slots s
      WHERE s.company_id = {company_id} AND s.call_id = {call_id}::bigint
      RETURNING s.call_limit_id, s.connections, s.conversions, s.revenue
    ),
    locked AS (
      SELECT l.id
      FROM call_limits l
      WHERE l.company_id = {company_id} AND l.id IN (SELECT call_limit_id FROM released)
      ORDER BY (l.buyer_group_id IS NULL), l.buyer_group_id, l.buyer_id, l.traffic_source_id
      FOR NO KEY UPDATE
    )
    UPDATE call_limits l
    SET
      changed_by = pg_current_xact_id(),
      concurrency_cap_used = greatest(0, l.concurrency_cap_used - 1),
      pending_connections = l.pending_connections - r.connections,
      pending_conversions = l.pending_conversions - r.conversions,
      pending_revenue = l.pending_revenue - r.revenue
    FROM locked
    JOIN released r ON r.call_limit_id = locked.id
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
