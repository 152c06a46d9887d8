import { sql, statement } from '../../../data/sql';
import {
  OLD_AND_NEW,
  DURATION_AT_END,
  INSERT_EVENTS,
  QUEUE_FOR_LEAD,
  RECORD_CALL_CHANGE,
  SERVICE_COST_AT_END,
} from './record-call';

// One statement, of this file or of record-use.ts, writes the effects of an event on a call: all of
// them, or nothing when the call is no longer as it was read. No lock is held from one exchange to
// the next.
//
// Locks are taken in this order: the call, caps of groups, of buyers and of traffic sources, each
// by id, the caller of the offer, the lead.

/**
 * The call is as it was read. After waiting for the row's lock, PostgreSQL evaluates this again on
 * the newest version of the row. A null version skips the check: the call is locked already.
 */
export const IS_UNCHANGED = sql`
  ({version}::text IS NULL OR c.xmin = {version}::text::xid)`;

/** Null leaves a column as it is. */
export const PROGRESS_OF_CALL = sql`
        status = coalesce({status}, c.status),
        updated_at = {now}::timestamptz,
        buyer_id = coalesce({buyer_id}::bigint, c.buyer_id),
        connect_to = coalesce({connect_to}, c.connect_to),
        answered_at = CASE
          WHEN {has_answer}::boolean THEN coalesce(c.answered_at, {taken_at}::timestamptz)
          ELSE c.answered_at
        END,
        connected_at = CASE
          WHEN {buyer_id}::bigint IS NULL THEN c.connected_at
          ELSE coalesce(c.connected_at, {taken_at}::timestamptz)
        END,
        ended_at = coalesce({ended_at}::timestamptz, c.ended_at),
        answered_duration = coalesce({answered_duration}::int, c.answered_duration),
        total_duration = ${DURATION_AT_END},
        service_cost = ${SERVICE_COST_AT_END},
        hangup_cause = coalesce({hangup_cause}, c.hangup_cause),
        recording_url = coalesce({recording_url}, c.recording_url)`;

/**
 * Effects of a change on attempts, slots and the lead. `call` is the row that was changed, `held`
 * are its slots. PostgreSQL runs CTEs that no other CTE reads from the last to the first: `queued`,
 * which may wait for an update of the lead, must run last.
 */
export const CALL_EFFECTS = sql`
    queued AS (${QUEUE_FOR_LEAD}
    ),
    attempts AS (
      UPDATE call_attempts a
      SET
        status = x.status,
        answered_at = CASE
          WHEN x.status = 'answered' OR x.takes
            THEN coalesce(a.answered_at, {taken_at}::timestamptz)
          ELSE a.answered_at
        END,
        connected_at = CASE
          WHEN x.takes THEN {taken_at}::timestamptz
          ELSE a.connected_at
        END,
        ended_at = CASE
          WHEN x.status IN ('ringing', 'answered', 'connected') THEN NULL
          ELSE {now}::timestamptz
        END
      FROM call, json_to_recordset({attempts}::json) 
        AS x(uuid uuid, status text, takes boolean),
        call_attempts before
      WHERE a.company_id = {company_id} AND a.uuid = x.uuid
        AND before.company_id = {company_id} AND before.id = a.id
      RETURNING a.id, a.call_id,
        before.answered_at IS NULL AND a.answered_at IS NOT NULL AS is_answered
    ),
    released AS (
      DELETE FROM call_slots s
      USING call, held
      WHERE s.company_id = {company_id}
        AND s.call_id = {call_id}::bigint
        AND s.call_limit_id = held.call_limit_id
        AND held.is_released
    )`;

/** Needs the CTE `recorded`, which has recorded the change of the call. */
export const RECORD_ANSWERS = sql`
    answered AS MATERIALIZED (
      SELECT record_attempt_event({company_id}::bigint, 'buyer_answered', a.call_id, a.id)
      FROM recorded, attempts a
      WHERE a.is_answered
    )`;

/**
 * A slot that none of the open buyers and groups of the call needs any more is released, if
 * `releases` says so; the slot of its traffic source when the call ends.
 */
