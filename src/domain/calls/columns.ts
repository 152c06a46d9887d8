import { commonColumns, type Projection } from '../../data/projection/projection';

/** Whole seconds between two times; 0 if one of them is null. */
const seconds = (from: string, to: string) =>
  `coalesce(greatest(0, floor(extract(epoch FROM ${to} - ${from})))::int, 0)`;
/** The first of these times that is not null, else the end of the call, else now. */
const until = (...times: string[]) =>
  `coalesce(${[...times, 't.ended_at', '{now}::timestamptz'].join(', ')})`;
const INBOUND = `t.direction = 'inbound'`;

const NAME = `nullif(
  trim(
    coalesce(
      t.token_values->>'full_name',
      t.token_values->>'name',
      coalesce(t.token_values->>'first_name', '')
        || ' '
        || coalesce(t.token_values->>'last_name', '')
    )
  ),
  ''
)`;

/** The carrier's measurement, else ours. */
export const TOTAL_DURATION = `coalesce(t.total_duration, ${seconds('t.created_at', until())})`;

/** From the beginning of an inbound call, or the answer of an outbound one, until a connection. */
const HOLD_DURATION = `CASE
  WHEN ${INBOUND} THEN ${seconds('t.created_at', until('t.connected_at'))}
  ELSE ${seconds('t.answered_at', until('t.connected_at'))}
END`;

/** While buyers were asked for a key. */
const IVR_DURATION = `CASE
  WHEN ${INBOUND} THEN ${seconds('t.answered_at', until('t.connected_at'))}
  ELSE (
    SELECT coalesce(
      sum(${seconds('a.answered_at', 'coalesce(a.connected_at, a.ended_at, {now}::timestamptz)')}),
      0
    )
    FROM call_attempts a
    WHERE a.company_id = t.company_id AND a.call_id = t.id
  )
END`;

const ATTEMPTED_DURATION = `CASE
  WHEN t.buyer_id IS NULL THEN 0
  ELSE ${seconds('t.created_at', until('t.answered_at'))}
END`;

/** While an agent talked. What buyers do in an outbound call is in its attempts only. */
const AGENT_DURATION = `CASE
  WHEN t.agent_id IS NULL THEN 0
  ELSE coalesce(t.answered_duration, ${seconds('t.connected_at', until())})
END`;

const FULLTEXT = `lower(
  coalesce(t.from_number::text, '')
  || E'\\n' || coalesce(t.to_number::text, '')
  || E'\\n' || coalesce(t.connect_to, '')
  || E'\\n' || coalesce(t.sub_id, '')
  || E'\\n' || coalesce(t.carrier_call_id, '')
  || E'\\n' || coalesce(t.external_record_id, '')
)`;

/**
 * `answered_at` of an inbound call is when a buyer answered, of an outbound call when the person
 * did. What buyers do in an outbound call is in its attempts only.
 */
