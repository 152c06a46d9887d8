import { identify, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { notFound } from '../../platform/errors';
import {
  listCandidateIds,
  unpackDecision,
  type Decision,
  type StoredBasis,
  type StoredDecision,
} from '../routing/engine/explain';
import { loadBuyerNames } from '../routing/buyer-names';
import type { AttemptState, DialBuyer } from '../routing/engine/progress';
import type { Route } from '../routing/engine/line';
import {
  FIND_ATTEMPT_OF_LEG,
  FIND_CALL_BY_SID,
  LOCK_CALL,
  READ_ATTEMPTS,
  READ_CALL,
  READ_DECISIONS,
  READ_KEY_PRESSES,
} from './queries/calls';

type Sql = Pick<Db, 'sql'>;

/**
 * A call with what routing needs: inbound, or outbound if the carrier asks us what follows an
 * answer.
 */
export interface CallRow {
  id: number;
  uuid: string;
  created_at: Date;
  status: string;
  direction: 'inbound' | 'outbound';
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
  sub_id: string | null;
  caller_city: string | null;
  caller_state: string | null;
  caller_zip: string | null;
  caller_country: string | null;
  connected_at: Date | null;
  ended_at: Date | null;
  /** Seconds; null before they were measured. */
  answered_duration: number | null;
  /** When what the caller got without a buyer was over. */
  fallback_ended_at: Date | null;
  /** The softswitch that has the call, if it said so. */
  switch_id: string | null;
  /** How many conferences the caller and the buyer were sent to, each to play keys. */
  conferences: number;
}

export interface AttemptRow extends AttemptState {
  round: number;
  buyer_id: number;
  buyer_group_id: number | null;
  created_at: Date;
  connected_at: Date | null;
  dial: DialBuyer;
  /** Its trunks, in the order in which they are tried; null where the switch chooses its line. */
  routes: readonly Route[] | null;
  /** The trunk that it is dialed through. */
  trunk_id: number | null;
  /** Trunks that have failed: the others are left. */
  failed_trunk_ids: number[];
}

const SID = 'sid:';

/** The key of a call in a reference, which may be a softswitch's own identifier: `sid:` and it. */
export const identifyCall = (reference: Reference): CallKey | undefined =>
  typeof reference === 'string' && reference.startsWith(SID)
    ? { key: 'sid', value: reference.slice(SID.length) }
    : identify(reference);

export interface CallKey {
  key: 'id' | 'uuid' | 'sid';
  value: string;
}

/** Reads a call without a lock. Throws 404. */
export async function readCall(db: Sql, reference: Reference): Promise<CallRow> {
  const call = await findCallBy(db, reference);
  if (!call) throw notFound();
  return call;
}

/** Like `readCall`; undefined when there is none. */
export async function findCallBy(db: Sql, reference: Reference): Promise<CallRow | undefined> {
  const call = identifyCall(reference);
  return call && (await db.sql(READ_CALL[call.key], { value: call.value }))[0];
}

/**
 * Like `findCallBy`, locked until the transaction ends: events about one call are handled one by
 * one.
 */
export async function lockCall(db: Sql, reference: Reference): Promise<CallRow | undefined> {
  const identifier = identify(reference);
  return identifier && (await db.sql(LOCK_CALL[identifier.key], { value: identifier.value }))[0];
}

/** `call_sid` is the name of the carrier or softswitch for the call. */
export const findCall = async (
  db: Sql,
  carrier: string,
  callSid: string,
): Promise<CallRow | undefined> =>
  (await db.sql(FIND_CALL_BY_SID, { carrier, call_sid: callSid }))[0];

/** In the order in which the buyers were dialed. */
export const readAttempts = async (db: Sql, callId: number): Promise<AttemptRow[]> =>
  (await db.sql(READ_ATTEMPTS, { call_id: callId })) as AttemptRow[];

/** uuid of the attempt for which the carrier named this leg in an earlier event. */
export const findAttemptOfLeg = async (
  db: Sql,
  callId: number,
  legSid: string,
): Promise<string | undefined> =>
  (await db.sql(FIND_ATTEMPT_OF_LEG, { call_id: callId, leg_sid: legSid }))[0]?.attempt ??
  undefined;

/** In the order in which they are to be played. */
export const readKeyPresses = (
  db: Sql,
  callId: number,
): Promise<{ id: number; digits: string }[]> => db.sql(READ_KEY_PRESSES, { call_id: callId });

/** Decisions in order of time, with the names that the buyers have now. */
export async function readDecisions(db: Sql, callId: number): Promise<Decision[]> {
  const rows = await db.sql(READ_DECISIONS, { call_id: callId });
  const ids = new Set(rows.flatMap(({ basis }) => listCandidateIds(basis as StoredBasis)));
  const names = await loadBuyerNames(db, [...ids]);
  return rows.map(({ decision, basis }) =>
    unpackDecision(decision as StoredDecision, basis as StoredBasis, names),
  );
}
