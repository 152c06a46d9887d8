import type { TakenSlot } from '../routing/held';
import { unpacked, type Decision, type StoredDecision } from '../routing/decision';
import type { AttemptState, AttemptStatus } from '../routing/progress';
import { SLOT } from './lead-logs';
import { identify, type Reference } from './records';
import { template } from './statement';
import type { Statements } from './tenant';

/** What is needed to dial a buyer, as it is given out. */
export interface DialBuyer {
  attempt: string;
  buyer_id: number;
  user_buyer_id: string | null;
  name: string | null;
  buyer_group_id: number | null;
  /** + and digits, or a SIP address. */
  number: string;
  timeout_seconds: number;
  /** + and digits; null for none. */
  caller_id: string | null;
  dtmf_tones: string | null;
  press_one_to_accept: boolean;
  record_calls: boolean;
}

/** A call as its routing needs it. */
export interface CallRow {
  id: number;
  uuid: string;
  created_at: Date;
  status: string;
  carrier: string;
  carrier_call_id: string | null;
  /** E.164 without the plus; null when it is withheld. */
  caller_number: number | null;
  number_called: number | null;
  offer_id: number | null;
  lead_id: number | null;
  traffic_source_id: number | null;
  buyer_id: number | null;
  round: number;
  fallback: string | null;
  hangup_cause: string | null;
  token_values: Record<string, unknown>;
  connected_at: Date | null;
  ended_at: Date | null;
}

export interface AttemptRow extends AttemptState {
  round: number;
  buyer_id: number;
  buyer_group_id: number | null;
  created_at: Date;
  connected_at: Date | null;
  dial: DialBuyer;
}

const number = (column: string) => `c.${column}::float8 AS ${column}`;
const CALL = `SELECT ${['id', 'caller_number', 'offer_id', 'lead_id', 'traffic_source_id', 'buyer_id'].map(number).join(', ')}, c.to_number::float8 AS number_called, c.uuid::text, c.created_at, c.status,
  c.carrier, c.carrier_call_id, c.round, c.fallback, c.hangup_cause, c.token_values, c.connected_at, c.ended_at FROM calls c WHERE c.company_id = {company_id} AND c.direction = 'inbound' AND c.deleted_at IS NULL`;

const READ = {
  id: template(`${CALL} AND c.id = {value}::bigint`, { prepared: true }),
  uuid: template(`${CALL} AND c.uuid = {value}::uuid`, { prepared: true }),
  call_sid: template(`${CALL} AND c.carrier = {carrier} AND c.carrier_call_id = {value}`, { prepared: true }),
};
const LOCK = {
  id: template(`${CALL} AND c.id = {value}::bigint FOR UPDATE`, { prepared: true }),
  uuid: template(`${CALL} AND c.uuid = {value}::uuid FOR UPDATE`, { prepared: true }),
};

/** A caller's call, without a lock; undefined when there is none. */
export async function readCall(db: Statements, reference: Reference): Promise<CallRow | undefined> {
  const named = identify(reference);
  return named && (await db.query<CallRow>(READ[named.key]({ company_id: db.company_id, value: named.value })))[0];
}

/** The same, locked until the transaction ends: of two events about a call one waits for the other. */
export async function lockCall(db: Statements, reference: Reference): Promise<CallRow | undefined> {
  const named = identify(reference);
  return named && (await db.query<CallRow>(LOCK[named.key]({ company_id: db.company_id, value: named.value })))[0];
}

/** The call that whoever carries it knows by `call_sid`. */
export const findCall = async (db: Statements, carrier: string, call_sid: string): Promise<CallRow | undefined> =>
  (await db.query<CallRow>(READ.call_sid({ company_id: db.company_id, carrier, value: call_sid })))[0];