export const callProjection = {
  schema: 'Call',
  singular: 'call',
  plural: 'calls',
  joins: {
    o: 'LEFT JOIN offers o ON o.company_id = t.company_id AND o.id = t.offer_id',
    u: 'LEFT JOIN traffic_sources u ON u.company_id = t.company_id AND u.id = t.traffic_source_id',
    b: 'LEFT JOIN buyers b ON b.company_id = t.company_id AND b.id = t.buyer_id',
    q: 'LEFT JOIN buyers q ON q.company_id = t.company_id AND q.id = t.quality_assurance_id',
    d: 'LEFT JOIN dispositions d ON d.company_id = t.company_id AND d.id = t.disposition_id',
    h: 'LEFT JOIN schedules h ON h.company_id = t.company_id AND h.id = t.schedule_id',
  },
  fulltext: FULLTEXT,
  hasCachedCounts: true,
  columns: {
    ...commonColumns('calls'),
    type: `'Call'`,
    routes_edit_path: 'NULL::text',
    name: NAME,
    recording_url: true,
    category: 't.direction',
    number_called: `'+' || CASE WHEN ${INBOUND} THEN t.to_number ELSE t.from_number END`,
    number_id: true,
    connected_to: 't.connect_to',
    caller_number: `'+' || t.caller_number`,
    offer: 'o.name',
    user_offer_id: 'o.user_offer_id',
    offer_id: true,
    quality_assurance_user_id: 'q.user_buyer_id',
    quality_assurance_name: true,
    quality_assurance_id: true,
    agent_id: true,
    traffic_source: 'u.name',
    user_traffic_source_id: 'u.user_traffic_source_id',
    traffic_source_id: true,
    buyer: 'b.name',
    user_buyer_id: 'b.user_buyer_id',
    buyer_id: true,
    obfuscated_caller_number: `repeat('*', length(t.caller_number::text) - 4)
      || right(t.caller_number::text, 4)`,
    caller_city: true,
    caller_country: true,
    token_values: true,
    total_duration: TOTAL_DURATION,
    hold_duration: HOLD_DURATION,
    ivr_duration: IVR_DURATION,
    attempted_duration: ATTEMPTED_DURATION,
    answered_duration: `coalesce(t.answered_duration, ${seconds('t.answered_at', until())})`,
    agent_duration: AGENT_DURATION,
    sub_id: true,
    schedule_id: true,
    schedule_name: 'h.name',
    ring_pool_id: 'NULL::bigint',
    status: true,
    buyer_converted: true,
    buyer_repeat_caller: true,
    buyer_revenue: true,
    revenue: true,
    traffic_source_converted: true,
    traffic_source_repeat_caller: true,
    traffic_source_payout: 't.payout',
    payout: true,
    service_cost: true,
    provider_cost: true,
    call_sid: 't.carrier_call_id',
    provider: 't.carrier',
    outgoing_webhooks_count: `(
      SELECT count(*)
      FROM webhook_deliveries e
      WHERE e.company_id = t.company_id AND e.call_id = t.id
    )`,
    ended_at: true,
    contact_field_type: true,
    disposition_id: true,
    disposition_key: 'd.key',
    disposition_name: 'd.name',
    disposition_notes: true,
    hangup_cause: true,
    lead_id: true,
    answered_at: true,
    connected_at: true,
    fallback: true,
    attempts_count: `(
      SELECT count(*) FROM call_attempts a WHERE a.company_id = t.company_id AND a.call_id = t.id
    )`,
    error_code: true,
    error_message: true,
    sandbox: `t.carrier = 'sandbox'`,
    caller_state: true,
    caller_zip: true,
    answered_by: true,
    machine_action: true,
    machine_message: true,
    abandoned: true,
    schedule_action_id: true,
  },
} as const satisfies Projection<'Call', 'call', 'calls'>;

const joins = { b: 'LEFT JOIN buyers b ON b.company_id = t.company_id AND b.id = t.buyer_id' };

export const callEventProjection = {
  schema: 'CallEvent',
  singular: 'call_event',
  plural: 'call_events',
  appendOnly: true,
  // No index: the list is of one call.
  fulltext: `lower(t.event || E'\\n' || coalesce(t.message, ''))`,
  joins,
  columns: {
    id: true,
    created_at: true,
    call_id: true,
    event: true,
    message: true,
    buyer_id: true,
    buyer: 'b.name',
    details: true,
  },
} as const satisfies Projection<'CallEvent', 'call_event', 'call_events'>;

export const callAttemptProjection = {
  schema: 'CallAttempt',
  singular: 'call_attempt',
  plural: 'call_attempts',
  appendOnly: true,
  // No index: the list is of one call.
  fulltext: `lower(t.status || E'\\n' || t.connect_to)`,
  joins,
  columns: {
    id: true,
    uuid: true,
    created_at: true,
    call_id: true,
    round: true,
    buyer_id: true,
    buyer: 'b.name',
    buyer_group_id: true,
    connect_to: true,
    status: true,
    timeout_seconds: true,
    answered_at: true,
    connected_at: true,
    ended_at: true,
  },
} as const satisfies Projection<'CallAttempt', 'call_attempt', 'call_attempts'>;
