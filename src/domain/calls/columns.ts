import { cachedCount } from '../../data/projection/list-statements';
import type { Filters } from '../../api/records/filters';
import { noun } from '../../api/records/noun';
import { contract } from '../../platform/contract/contract';

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

const IS_UNCONNECTED = `t.ended_at IS NOT NULL AND t.connected_at IS NULL AND NOT t.buyer_converted
    AND (${INBOUND} OR t.routed)`;

/** Why no buyer pays for a call that has ended and was put through to buyers; null if one pays. */
export const UNBILLED_REASON = `CASE
  WHEN t.unbilled_reason IS NOT NULL THEN t.unbilled_reason
  WHEN ${IS_UNCONNECTED} THEN 'not_connected'
END`;

const REASONS = contract.document.components.schemas.UnbilledReason!.enum!.map(String);

/** Not by the expression of the column: the planner knows how frequent the stored values are. */
const filterByReason = (reason: string): string =>
  reason === 'not_connected'
    ? `t.unbilled_reason IS NULL AND ${IS_UNCONNECTED}`
    : 't.unbilled_reason = {unbilled_reason}';

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

/** A condition and its opposite; `n` is the SQL of how many calls meet it. */
const buildFilter = (holds: string, opposite: string, n: string) => ({
  cases: { true: holds, false: opposite },
  totals: { true: n, false: `${cachedCount('calls')} - ${n}` },
});

/** A condition whose calls count_call_kinds() of the database counts, and its opposite. */
const buildCountedFilter = (kind: string, holds: string, opposite: string) =>
  buildFilter(holds, opposite, cachedCount(`calls/${kind}`));

/** SQL that counts the calls of a condition which has an index of its own. */
const countCalls = (condition: string): string => `(
  SELECT count(*) FROM calls t
  WHERE t.company_id = {company_id} AND t.deleted_at IS NULL AND ${condition}
)`;
const outbound = cachedCount('calls/outbound');
const IS_OPEN = 't.ended_at IS NULL';
const IS_SANDBOX = `t.carrier = 'sandbox'`;

/** The conditions are written as in the partial indexes of calls. */
export const callFilters = {
  id_from: 't.id >= {id_from}::bigint',
  id_to: 't.id <= {id_to}::bigint',
  ended_at_from: 't.ended_at >= {ended_at_from}::timestamptz',
  ended_at_to: 't.ended_at <= {ended_at_to}::timestamptz',
  caller_number: 't.caller_number = {caller_number}::bigint',
  status: 't.status = {status}',
  category: {
    cases: { outbound: `t.direction = 'outbound'`, inbound: `t.direction = 'inbound'` },
    totals: { outbound, inbound: `${cachedCount('calls')} - ${outbound}` },
  },
  buyer_converted: buildCountedFilter(
    'buyer_converted',
    't.buyer_converted',
    'NOT t.buyer_converted',
  ),
  offer_converted: buildCountedFilter(
    'offer_converted',
    't.traffic_source_converted',
    'NOT t.traffic_source_converted',
  ),
  either_converted: buildCountedFilter(
    'either_converted',
    '(t.buyer_converted OR t.traffic_source_converted)',
    'NOT t.buyer_converted AND NOT t.traffic_source_converted',
  ),
  in_progress: buildFilter(IS_OPEN, 't.ended_at IS NOT NULL', countCalls(IS_OPEN)),
  has_recording: buildCountedFilter(
    'has_recording',
    't.recording_url IS NOT NULL',
    't.recording_url IS NULL',
  ),
  no_buyer: buildCountedFilter('no_buyer', 't.buyer_id IS NULL', 't.buyer_id IS NOT NULL'),
  sandbox: buildFilter(IS_SANDBOX, `t.carrier <> 'sandbox'`, countCalls(IS_SANDBOX)),
  unbilled_reason: {
    cases: Object.fromEntries(REASONS.map((reason) => [reason, filterByReason(reason)])),
  },
  token_named: 't.token_values ? {token_named}',
  token_like:
    '(t.token_values @> ({token_like}::jsonb->0) OR t.token_values @> ({token_like}::jsonb->1))',
} as const satisfies Filters;

