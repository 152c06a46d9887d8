import { sql, statement } from '../../../data/sql';

/** The row of the call `call_id` before the statement writes it, locked until the commit. */
export const CALL_BEFORE = sql`
      SELECT c.id, c AS call
      FROM calls c
      WHERE c.company_id = {company_id} AND c.id = {call_id}::bigint
      FOR NO KEY UPDATE`;

/** RETURNING list of an UPDATE of calls `c`, for its recording; `was` has the rows before. */
export const OLD_AND_NEW = sql`was.call AS was, c AS now`;

/** Needs the CTE `call`. */
export const RECORD_CALL_CHANGE = sql`record_call_change(call.was, call.now) AS is_recorded`;

// Parts of a round in the routing of a call. The CTE `rounds` has a row for each round that is
// written, with the id of its call; JSON lists name a round by its `index`.

export const INSERT_ATTEMPTS = sql`
      INSERT INTO call_attempts (
        company_id, uuid, created_at, call_id, round, buyer_id, buyer_group_id, connect_to, status,
        timeout_seconds, press_one_to_accept, dial, bid, bid_duration, ring_until
      )
      SELECT
        {company_id}, x.attempt, {now}::timestamptz, r.id, r.round, x.buyer_id, x.buyer_group_id,
        x.number, 'ringing', x.timeout_seconds, x.press_one_to_accept, x.dial, x.bid,
        x.bid_duration,
        CASE
          WHEN r.dials_as_one AND x.timeout_seconds < r.longest
            THEN {now}::timestamptz + x.timeout_seconds * interval '1 second'
        END
      FROM rounds r
      JOIN json_to_recordset({dials}::json) AS x(
        index int, n int, attempt uuid, buyer_id bigint, buyer_group_id bigint, number text,
        timeout_seconds int, press_one_to_accept boolean, dial jsonb, bid numeric,
        bid_duration int
      ) ON x.index = r.index
      ORDER BY x.n
      RETURNING id, call_id`;

export const RECORD_ATTEMPT = sql`
        record_attempt_event({company_id}::bigint, 'buyer_dialled', a.call_id, a.id)`;

export const INSERT_SLOTS = sql`
      INSERT INTO call_slots (
        company_id, call_id, call_limit_id, connections, conversions, revenue, lease_until
      )
      SELECT
        {company_id}, r.id, x.call_limit_id, x.connections, x.conversions, x.revenue,
        r.lease_until
      FROM rounds r
      JOIN json_to_recordset({slots}::json) AS x(
        index int, call_limit_id bigint, connections int, conversions int, revenue numeric
      ) ON x.index = r.index`;

/** Most decisions share a basis, which is then stored already. */
export const INSERT_BASES = sql`
      INSERT INTO decision_bases (company_id, hash, basis)
      SELECT {company_id}, x.hash, x.basis
      FROM json_to_recordset({bases}::json) AS x(hash text, basis json)
      ON CONFLICT (company_id, hash) DO NOTHING`;

const ENDS_OUTBOUND = sql`(call.direction = 'outbound' AND {ended_at}::timestamptz IS NOT NULL)`;

/**
 * Queues the call for its lead (domain/leads/apply-calls.ts). If the lead is being updated at the
 * moment, this waits: that update may have read the call as it was before.
 */
export const QUEUE_FOR_LEAD = sql`
      INSERT INTO lead_calls (company_id, call_id, changed_at)
      SELECT {company_id}, call.id, {now}::timestamptz
      FROM call
      WHERE call.lead_id IS NOT NULL AND ({buyer_id}::bigint IS NOT NULL OR ${ENDS_OUTBOUND})
      ON CONFLICT (company_id, call_id) DO UPDATE SET changed_at = excluded.changed_at`;

export const INSERT_EVENTS = sql`
      INSERT INTO call_events (
        company_id, created_at, call_id, event, message, buyer_id, details
      )
      SELECT
        {company_id}, {now}::timestamptz, call.id, x.event, x.message, x.buyer_id, x.details
      FROM call, json_to_recordset({events}::json)
        AS x(event text, message text, buyer_id bigint, details jsonb)`;

/** The call `c` ends if `ended_at` is given. */
export const DURATION_AT_END = sql`
        CASE
          WHEN {ended_at}::timestamptz IS NULL THEN c.total_duration
          ELSE extract(epoch FROM {ended_at}::timestamptz - c.created_at)::int
        END`;

/** The call `c` ends if `ended_at` is given. */
export const SERVICE_COST_AT_END = sql`
        service_cost_after(was.call, ${DURATION_AT_END}, {ended_at}::timestamptz)`;

/** Writes the next round of a known call with its caps (prisma/sql/calls/start_round.sql). */
export const START_ROUND = statement(
  'calls.start_round',
  sql`
    SELECT r.outcome, r.refused::float8[] AS refused, r.held::float8 AS held
    FROM start_round(
      {company_id}::bigint, {call_id}::bigint, {version}, {now}::timestamptz,
      {ended_attempts}::json, {round}::json, {decision}, {usages}::json, {dials}::json,
      {events}::json, {bases}::json
    ) r`,
  { prepared: true, records: true, nullable: ['refused', 'held'] },
).returning<{
  outcome: 'started' | 'stale' | 'full' | 'source_full';
  refused: number[] | null;
}>();

export const INSERT_EVENT = statement(
  'calls.insert_event',
  sql`
    INSERT INTO call_events (company_id, created_at, call_id, event, message, buyer_id, details)
    VALUES (
      {company_id}, {now}::timestamptz, {call_id}::bigint, {event}, {message}, {buyer_id}::bigint,
      {details}::jsonb
    )`,
  { prepared: true },
);