export const SLOTS_OF_CALL = sql`
      SELECT
        s.call_limit_id, s.connections, s.conversions, s.revenue, l.buyer_id, l.buyer_group_id,
        l.traffic_source_id,
        {releases}::boolean
          AND coalesce(l.buyer_id <> ALL ({open_buyers}::bigint[]), true)
          AND coalesce(l.buyer_group_id <> ALL ({open_groups}::bigint[]), true)
          AND (l.traffic_source_id IS NULL OR {ended_at}::timestamptz IS NOT NULL) AS is_released
      FROM call_slots s
      JOIN call_limits l ON l.company_id = s.company_id AND l.id = s.call_limit_id
      WHERE s.company_id = {company_id} AND s.call_id = {call_id}::bigint`;

/**
 * Amounts that each slot gives back of its reservation: everything if it is released, else what the
 * call has used now, of the buyer that has it, of its group and of the source. For the caps of a
 * source, a call converts when the source is paid for it.
 */
export const RELEASED_RESERVATIONS = sql`
      SELECT
        held.call_limit_id, held.is_released,
        CASE WHEN held.is_released OR {connection}::int > 0 AND own.counts
          THEN held.connections ELSE 0
        END AS connections,
        CASE WHEN held.is_released OR own.converts THEN held.conversions ELSE 0 END AS conversions,
        CASE WHEN held.is_released OR {buyer_conversion}::int > 0 AND own.counts
          THEN held.revenue ELSE 0
        END AS revenue
      FROM state, held
      CROSS JOIN LATERAL (
        SELECT
          held.buyer_id IS NOT DISTINCT FROM {owner_id}::bigint AND held.buyer_id IS NOT NULL
          OR held.buyer_group_id IS NOT DISTINCT FROM {owner_group_id}::bigint
          AND held.buyer_group_id IS NOT NULL AS has_call,
          held.traffic_source_id IS NOT NULL AS is_source
      ) of_call
      CROSS JOIN LATERAL (
        SELECT
          of_call.has_call OR of_call.is_source AS counts,
          CASE
            WHEN of_call.is_source THEN {pays_source}::boolean
            ELSE {buyer_conversion}::int > 0 AND of_call.has_call
          END AS converts
      ) own`;

/** For events without dollars and connections. */
export const RECORD_PROGRESS = statement(
  'calls.record_progress',
  sql`
    WITH held AS (${SLOTS_OF_CALL}
    ),
    was AS (
      SELECT c.id, c AS call
      FROM calls c
      WHERE c.company_id = {company_id} AND c.id = {call_id}::bigint AND ${IS_UNCHANGED}
      FOR NO KEY UPDATE
    ),
    call AS (
      UPDATE calls c
      SET ${PROGRESS_OF_CALL}
      FROM was
      WHERE c.company_id = {company_id} AND c.id = was.id
      RETURNING c.id, c.lead_id, c.direction, ${OLD_AND_NEW}
    ),
    ${CALL_EFFECTS},
    slots AS (
      UPDATE call_slots s
      SET lease_until = {lease_until}::timestamptz
      FROM call, held
      WHERE s.company_id = {company_id}
        AND s.call_id = {call_id}::bigint
        AND s.call_limit_id = held.call_limit_id
        AND NOT held.is_released
    ),
    locked AS (
      SELECT l.id
      FROM call_limits l
      WHERE l.company_id = {company_id}
        AND l.id IN (SELECT held.call_limit_id FROM call, held WHERE held.is_released)
      ORDER BY (l.buyer_group_id IS NULL), l.buyer_group_id, l.buyer_id, l.traffic_source_id
      FOR NO KEY UPDATE
    ),
    caps AS (
      UPDATE call_limits l
      SET
        changed_by = pg_current_xact_id(),
        concurrency_cap_used = greatest(0, l.concurrency_cap_used - 1),
        pending_connections = l.pending_connections - held.connections,
        pending_conversions = l.pending_conversions - held.conversions,
        pending_revenue = l.pending_revenue - held.revenue
      FROM locked
      JOIN held ON held.call_limit_id = locked.id
      WHERE l.company_id = {company_id} AND l.id = locked.id
    ),
    events AS (${INSERT_EVENTS}
    ),
    recorded AS MATERIALIZED (
      SELECT call.id, ${RECORD_CALL_CHANGE}
      FROM call
    ),
    ${RECORD_ANSWERS}
    SELECT recorded.id::float8 AS id
    FROM recorded, (SELECT count(*) AS n FROM answered) answered
    WHERE answered.n >= 0`,
  { prepared: true, records: true },
);
