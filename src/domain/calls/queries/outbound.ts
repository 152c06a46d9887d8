import { sql, statement } from '../../../data/sql';
import type { CallStatus } from '../../../platform/carriers/carrier';
import { ASKS_US } from './calls';
import { OLD_AND_NEW, CALL_BEFORE, RECORD_CALL_CHANGE } from './record-call';

/** Waits for the transaction that is placing the call, if there is one: it holds the lead. */
export const AWAIT_PLACING = statement(
  'calls.await_placing',
  sql`
    SELECT l.id
    FROM leads l
    WHERE l.company_id = {company_id}
      AND l.id = (
        SELECT c.lead_id
        FROM calls c
        WHERE c.company_id = {company_id} AND c.uuid = {key}::uuid AND c.status = 'sending'
      )
    FOR NO KEY UPDATE`,
  { prepared: false },
);

/** Returns a row only for calls whose carrier asks us what follows an answer. */
export const FIND_OUTBOUND = statement(
  'calls.find_outbound',
  sql`
    SELECT c.id
    FROM calls c
    WHERE c.company_id = {company_id}
      AND c.uuid = {key}::uuid
      AND c.direction = 'outbound'
      AND ${ASKS_US}`,
  { prepared: true },
);

const RING_SECONDS = sql`
      coalesce(
        (
          SELECT a.timeout_seconds
          FROM schedule_actions a
          WHERE a.company_id = c.company_id AND a.id = c.schedule_action_id
        ),
        30
      ) AS timeout_seconds`;

/** Returns a row only for calls with a fixed destination, for persons and machines alike. */
export const FIND_DESTINATION = statement(
  'calls.find_destination',
  sql`
    SELECT c.status, c.from_number::float8 AS "from", c.connect_to,
      ${RING_SECONDS}
    FROM calls c
    WHERE c.company_id = {company_id}
      AND c.uuid = {key}::uuid
      AND c.direction = 'outbound'
      AND NOT ${ASKS_US}
      AND c.deleted_at IS NULL`,
  { prepared: true },
).returning<{ status: CallStatus; connect_to: string; timeout_seconds: number }>();

/** The call must be locked. */
export const READ_OUTBOUND = statement(
  'calls.read_outbound',
  sql`
    SELECT
      c.routed, c.machine_action, c.machine_message, c.answered_by, c.answered_at, c.connect_to,
      ${RING_SECONDS}
    FROM calls c
    WHERE c.company_id = {company_id} AND c.id = {call_id}::bigint`,
  {
    prepared: true,
    nullable: ['machine_action', 'machine_message', 'answered_by', 'answered_at', 'connect_to'],
  },
).returning<{ routed: boolean; timeout_seconds: number }>();

/** A call takes from its lead what an inbound call takes from it. */
export const RECORD_ANSWER = statement(
  'calls.record_answer',
  sql`
    WITH was AS (${CALL_BEFORE}
    ),
    call AS (
      UPDATE calls c
      SET
        status = 'in_progress',
        carrier_call_id = coalesce(c.carrier_call_id, {call_sid}),
        answered_by = {answered_by},
        answered_at = coalesce(c.answered_at, {now}::timestamptz),
        traffic_source_id = l.traffic_source_id,
        sub_id = l.sub_id,
        contact_field_type = l.contact_field_type,
        number_id = coalesce(c.number_id, n.id),
        updated_at = {now}::timestamptz
      FROM was
      JOIN calls x ON x.company_id = {company_id} AND x.id = was.id
      LEFT JOIN leads l ON l.company_id = x.company_id AND l.id = x.lead_id
      LEFT JOIN numbers n
        ON n.company_id = x.company_id AND n.phone_number = x.from_number AND n.deleted_at IS NULL
      WHERE c.company_id = {company_id} AND c.id = was.id
      RETURNING c.id, ${OLD_AND_NEW}
    ),
    event AS (
      INSERT INTO call_events (company_id, created_at, call_id, event, message)
      SELECT {company_id}, {now}::timestamptz, call.id, 'answered', {answered_by}
      FROM call
    )
    SELECT ${RECORD_CALL_CHANGE}
    FROM call`,
  { prepared: true, records: true },
);

/** Ends an outbound call (prisma/sql/calls/end_outbound_call.sql). */
export const END_OUTBOUND = statement(
  'calls.end_outbound',
  sql`
    SELECT end_outbound_call(
      {company_id}::bigint, {call_id}::bigint, {now}::timestamptz, {ending}::json
    )::text AS ended`,
  { prepared: true, records: true },
);

/**
 * A report of the carrier about a call that is under way: a status changes only to a later one. The
 * duration is known at the end, which may have been recorded before.
 */
export const RECORD_OUTBOUND_STATUS = statement(
  'calls.record_outbound_status',
  sql`
    WITH was AS (${CALL_BEFORE}
    ),
    call AS (
      UPDATE calls c
      SET
        carrier_call_id = coalesce(c.carrier_call_id, {carrier_call_id}),
        total_duration = coalesce({duration}::int, c.total_duration),
        service_cost = service_cost_after(
          was.call, coalesce({duration}::int, c.total_duration), c.ended_at
        ),
        answered_at = CASE
          WHEN {status} = 'in_progress' THEN coalesce(c.answered_at, {now}::timestamptz)
          ELSE c.answered_at
        END,
        status = CASE
          WHEN c.ended_at IS NULL
            AND array_position(ARRAY['sending', 'queued', 'ringing', 'in_progress'], c.status)
              < array_position(ARRAY['sending', 'queued', 'ringing', 'in_progress'], {status})
          THEN {status}
          ELSE c.status
        END,
        updated_at = {now}::timestamptz
      FROM was
      WHERE c.company_id = {company_id} AND c.id = was.id
      RETURNING ${OLD_AND_NEW}
    )
    SELECT ${RECORD_CALL_CHANGE}
    FROM call`,
  { prepared: true, records: true },
);

/** Calls of all companies that switches are to place and that are to be looked at now. */
export const FIND_PLACED_TO_CHECK = statement(
  'calls.find_placed_to_check',
  sql`
    SELECT m.company_id::text AS company_id, m.call_id::text AS call_id
    FROM switch_commands m
    WHERE m.check_at <= {now}::timestamptz
    ORDER BY m.check_at
    LIMIT {limit}::int`,
  { prepared: true },
);

/** Looks at such a call (prisma/sql/calls/check_placed_call.sql). */
export const CHECK_PLACED_CALL = statement(
  'calls.check_placed_call',
  sql`
    SELECT check_placed_call(
      {company_id}::bigint, {call_id}::bigint, {now}::timestamptz,
      {grace_seconds}::int * interval '1 second', {longest_seconds}::int * interval '1 second'
    ) AS is_ended`,
  { prepared: true, records: true },
);
