import type { TakenSlot } from '../../buyers/caps';
import type { StoredDecision } from '../../routing/engine/decision';
import type { DialBuyer } from '../../routing/engine/instruction';
import type { AttemptStatus } from '../../routing/engine/progress';
import type { AttemptRow } from './calls';
import { template } from '../../db/statement';
import type { Statements } from '../../db/tenant';
import { SLOT } from '../../db/counters';

// What happens to a call, written: each in one statement.

export interface NewCall {
  uuid: string;
  carrier: string;
  carrier_call_id: string | null;
  caller_number: number | null;
  caller_country: string | null;
  caller_city: string | null;
  number_called: number | null;
  number_id: string | null;
  offer_id: number | null;
  lead_id: number | null;
  schedule_id: number | null;
  traffic_source_id: number | null;
  sub_id: string | null;
  contact_field_type: string | null;
  token_values: Record<string, unknown>;
}

export interface NewEvent {
  event: string;
  message?: string | null;
  buyer_id?: number | null;
  details?: Record<string, unknown> | null;
}

const EVENTS = `INSERT INTO call_events (company_id, created_at, call_id, event, message, buyer_id, details)
    SELECT {company_id}, {now}::timestamptz, c.id, x.event, x.message, x.buyer_id, x.details FROM c, json_to_recordset({events}::json) AS x(event text, message text, buyer_id bigint, details jsonb)`;

/** What looking for a buyer has come to. */
export interface Round {
  round: number;
  now: Date;
  decision: StoredDecision;
  dial: readonly DialBuyer[];
  slots: readonly TakenSlot[];
  lease_until: Date;
  events: readonly NewEvent[];
  /** What the call is from now on. */
  set: {
    status: string;
    fallback: string | null;
    hangup_cause: string | null;
    ended_at: Date | null;
  };
}

/** Has the lead of the call `c` be told of it (lead-calls.ts). Who tells it at the moment is waited for: it may have read what was before. */
const news = (
  condition: string,
) => `w AS (INSERT INTO lead_calls (company_id, call_id, changed_at) SELECT {company_id}, c.id, {now}::timestamptz FROM c WHERE c.lead_id IS NOT NULL AND ${condition}
    ON CONFLICT (company_id, call_id) DO UPDATE SET changed_at = excluded.changed_at)`;

/** The rows of a round for the call whose id is in `c`. */
const ROWS = `a AS (INSERT INTO call_attempts (company_id, uuid, created_at, call_id, round, buyer_id, buyer_group_id, connect_to, status, timeout_seconds, press_one_to_accept, dial)
    SELECT {company_id}, (d.dial->>'attempt')::uuid, {now}::timestamptz, c.id, {round}::int, (d.dial->>'buyer_id')::bigint, (d.dial->>'buyer_group_id')::bigint, d.dial->>'number', 'ringing',
      (d.dial->>'timeout_seconds')::int, (d.dial->>'press_one_to_accept')::boolean, d.dial FROM c, jsonb_array_elements({dial}::jsonb) WITH ORDINALITY AS d(dial, place) ORDER BY d.place),
  s AS (INSERT INTO call_slots (company_id, call_id, call_limit_id, connections, conversions, revenue, lease_until)
    SELECT {company_id}, c.id, x.call_limit_id, x.connections, x.conversions, x.revenue, {lease_until}::timestamptz
    FROM c, json_to_recordset({slots}::json) AS x(call_limit_id bigint, connections int, conversions int, revenue numeric)),
  d AS (INSERT INTO call_decisions (company_id, call_id, round, created_at, decision) SELECT {company_id}, c.id, {round}::int, {now}::timestamptz, {decision}::json FROM c),
  ${news('{buyer_id}::bigint IS NOT NULL')},
  e AS (${EVENTS})`;

const BEGIN = template(
  `WITH c AS (INSERT INTO calls (company_id, uuid, created_at, updated_at, direction, status, carrier, carrier_call_id, from_number, caller_number, caller_country, caller_city, to_number, number_id, offer_id, lead_id,
      schedule_id, traffic_source_id, sub_id, contact_field_type, token_values, round, fallback, hangup_cause, ended_at, buyer_id, connect_to)
    VALUES ({company_id}, {uuid}::uuid, {now}::timestamptz, {now}::timestamptz, 'inbound', {status}, {carrier}, {carrier_call_id}, {caller_number}::bigint, {caller_number}::bigint, {caller_country}, {caller_city},
      {number_called}::bigint, {number_id}::bigint, {offer_id}::bigint, {lead_id}::bigint, {schedule_id}::bigint, {traffic_source_id}::bigint, {sub_id}, {contact_field_type}, {token_values}::jsonb,
      {round}::int, {fallback}, {hangup_cause}, {ended_at}::timestamptz, {buyer_id}::bigint, {connect_to}) RETURNING id, lead_id),
  n AS (INSERT INTO record_counts (company_id, resource, slot, n) SELECT {company_id}, 'calls', ${SLOT}, 1 FROM c ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + 1),
  ${ROWS}
  SELECT id::float8 AS id FROM c`,
  { prepared: true },
);

