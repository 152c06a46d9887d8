import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { CallFacts } from '../routing/caller-facts';
import { findReservation, type AwaitedReservation } from '../routing/reservations';
import type { NewCall } from './queries/record-call';
import { findCall, lockCallSid, type CallRow } from './queries/calls';
import type { Db } from '../db/tenant';
import { semaphore } from '../db/semaphore';
import { uuidv7 } from '../db/uuid';
import { HttpProblem } from '../errors';
import {
  checkedTransaction,
  isCheckRequired,
  type PreDialCheckRequired,
  type PreDialVetoes,
} from '../routing/pre-dial-webhooks';
import { readSession, sessionOf, type CallSession } from './session';
import { loadRouting, sourceOf } from '../routing/load-routing';
import { routeCall, type Routed } from './route-call';
import { newSeed } from '../routing/seed';
import { routeFacts } from '../routing/route-facts';

export interface IncomingCall {
  carrier: string;
  /** What whoever carries it calls it. */
  call_sid: string | null;
  /** E.164 without the plus; null when it is withheld. */
  caller_number: number | null;
  /** Where whoever carries it says the caller is. */
  caller_city?: string | null;
  number_called: number | null;
  number_id: string | null;
  /** Null when the number called forwards to a buyer. */
  offer_id: string | null;
  /** Whom the number called forwards to: with it there is no offer. */
  buyer_id: string | null;
  /** Null: that of the caller's lead. */
  traffic_source_id: string | null;
  sub_id: string | null;
  tokens: Record<string, unknown>;
  /** What those said who are asked before a buyer is dialed. */
  vetoes?: PreDialVetoes | undefined;
}

export interface Begun {
  session: CallSession;
  /** Whether it has just begun; else it was told of before. */
  created: boolean;
}

/**
 * Takes a call: whom a seller has had held for it gets it; else who may have it is decided on what is known now, and its caps are taken up together with
 * the record of the call, or not at all. The same call told of twice, even at the same time, is one.
 */
export async function beginCall(
  db: Db,
  incoming: IncomingCall,
  now: Date,
): Promise<Begun | PreDialCheckRequired> {
  const { carrier, call_sid, offer_id, caller_number, vetoes } = incoming;
  const told = async (known: CallRow): Promise<Begun> => ({
    session: await readSession(db, known, { fresh: true }),
    created: false,
  });
  const known = call_sid === null ? undefined : await findCall(db, carrier, call_sid);
  if (known) return told(known);
  const [found, held] = await Promise.all([
    loadRouting(db, { source: sourceOf(incoming), number: caller_number, now }),
    caller_number === null || offer_id === null
      ? undefined
      : findReservation(db, { offer_id, caller_number, now }),
  ]);
  if (!found) throw HttpProblem.field('offer_id', `names no record of yours: ${offer_id}`);
  const { facts, candidates, webhooks } = found;
  const call = rowOf(incoming, facts, { held, now });
  const asked = routeFacts(facts, {
    now,
    seed: vetoes?.seed ?? newSeed(),
    caller_number,
    tokens: call.token_values,
    tried: new Set(),
    vetoes,
  });
  const events = [{ event: 'started', details: { lead_id: call.lead_id } }];
  const begun = await inTurn(db, () =>
    checkedTransaction(db, async (tx) => {
      if (call_sid !== null) {
        await lockCallSid(tx, carrier, call_sid);
        const other = await findCall(tx, carrier, call_sid);
        // Somebody has told of the same call a moment before.
        if (other) return other;
      }
      const routed = await routeCall(
        tx,
        { ...call, round: 0 },
        { facts, candidates, webhooks, vetoes, asked, held, events },
      );
      return isCheckRequired(routed) ? routed : newCall(call, routed, now);
    }),
  );
  if (isCheckRequired(begun)) return begun;
  if (!('attempts' in begun)) return told(begun);
  return {
    session: sessionOf(begun.call, begun.attempts, { terms: facts.offer, fresh: true }),
    created: true,
  };
}

/** A call as it has just been written. */
function newCall(call: NewCall, { id, round, dial, set }: Routed, now: Date) {
  const row: CallRow = {
    ...call,
    ...set,
    id,
    round,
    created_at: now,
    buyer_id: dial[0]?.buyer_id ?? null,
    connected_at: null,
  };
  const attempts = dial.map((each) => {
    const { attempt: uuid, press_one_to_accept, buyer_id, buyer_group_id } = each;
    return {
      uuid,
      status: 'ringing' as const,
      press_one_to_accept,
      round,
      buyer_id,
      buyer_group_id,
      created_at: now,
      connected_at: null,
      dial: each,
    };
  });
  return { call: row, attempts };
}

/** Beside them requests of other kinds need connections too. */
const AT_ONCE = 8;
const turns_of = new WeakMap<Db, ReturnType<typeof semaphore>>();

function inTurn<T>(db: Db, work: () => Promise<T>): Promise<T> {
  const turn = turns_of.get(db) ?? semaphore(AT_ONCE);
  turns_of.set(db, turn);
  return turn(work);
}

function rowOf(
  {
    carrier,
    call_sid,
    caller_number,
    caller_city = null,
    number_called,
    number_id,
    offer_id,
    sub_id,
    traffic_source_id,
    tokens,
    vetoes,
  }: IncomingCall,
  { lead }: CallFacts,
  { held, now }: { held: AwaitedReservation | undefined; now: Date },
): NewCall {
  return {
    uuid: vetoes?.uuid ?? uuidv7(now.getTime()),
    carrier,
    carrier_call_id: call_sid,
    caller_number,
    caller_country:
      caller_number === null
        ? null
        : (parsePhoneNumberFromString(`+${caller_number}`)?.country ?? null),
    caller_city,
    number_called,
    number_id,
    offer_id: offer_id === null ? null : Number(offer_id),
    lead_id: lead?.id ?? null,
    schedule_id: lead?.schedule_id ?? null,
    // Who has sold the call knows best where it comes from.
    traffic_source_id:
      held?.traffic_source_id ??
      (traffic_source_id === null ? (lead?.traffic_source_id ?? null) : Number(traffic_source_id)),
    sub_id: sub_id ?? held?.sub_id ?? lead?.sub_id ?? null,
    contact_field_type: lead?.contact_field_type ?? null,
    token_values: { ...lead?.data, ...held?.token_values, ...tokens },
  };
}
