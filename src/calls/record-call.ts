import type { TakenSlot } from '../buyers/caps';
import type { Db } from '../db/tenant';
import type { Basis } from '../routing/engine/basis';
import type { StoredDecision } from '../routing/engine/decision';
import type { DialBuyer } from '../routing/engine/instruction';
import { INSERT_CALL, INSERT_EVENT, RECORD_ROUND } from './queries/record-call';

// The writers of inbound calls and of their rounds, each of one statement.

/** An inbound call before it is written. */
export interface NewCall {
  uuid: string;
  carrier: string;
  carrier_call_id: string | null;
  caller_number: number | null;
  caller_country: string | null;
  caller_city: string | null;
  caller_state: string | null;
  caller_zip: string | null;
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
  details?: object | null;
}

/** The outcome of one search for a buyer. */
export interface Round {
  round: number;
  now: Date;
  decision: StoredDecision;
  basis: Basis;
  dial: readonly DialBuyer[];
  /** Whether the carrier rings all of these as long as the one that rings longest. */
  dials_as_one: boolean;
  /** Seconds for which that one rings. */
  longest: number;
  slots: readonly TakenSlot[];
  lease_until: Date;
  events: readonly NewEvent[];
  /** The columns of the call from now on; without a new buyer it keeps the one that it has. */
  set: {
    status: string;
    fallback: string | null;
    hangup_cause: string | null;
    ended_at: Date | null;
    abandoned?: boolean;
    buyer_id: number | null;
    connect_to: string | null;
  };
}

/** Writes a new call with its first round (attempts, slots, decision, events); returns its id. */
export async function recordNewCall(
  db: Pick<Db, 'sql'>,
  call: NewCall,
  round: Round,
): Promise<number> {
  const token_values = JSON.stringify(call.token_values);
  const [row] = await db.sql(INSERT_CALL, { ...call, ...valuesOf(round), token_values });
  return row!.id;
}

/** Writes a further round of a call: attempts, slots, decision, events, and the changed call. */
export async function recordRound(
  db: Pick<Db, 'sql'>,
  call_id: number,
  round: Round,
): Promise<void> {
  const abandoned = round.set.abandoned ?? false;
  await db.sql(RECORD_ROUND, { ...valuesOf(round), abandoned, call_id });
}

function valuesOf({ set, decision, basis, dial, slots, events, ...round }: Round) {
  return {
    ...round,
    ...set,
    decision: JSON.stringify(decision),
    basis_hash: basis.hash,
    basis: basis.text,
    dial: JSON.stringify(dial),
    slots: JSON.stringify(slots),
    events: JSON.stringify(events),
  };
}

/** Writes one event of a call. */
export async function recordEvent(
  db: Pick<Db, 'sql'>,
  {
    event,
    message = null,
    buyer_id = null,
    details,
    call_id,
    now,
  }: NewEvent & {
    call_id: number;
    now: Date;
  },
): Promise<void> {
  await db.sql(INSERT_EVENT, {
    call_id,
    event,
    message,
    buyer_id,
    details: details ? JSON.stringify(details) : null,
    now,
  });
}