const GO_ON = template(
  `WITH c AS (UPDATE calls SET status = {status}, fallback = {fallback}, hangup_cause = {hangup_cause}, ended_at = {ended_at}::timestamptz, round = {round}::int, updated_at = {now}::timestamptz,
      buyer_id = coalesce({buyer_id}::bigint, buyer_id), connect_to = coalesce({connect_to}, connect_to),
      total_duration = CASE WHEN {ended_at}::timestamptz IS NULL THEN total_duration ELSE extract(epoch FROM {ended_at}::timestamptz - created_at)::int END
    WHERE company_id = {company_id} AND id = {call_id}::bigint RETURNING id, lead_id),
  ${ROWS}
  SELECT id::float8 AS id FROM c`,
  { prepared: true },
);

/**
 * Writes what looking for a buyer has come to (attempts, slots, decision, events, and the call as it now is) of a call that is known, or of a new one
 * together with that; answers its id.
 */
export async function recordRound(
  db: Statements,
  call: NewCall | number,
  { dial, events, slots, set, now, lease_until, decision, round }: Round,
): Promise<number> {
  const values = {
    ...set,
    company_id: db.company_id,
    round,
    now: now.toISOString(),
    ended_at: set.ended_at?.toISOString() ?? null,
    lease_until: lease_until.toISOString(),
    buyer_id: dial[0]?.buyer_id ?? null,
    connect_to: dial[0]?.number ?? null,
    decision: JSON.stringify(decision),
    dial: JSON.stringify(dial),
    slots: JSON.stringify(slots),
    events: JSON.stringify(events),
  };
  const statement =
    typeof call === 'number'
      ? GO_ON({ ...values, call_id: call })
      : BEGIN({ ...call, ...values, token_values: JSON.stringify(call.token_values) });
  return (await db.query<{ id: number }>(statement))[0]!.id;
}

/** What an event has changed of a call. */
export interface Progress {
  call_id: number;
  now: Date;
  attempts: ReadonlyMap<string, AttemptStatus>;
  events: readonly NewEvent[];
  status: string;
  /** Whom it was just connected to. */
  connected: Pick<AttemptRow, 'buyer_id' | 'dial'> | undefined;
  ended_at: Date | null;
  answered_duration: number | null;
  hangup_cause: string | null;
  recording_url: string | null;
  lease_until: Date;
}

const PROGRESS = template(
  `WITH c AS (UPDATE calls SET status = {status}, updated_at = {now}::timestamptz, buyer_id = coalesce({buyer_id}::bigint, buyer_id), connect_to = coalesce({connect_to}, connect_to),
      answered_at = CASE WHEN {has_answer}::boolean THEN coalesce(answered_at, {now}::timestamptz) ELSE answered_at END,
      connected_at = CASE WHEN {buyer_id}::bigint IS NULL THEN connected_at ELSE coalesce(connected_at, {now}::timestamptz) END,
      ended_at = coalesce({ended_at}::timestamptz, ended_at), answered_duration = coalesce({answered_duration}::int, answered_duration),
      total_duration = CASE WHEN {ended_at}::timestamptz IS NULL THEN total_duration ELSE extract(epoch FROM {ended_at}::timestamptz - created_at)::int END,
      hangup_cause = coalesce({hangup_cause}, hangup_cause), recording_url = coalesce({recording_url}, recording_url)
    WHERE company_id = {company_id} AND id = {call_id}::bigint RETURNING id, lead_id),
  ${news('{buyer_id}::bigint IS NOT NULL')},
  a AS (UPDATE call_attempts t SET status = x.status,
      answered_at = CASE WHEN x.status IN ('answered', 'connected') THEN coalesce(t.answered_at, {now}::timestamptz) ELSE t.answered_at END,
      connected_at = CASE WHEN x.status = 'connected' THEN {now}::timestamptz ELSE t.connected_at END,
      ended_at = CASE WHEN x.status IN ('ringing', 'answered', 'connected') THEN NULL ELSE {now}::timestamptz END
    FROM json_to_recordset({attempts}::json) AS x(uuid uuid, status text) WHERE t.company_id = {company_id} AND t.uuid = x.uuid),
  s AS (UPDATE call_slots SET lease_until = {lease_until}::timestamptz WHERE company_id = {company_id} AND call_id = {call_id}::bigint),
  e AS (${EVENTS})
  SELECT 1`,
  { prepared: true },
);

/** Writes what an event has changed. */
export async function recordProgress(
  db: Statements,
  { attempts, events, connected, now, ended_at, lease_until, ...progress }: Progress,
): Promise<void> {
  const statuses = [...attempts].map(([uuid, status]) => ({ uuid, status }));
  await db.query(
    PROGRESS({
      ...progress,
      company_id: db.company_id,
      now: now.toISOString(),
      ended_at: ended_at?.toISOString() ?? null,
      lease_until: lease_until.toISOString(),
      buyer_id: connected?.buyer_id ?? null,
      connect_to: connected?.dial.number ?? null,
      has_answer: statuses.some(({ status }) => status === 'answered' || status === 'connected'),
      attempts: JSON.stringify(statuses),
      events: JSON.stringify(events),
    }),
  );
}
