import { countRows } from '../../db/counters';
import { sql, statement } from '../../db/sql';

// Every step in the routing of a call is written by one of these statements. The CTE `call` is
// the row of calls that it inserts or updates; the fragments below write what belongs to it.

const INSERT_ATTEMPTS = sql`
      INSERT INTO call_attempts (
        company_id, uuid, created_at, call_id, round, buyer_id, buyer_group_id, connect_to, status,
        timeout_seconds, press_one_to_accept, dial, ring_until
      )
      SELECT
        {company_id}, (d.dial->>'attempt')::uuid, {now}::timestamptz, call.id, {round}::int,
        (d.dial->>'buyer_id')::bigint, (d.dial->>'buyer_group_id')::bigint, d.dial->>'number',
        'ringing', (d.dial->>'timeout_seconds')::int, (d.dial->>'press_one_to_accept')::boolean,
        d.dial,
        CASE
          WHEN {dials_as_one}::boolean AND (d.dial->>'timeout_seconds')::int < {longest}::int
            THEN {now}::timestamptz + (d.dial->>'timeout_seconds')::int * interval '1 second'
        END
      FROM call, jsonb_array_elements({dial}::jsonb) WITH ORDINALITY AS d(dial, place)
      ORDER BY d.place`;

const INSERT_SLOTS = sql`
      INSERT INTO call_slots (
        company_id, call_id, call_limit_id, connections, conversions, revenue, lease_until
      )
      SELECT
        {company_id}, call.id, x.call_limit_id, x.connections, x.conversions, x.revenue,
        {lease_until}::timestamptz
      FROM call, json_to_recordset({slots}::json)
        AS x(call_limit_id bigint, connections int, conversions int, revenue numeric)`;

/** A basis that most decisions share is there already. */
const INSERT_BASIS = sql`
      INSERT INTO decision_bases (company_id, hash, basis)
      VALUES ({company_id}, {basis_hash}, {basis}::json)
      ON CONFLICT (company_id, hash) DO NOTHING`;

const INSERT_DECISION = sql`
      INSERT INTO call_decisions (company_id, call_id, round, created_at, decision)
      SELECT {company_id}, call.id, {round}::int, {now}::timestamptz, {decision}::json
      FROM call`;

/** The end of an outbound call changes its lead. */
const ENDS_OUTBOUND = sql`(call.direction = 'outbound' AND {ended_at}::timestamptz IS NOT NULL)`;

/**
 * Queues the call for its lead (leads/apply-calls.ts). If the lead is being updated at the moment,
 * this waits: that update may have read the call as it was before.
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

export const INSERT_CALL = statement(
  'calls.insert_call',
  sql`
    WITH call AS (
      INSERT INTO calls (
        company_id, uuid, created_at, updated_at, direction, status, carrier, carrier_call_id,
        from_number, caller_number, caller_country, caller_city, to_number, number_id, offer_id,
        lead_id, schedule_id, traffic_source_id, sub_id, contact_field_type, token_values, round,
        fallback, hangup_cause, ended_at, buyer_id, connect_to, caller_state, caller_zip
      )
      VALUES (
        {company_id}, {uuid}::uuid, {now}::timestamptz, {now}::timestamptz, 'inbound', {status},
        {carrier}, {carrier_call_id}, {caller_number}::bigint, {caller_number}::bigint,
        {caller_country}, {caller_city}, {number_called}::bigint, {number_id}::bigint,
        {offer_id}::bigint, {lead_id}::bigint, {schedule_id}::bigint, {traffic_source_id}::bigint,
        {sub_id}, {contact_field_type}, {token_values}::jsonb, {round}::int, {fallback},
        {hangup_cause}, {ended_at}::timestamptz, {buyer_id}::bigint, {connect_to},
        {caller_state}, {caller_zip}
      )
      RETURNING company_id, id, lead_id, direction
    ),
    counted AS (${countRows('calls', 'call')}
    ),
    attempts AS (${INSERT_ATTEMPTS}
    ),
    slots AS (${INSERT_SLOTS}
    ),
    basis AS (${INSERT_BASIS}
    ),
    decision AS (${INSERT_DECISION}
    ),
    queued AS (${QUEUE_FOR_LEAD}
    ),
    events AS (${INSERT_EVENTS}
    )
    SELECT id::float8 AS id FROM call`,
  { prepared: true },
);

export const RECORD_ROUND = statement(
  'calls.record_round',
  sql`
    WITH call AS (
      UPDATE calls
      SET
        status = {status},
        fallback = {fallback},
        hangup_cause = {hangup_cause},
        ended_at = {ended_at}::timestamptz,
        round = {round}::int,
        abandoned = abandoned
          OR ({abandoned}::boolean AND coalesce(answered_by, '') NOT IN ('machine', 'fax')),
        updated_at = {now}::timestamptz,
        buyer_id = coalesce({buyer_id}::bigint, buyer_id),
        connect_to = coalesce({connect_to}, connect_to),
        total_duration = CASE
          WHEN {ended_at}::timestamptz IS NULL THEN total_duration
          ELSE extract(epoch FROM {ended_at}::timestamptz - created_at)::int
        END
      WHERE company_id = {company_id} AND id = {call_id}::bigint
      RETURNING id, lead_id, direction
    ),
    attempts AS (${INSERT_ATTEMPTS}
    ),
    slots AS (${INSERT_SLOTS}
    ),
    basis AS (${INSERT_BASIS}
    ),
    decision AS (${INSERT_DECISION}
    ),
    queued AS (${QUEUE_FOR_LEAD}
    ),
    events AS (${INSERT_EVENTS}
    )
    SELECT id::float8 AS id FROM call`,
  { prepared: true },
);

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