const ATTEMPTS = template(
  `SELECT a.uuid::text, a.status, a.press_one_to_accept, a.round, a.buyer_id::float8 AS buyer_id, a.buyer_group_id::float8 AS buyer_group_id, a.created_at, a.connected_at, a.dial
    FROM call_attempts a WHERE a.company_id = {company_id} AND a.call_id = {call_id}::bigint ORDER BY a.id`,
  { prepared: true },
);

/** The buyers that were dialed for a call, in their order. */
export const readAttempts = (db: Statements, call_id: number): Promise<AttemptRow[]> => db.query<AttemptRow>(ATTEMPTS({ company_id: db.company_id, call_id }));

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

const INSERT = template(
  `WITH c AS (INSERT INTO calls (company_id, uuid, created_at, updated_at, direction, status, carrier, carrier_call_id, from_number, caller_number, caller_country, caller_city, to_number, number_id, offer_id, lead_id,
      schedule_id, traffic_source_id, sub_id, contact_field_type, token_values)
    VALUES ({company_id}, {uuid}::uuid, {now}::timestamptz, {now}::timestamptz, 'inbound', 'ringing', {carrier}, {carrier_call_id}, {caller_number}::bigint, {caller_number}::bigint, {caller_country}, {caller_city},
      {number_called}::bigint, {number_id}::bigint, {offer_id}::bigint, {lead_id}::bigint, {schedule_id}::bigint, {traffic_source_id}::bigint, {sub_id}, {contact_field_type}, {token_values}::jsonb)
    ON CONFLICT (company_id, carrier, carrier_call_id) DO NOTHING RETURNING id),
  n AS (INSERT INTO record_counts (company_id, resource, slot, n) SELECT {company_id}, 'calls', ${SLOT}, 1 FROM c ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + 1)
  SELECT id::float8 AS id FROM c`,
  { prepared: true },
);

/** Writes a call that has come in and answers its id; undefined when whoever carries it has told of it before. */
export async function insertCall(db: Statements, call: NewCall, now: Date): Promise<number | undefined> {
  const values = { ...call, company_id: db.company_id, now: now.toISOString(), token_values: JSON.stringify(call.token_values) };
  return (await db.query<{ id: number }>(INSERT(values)))[0]?.id;
}

export interface NewEvent {
  event: string;
  message?: string | null;
  buyer_id?: number | null;
  details?: Record<string, unknown> | null;
}

/** What looking for a buyer has come to. */
export interface Round {
  call_id: number;
  round: number;
  now: Date;
  /** JSON of the decision. */
  decision: string;
  dial: readonly (DialBuyer & { status: AttemptStatus })[];
  slots: readonly TakenSlot[];
  lease_until: Date;
  events: readonly NewEvent[];
  /** What the call is from now on. */
  set: { status: string; fallback: string | null; hangup_cause: string | null; ended_at: Date | null };
}

const EVENTS = `INSERT INTO call_events (company_id, created_at, call_id, event, message, buyer_id, details)
    SELECT {company_id}, {now}::timestamptz, {call_id}::bigint, x.event, x.message, x.buyer_id, x.details FROM json_to_recordset({events}::json) AS x(event text, message text, buyer_id bigint, details jsonb)`;