/**
 * `answered_at` of an inbound call is when a buyer answered, of an outbound call when the person
 * did. What buyers do in an outbound call is in its attempts only.
 */
export const call = noun({
  schema: 'Call',
  singular: 'call',
  plural: 'calls',
  verbs: ['list', 'show'],
  handled: ['token_key', 'token_value'],
  joins: {
    o: 'LEFT JOIN offers o ON o.company_id = t.company_id AND o.id = t.offer_id',
    u: 'LEFT JOIN traffic_sources u ON u.company_id = t.company_id AND u.id = t.traffic_source_id',
    b: 'LEFT JOIN buyers b ON b.company_id = t.company_id AND b.id = t.buyer_id',
    q: 'LEFT JOIN buyers q ON q.company_id = t.company_id AND q.id = t.quality_assurance_id',
    d: 'LEFT JOIN dispositions d ON d.company_id = t.company_id AND d.id = t.disposition_id',
    h: 'LEFT JOIN schedules h ON h.company_id = t.company_id AND h.id = t.schedule_id',
  },
  search: FULLTEXT,
  hasCachedCounts: true,
  computed: {
    routes_edit_path: 'NULL::text',
    name: NAME,
    category: 't.direction',
    number_called: `'+' || CASE WHEN ${INBOUND} THEN t.to_number ELSE t.from_number END`,
    connected_to: 't.connect_to',
    caller_number: `'+' || t.caller_number`,
    offer: 'o.name',
    user_offer_id: 'o.user_offer_id',
    quality_assurance_user_id: 'q.user_buyer_id',
    traffic_source: 'u.name',
    user_traffic_source_id: 'u.user_traffic_source_id',
    buyer: 'b.name',
    user_buyer_id: 'b.user_buyer_id',
    obfuscated_caller_number: `repeat('*', length(t.caller_number::text) - 4)
      || right(t.caller_number::text, 4)`,
    total_duration: TOTAL_DURATION,
    hold_duration: HOLD_DURATION,
    ivr_duration: IVR_DURATION,
    attempted_duration: ATTEMPTED_DURATION,
    answered_duration: `coalesce(t.answered_duration, ${seconds('t.answered_at', until())})`,
    agent_duration: AGENT_DURATION,
    schedule_name: 'h.name',
    ring_pool_id: 'NULL::bigint',
    traffic_source_payout: 't.payout',
    call_sid: 't.carrier_call_id',
    provider: 't.carrier',
    outgoing_webhooks_count: `(
      SELECT count(*)
      FROM webhook_deliveries e
      WHERE e.company_id = t.company_id AND e.call_id = t.id
    )`,
    disposition_key: 'd.key',
    disposition_name: 'd.name',
    attempts_count: `(
      SELECT count(*) FROM call_attempts a WHERE a.company_id = t.company_id AND a.call_id = t.id
    )`,
    sandbox: IS_SANDBOX,
    unbilled_reason: UNBILLED_REASON,
  },
  orders: {
    // The stored value: that of a call in progress grows, which would move it between pages.
    total_duration: { sql: 't.total_duration', type: 'bigint', nullable: true },
  },
  filters: callFilters,
});
export const { projection: callProjection } = call;

const joins = { b: 'LEFT JOIN buyers b ON b.company_id = t.company_id AND b.id = t.buyer_id' };
const filters = { call_id: 't.call_id = {call_id}::bigint' };

// No index serves the searches: the lists are of one call.

export const callEvent = noun({
  schema: 'CallEvent',
  singular: 'call_event',
  plural: 'call_events',
  appendOnly: true,
  search: `lower(t.event || E'\\n' || coalesce(t.message, ''))`,
  joins,
  computed: { buyer: 'b.name' },
  filters,
});

export const callAttempt = noun({
  schema: 'CallAttempt',
  singular: 'call_attempt',
  plural: 'call_attempts',
  appendOnly: true,
  search: `lower(t.status || E'\\n' || t.connect_to)`,
  joins,
  computed: { buyer: 'b.name' },
  filters,
});
export const { projection: callAttemptProjection } = callAttempt;
