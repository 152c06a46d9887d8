import {
  candidateIds,
  unpackDecision,
  type Decision,
  type StoredDecision,
} from '../../routing/engine/decision';
import type { DialBuyer } from '../../routing/engine/instruction';
import type { AttemptState } from '../../routing/engine/progress';
import { notFound } from '../../errors';
import { identify, type Reference } from '../../db/records';
import { template } from '../../db/statement';
import type { Statements } from '../../db/tenant';

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
  call_sid: template(`${CALL} AND c.carrier = {carrier} AND c.carrier_call_id = {value}`, {
    prepared: true,
  }),
};
const LOCK = {
  id: template(`${CALL} AND c.id = {value}::bigint FOR UPDATE`, { prepared: true }),
  uuid: template(`${CALL} AND c.uuid = {value}::uuid FOR UPDATE`, { prepared: true }),
};

/** A caller's call, without a lock. Refuses with 404. */
export async function readCall(db: Statements, reference: Reference): Promise<CallRow> {
  const named = identify(reference);
  const [call] = named
    ? await db.query<CallRow>(READ[named.key]({ company_id: db.company_id, value: named.value }))
    : [];
  if (!call) throw notFound();
  return call;
}

/** The same, locked until the transaction ends: of two events about a call one waits for the other. */
export async function lockCall(db: Statements, reference: Reference): Promise<CallRow | undefined> {
  const named = identify(reference);
  return (
    named &&
    (await db.query<CallRow>(LOCK[named.key]({ company_id: db.company_id, value: named.value })))[0]
  );
}

/** The call that whoever carries it knows by `call_sid`. */
export const findCall = async (
  db: Statements,
  carrier: string,
  call_sid: string,
): Promise<CallRow | undefined> =>
  (
    await db.query<CallRow>(READ.call_sid({ company_id: db.company_id, carrier, value: call_sid }))
  )[0];

const LOCK_SID = template(
  `SELECT pg_advisory_xact_lock(hashtextextended({company_id}::text || '/' || {carrier} || '/' || {call_sid}, 4109))`,
  {
    prepared: true,
  },
);

/** Lets others who are told of the same call wait until the transaction ends. */
export async function lockCallSid(
  db: Statements,
  carrier: string,
  call_sid: string,
): Promise<void> {
  await db.query(LOCK_SID({ company_id: db.company_id, carrier, call_sid }));
}

const ATTEMPTS = template(
  `SELECT a.uuid::text, a.status, a.press_one_to_accept, a.round, a.buyer_id::float8 AS buyer_id, a.buyer_group_id::float8 AS buyer_group_id, a.created_at, a.connected_at, a.dial
    FROM call_attempts a WHERE a.company_id = {company_id} AND a.call_id = {call_id}::bigint ORDER BY a.id`,
  { prepared: true },
);

/** The buyers that were dialed for a call, in their order. */
export const readAttempts = (db: Statements, call_id: number): Promise<AttemptRow[]> =>
  db.query<AttemptRow>(ATTEMPTS({ company_id: db.company_id, call_id }));

const RECORDING = template(
  'UPDATE calls SET recording_url = {recording_url}, updated_at = {now}::timestamptz WHERE company_id = {company_id} AND id = {call_id}::bigint AND recording_url IS NULL',
  { prepared: true },
);

/** Keeps where the recording of a call is, also of one that is over: the first that is told. */
export async function saveRecording(
  db: Statements,
  call_id: number,
  recording_url: string,
  now: Date,
): Promise<void> {
  await db.query(
    RECORDING({ company_id: db.company_id, call_id, recording_url, now: now.toISOString() }),
  );
}

const LEG = template(
  `SELECT e.details->>'attempt' AS attempt FROM call_events e WHERE e.company_id = {company_id} AND e.call_id = {call_id}::bigint AND e.details->>'leg_sid' = {leg_sid} LIMIT 1`,
  { prepared: true },
);

/** uuid of the attempt whose leg the carrier has named so before. */
export const attemptOfLeg = async (
  db: Statements,
  call_id: number,
  leg_sid: string,
): Promise<string | undefined> =>
  (await db.query<{ attempt: string }>(LEG({ company_id: db.company_id, call_id, leg_sid })))[0]
    ?.attempt;

const DECISIONS = template(
  `SELECT d.decision FROM call_decisions d WHERE d.company_id = {company_id} AND d.call_id = {call_id}::bigint ORDER BY d.round`,
  {
    prepared: true,
  },
);

const NAMES = template(
  `SELECT b.id::float8 AS id, b.name FROM buyers b WHERE b.company_id = {company_id} AND b.id = ANY({ids}::bigint[])`,
  { prepared: true },
);

/** The decisions about a call, the first first; buyers by the names they now have. */
export async function readDecisions(db: Statements, call_id: number): Promise<Decision[]> {
  const rows = await db.query<{ decision: StoredDecision }>(
    DECISIONS({ company_id: db.company_id, call_id }),
  );
  const ids = new Set(rows.flatMap(({ decision }) => candidateIds(decision)));
  const named = await db.query<{ id: number; name: string | null }>(
    NAMES({ company_id: db.company_id, ids: [...ids] }),
  );
  const names = new Map(named.map(({ id, name }) => [id, name]));
  return rows.map(({ decision }) => unpackDecision(decision, names));
}