const ROUND = template(
  `WITH c AS (UPDATE calls SET status = {status}, fallback = {fallback}, hangup_cause = {hangup_cause}, ended_at = {ended_at}::timestamptz, round = {round}::int, updated_at = {now}::timestamptz,
      buyer_id = coalesce({buyer_id}::bigint, buyer_id), connect_to = coalesce({connect_to}, connect_to),
      total_duration = CASE WHEN {ended_at}::timestamptz IS NULL THEN total_duration ELSE extract(epoch FROM {ended_at}::timestamptz - created_at)::int END
    WHERE company_id = {company_id} AND id = {call_id}::bigint),
  a AS (INSERT INTO call_attempts (company_id, uuid, created_at, call_id, round, buyer_id, buyer_group_id, connect_to, status, timeout_seconds, press_one_to_accept, dial)
    SELECT {company_id}, x.attempt, {now}::timestamptz, {call_id}::bigint, {round}::int, x.buyer_id, x.buyer_group_id, x.number, x.status, x.timeout_seconds, x.press_one_to_accept, x.dial
    FROM json_to_recordset({attempts}::json) AS x(attempt uuid, buyer_id bigint, buyer_group_id bigint, number text, status text, timeout_seconds int, press_one_to_accept boolean, dial jsonb)),
  s AS (INSERT INTO call_slots (company_id, call_id, call_limit_id, connections, conversions, revenue, lease_until)
    SELECT {company_id}, {call_id}::bigint, x.call_limit_id, x.connections, x.conversions, x.revenue, {lease_until}::timestamptz
    FROM json_to_recordset({slots}::json) AS x(call_limit_id bigint, connections int, conversions int, revenue numeric)),
  d AS (INSERT INTO call_decisions (company_id, call_id, round, created_at, decision) VALUES ({company_id}, {call_id}::bigint, {round}::int, {now}::timestamptz, {decision}::jsonb)),
  e AS (${EVENTS})
  SELECT 1`,
  { prepared: true },
);

