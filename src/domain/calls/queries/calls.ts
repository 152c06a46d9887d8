import { sql, statement } from '../../../data/sql';

export const CALL_COLUMNS = sql`
      c.id::float8 AS id, c.uuid::text AS uuid, c.created_at, c.status,
      c.direction, c.carrier, c.carrier_call_id,
      c.caller_number::float8 AS caller_number,
      CASE c.direction WHEN 'inbound' THEN c.to_number ELSE c.from_number END::float8
        AS number_called,
      c.offer_id::float8 AS offer_id, c.lead_id::float8 AS lead_id,
      c.traffic_source_id::float8 AS traffic_source_id, c.buyer_id::float8 AS buyer_id,
      c.round, c.fallback, c.hangup_cause, c.token_values, c.connected_at, c.ended_at,
      c.sub_id, c.caller_city, c.caller_state, c.caller_zip, c.caller_country,
      c.fallback_ended_at, c.answered_duration, c.conferences,
      c.switch_id::text AS switch_id`;

/** An outbound call for which we are asked what follows an answer: a switch always asks. */
export const ASKS_US = sql`
      (c.routed OR c.machine_action IS NOT NULL OR c.carrier = 'softswitch')`;

/** Inbound calls, and outbound ones for which we are asked what follows an answer. */
export const IS_ROUTED = sql`
      (c.direction = 'inbound' OR ${ASKS_US})
      AND c.deleted_at IS NULL`;

const CALL = sql`
    SELECT
      ${CALL_COLUMNS}
    FROM calls c
    WHERE c.company_id = {company_id}
      AND ${IS_ROUTED}`;

export const NULLABLE_OF_CALL = [
  'caller_number',
  'number_called',
  'offer_id',
  'lead_id',
  'traffic_source_id',
  'buyer_id',
];
const CALL_OPTIONS = { prepared: true, nullable: NULLABLE_OF_CALL };

export interface CallJson {
  direction: 'inbound' | 'outbound';
  token_values: Record<string, unknown>;
}

export const READ_CALL = {
  id: statement(
    'calls.read_by_id',
    sql`${CALL}
      AND c.id = {value}::bigint`,
    CALL_OPTIONS,
  ).returning<CallJson>(),
  uuid: statement(
    'calls.read_by_uuid',
    sql`${CALL}
      AND c.uuid = {value}::uuid`,
    CALL_OPTIONS,
  ).returning<CallJson>(),
  sid: statement(
    'calls.read_by_sid',
    sql`${CALL}
      AND c.carrier = 'softswitch' AND c.carrier_call_id = {value}`,
    CALL_OPTIONS,
  ).returning<CallJson>(),
};

export const FIND_CALL_BY_SID = statement(
  'calls.find_by_sid',
  sql`${CALL}
      AND c.carrier = {carrier} AND c.carrier_call_id = {call_sid}`,
  CALL_OPTIONS,
).returning<CallJson>();

export const LOCK_CALL = {
  id: statement(
    'calls.lock_by_id',
    sql`${CALL}
      AND c.id = {value}::bigint
    FOR UPDATE`,
    CALL_OPTIONS,
  ).returning<CallJson>(),
  uuid: statement(
    'calls.lock_by_uuid',
    sql`${CALL}
      AND c.uuid = {value}::uuid
    FOR UPDATE`,
    CALL_OPTIONS,
  ).returning<CallJson>(),
};

export const READ_ATTEMPTS = statement(
  'calls.read_attempts',
  sql`
    SELECT
      a.uuid::text AS uuid, a.status, a.press_one_to_accept, a.round,
      a.buyer_id::float8 AS buyer_id, a.buyer_group_id::float8 AS buyer_group_id,
      a.created_at, a.connected_at, a.dial, a.routes,
      a.trunk_id::float8 AS trunk_id,
      a.failed_trunk_ids::float8[] AS failed_trunk_ids
    FROM call_attempts a
    WHERE a.company_id = {company_id} AND a.call_id = {call_id}::bigint
    ORDER BY a.id`,
  { prepared: true, nullable: ['buyer_group_id', 'routes', 'trunk_id'] },
);

export const FIND_ATTEMPT_OF_LEG = statement(
  'calls.find_attempt_of_leg',
  sql`
    SELECT e.details->>'attempt' AS attempt
    FROM call_events e
    WHERE e.company_id = {company_id}
      AND e.call_id = {call_id}::bigint
      AND e.details->>'leg_sid' = {leg_sid}
    LIMIT 1`,
  { prepared: true, nullable: ['attempt'] },
);

export const FIND_LEG_OF_ATTEMPT = statement(
  'calls.find_leg_of_attempt',
  sql`
    SELECT e.details->>'leg_sid' AS leg_id
    FROM call_events e
    WHERE e.company_id = {company_id}
      AND e.call_id = {call_id}::bigint
      AND e.details->>'attempt' = {attempt}
      AND e.details->>'leg_sid' IS NOT NULL
    ORDER BY e.id DESC
    LIMIT 1`,
  { prepared: false, nullable: ['leg_id'] },
);

export const ADD_CONFERENCE = statement(
  'calls.add_conference',
  sql`
    UPDATE calls
    SET conferences = conferences + 1
    WHERE company_id = {company_id} AND id = {call_id}::bigint
    RETURNING conferences`,
  { prepared: false },
);

export const READ_DECISIONS = statement(
  'calls.read_decisions',
  sql`
    SELECT d.decision, b.basis
    FROM call_decisions d
    JOIN decision_bases b ON b.company_id = d.company_id AND b.hash = d.decision->>'basis'
    WHERE d.company_id = {company_id} AND d.call_id = {call_id}::bigint
    ORDER BY d.round`,
  { prepared: true },
);

export const READ_KEY_PRESSES = statement(
  'calls.read_key_presses',
  sql`
    SELECT e.id::float8 AS id, e.details->>'digits' AS digits
    FROM call_events e
    WHERE e.company_id = {company_id}
      AND e.call_id = {call_id}::bigint
      AND e.event = 'send_digits'
    ORDER BY e.id`,
  { prepared: true },
);