/** Writes what looking for a buyer has come to: attempts, slots, decision, events, and the call as it now is. */
export async function recordRound(db: Statements, { dial, events, slots, set, now, lease_until, ...round }: Round): Promise<void> {
  const attempts = dial.map(({ status, ...each }) => ({ ...each, status, dial: each }));
  await db.query(
    ROUND({
      ...round,
      ...set,
      company_id: db.company_id,
      now: now.toISOString(),
      ended_at: set.ended_at?.toISOString() ?? null,
      lease_until: lease_until.toISOString(),
      buyer_id: dial[0]?.buyer_id ?? null,
      connect_to: dial[0]?.number ?? null,
      attempts: JSON.stringify(attempts),
      slots: JSON.stringify(slots),
      events: JSON.stringify(events),
    }),
  );
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
    WHERE company_id = {company_id} AND id = {call_id}::bigint),
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
export async function recordProgress(db: Statements, { attempts, events, connected, now, ended_at, lease_until, ...progress }: Progress): Promise<void> {
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

const FREE = template(
  `WITH gone AS (DELETE FROM call_slots s USING call_limits l WHERE s.company_id = {company_id} AND s.call_id = {call_id}::bigint AND l.company_id = s.company_id AND l.id = s.call_limit_id
      AND NOT EXISTS (SELECT FROM call_attempts a WHERE a.company_id = s.company_id AND a.call_id = s.call_id AND a.ended_at IS NULL AND (a.buyer_id = l.buyer_id OR a.buyer_group_id = l.buyer_group_id))
      RETURNING s.*),
    locked AS (SELECT l.id FROM call_limits l WHERE l.company_id = {company_id} AND l.id IN (SELECT call_limit_id FROM gone) ORDER BY (l.buyer_group_id IS NULL), l.buyer_group_id, l.buyer_id FOR NO KEY UPDATE)
  UPDATE call_limits l SET concurrency_cap_used = greatest(0, l.concurrency_cap_used - 1), pending_connections = l.pending_connections - gone.connections,
    pending_conversions = l.pending_conversions - gone.conversions, pending_revenue = l.pending_revenue - gone.revenue
    FROM locked JOIN gone ON gone.call_limit_id = locked.id WHERE l.company_id = {company_id} AND l.id = locked.id`,
  { prepared: true },
);

/** Gives back the slots of a call that none of its open attempts needs any more: each once, since who deletes the row gives the slot back. */
export async function freeSlots(db: Statements, call_id: number): Promise<void> {
  await db.query(FREE({ company_id: db.company_id, call_id }));
}

const RECORDING = template(
  'UPDATE calls SET recording_url = {recording_url}, updated_at = {now}::timestamptz WHERE company_id = {company_id} AND id = {call_id}::bigint AND recording_url IS NULL',
  { prepared: true },
);

/** Keeps where the recording of a call is, also of one that is over: the first that is told. */
export async function keepRecording(db: Statements, call_id: number, recording_url: string, now: Date): Promise<void> {
  await db.query(RECORDING({ company_id: db.company_id, call_id, recording_url, now: now.toISOString() }));
}

const LEG = template(
  `SELECT e.details->>'attempt' AS attempt FROM call_events e WHERE e.company_id = {company_id} AND e.call_id = {call_id}::bigint AND e.details->>'leg_sid' = {leg_sid} LIMIT 1`,
  { prepared: true },
);

/** uuid of the attempt whose leg the carrier has named so before. */
export const attemptOfLeg = async (db: Statements, call_id: number, leg_sid: string): Promise<string | undefined> =>
  (await db.query<{ attempt: string }>(LEG({ company_id: db.company_id, call_id, leg_sid })))[0]?.attempt;

const settled = (columns: string, pending: string) =>
  template(
    `WITH old AS (SELECT s.* FROM call_slots s JOIN call_limits l ON l.company_id = s.company_id AND l.id = s.call_limit_id
        WHERE s.company_id = {company_id} AND s.call_id = {call_id}::bigint AND (l.buyer_id = {buyer_id}::bigint OR l.buyer_group_id = {buyer_group_id}::bigint)),
      locked AS (SELECT l.id FROM call_limits l WHERE l.company_id = {company_id} AND l.id IN (SELECT call_limit_id FROM old) ORDER BY (l.buyer_group_id IS NULL), l.buyer_group_id, l.buyer_id FOR NO KEY UPDATE),
      s AS (UPDATE call_slots s SET ${columns} FROM old WHERE s.company_id = {company_id} AND s.call_id = {call_id}::bigint AND s.call_limit_id = old.call_limit_id)
    UPDATE call_limits l SET ${pending} FROM locked JOIN old ON old.call_limit_id = locked.id WHERE l.company_id = {company_id} AND l.id = locked.id`,
    { prepared: true },
  );

const SETTLED = {
  connection: settled('connections = 0', 'pending_connections = l.pending_connections - old.connections'),
  conversion: settled(
    'conversions = 0, revenue = 0',
    'pending_conversions = l.pending_conversions - old.conversions, pending_revenue = l.pending_revenue - old.revenue',
  ),
};

/** What a call might come to has come: it is pending no more, and is counted as used in the same transaction. The call is locked. */
export async function settlePending(
  db: Statements,
  what: keyof typeof SETTLED,
  { call_id, buyer_id, buyer_group_id }: { call_id: number; buyer_id: number; buyer_group_id: number | null },
): Promise<void> {
  await db.query(SETTLED[what]({ company_id: db.company_id, call_id, buyer_id, buyer_group_id }));
}

const DECISIONS = template(`SELECT d.decision FROM call_decisions d WHERE d.company_id = {company_id} AND d.call_id = {call_id}::bigint ORDER BY d.round`, {
  prepared: true,
});

const NAMES = template(`SELECT b.id::float8 AS id, b.name FROM buyers b WHERE b.company_id = {company_id} AND b.id = ANY({ids}::bigint[])`, { prepared: true });

/** The decisions about a call, the first first; buyers by the names they now have. */
export async function readDecisions(db: Statements, call_id: number): Promise<Decision[]> {
  const rows = await db.query<{ decision: StoredDecision }>(DECISIONS({ company_id: db.company_id, call_id }));
  const ids = new Set(rows.flatMap(({ decision }) => decision.candidates.map(([buyer_id]) => buyer_id as number)));
  const named = await db.query<{ id: number; name: string | null }>(NAMES({ company_id: db.company_id, ids: [...ids] }));
  const names = new Map(named.map(({ id, name }) => [id, name]));
  return rows.map(({ decision }) => unpacked(decision, names));
}
