import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { findHold, type AwaitedHold } from '../db/call-holds';
import { loadCallFacts, type CallFacts } from '../db/call-facts';
import { findCall, insertCall, readCall, type CallRow } from '../db/calls';
import { candidatesOf } from '../db/offer-buyers';
import type { Db } from '../db/tenant';
import { uuidv7 } from '../ids';
import { Refusal } from '../refusal';
import { newSeed, routeCall, routeFacts } from './route-call';

export interface IncomingCall {
  carrier: string;
  /** What whoever carries it calls it. */
  call_sid: string | null;
  /** E.164 without the plus; null when it is withheld. */
  caller_number: number | null;
  number_called: number | null;
  number_id: string | null;
  offer_id: string;
  /** Null: that of the caller's lead. */
  traffic_source_id: string | null;
  sub_id: string | null;
  tokens: Record<string, unknown>;
}

export interface Begun {
  call: CallRow;
  /** Whether it has just begun; else it was told of before. */
  created: boolean;
}

/**
 * Takes a call: whom a seller has had held for it gets it; else who may have it is decided on what is known now, and its caps are taken up together with the record of the call, or not at all. The
 * same call told of twice, even at the same time, is one.
 */
export async function beginCall(db: Db, incoming: IncomingCall, now: Date): Promise<Begun> {
  const { carrier, call_sid, offer_id, caller_number } = incoming;
  const known = call_sid === null ? undefined : await findCall(db, carrier, call_sid);
  if (known) return { call: known, created: false };
  const facts = await loadCallFacts(db, { offer_id, number: caller_number, now });
  if (!facts) throw Refusal.field('offer_id', `names no record of yours: ${offer_id}`);
  const candidates = await candidatesOf(db, offer_id, caller_number ?? 0, now);
  const held = caller_number === null ? undefined : await findHold(db, { offer_id, caller_number, now });
  const row = rowOf(incoming, facts, { held, now });
  const asked = routeFacts(facts, { now, seed: newSeed(), caller_number, tokens: row.token_values, tried: new Set() });
  const id = await db.statements(async (tx) => {
    const made = await insertCall(tx, row, now);
    if (made === undefined) return undefined;
    await routeCall(
      tx,
      { id: made, round: 0, caller_number },
      { facts, candidates, asked, held, events: [{ event: 'started', details: { lead_id: row.lead_id } }] },
    );
    return made;
  });
  // Somebody has told of the same call a moment before.
  if (id === undefined) return { call: (await findCall(db, carrier, call_sid!))!, created: false };
  return { call: (await readCall(db, id))!, created: true };
}

function rowOf(
  { carrier, call_sid, caller_number, number_called, number_id, offer_id, sub_id, traffic_source_id, tokens }: IncomingCall,
  { lead }: CallFacts,
  { held, now }: { held: AwaitedHold | undefined; now: Date },
) {
  return {
    uuid: uuidv7(now.getTime()),
    carrier,
    carrier_call_id: call_sid,
    caller_number,
    caller_country: caller_number === null ? null : (parsePhoneNumberFromString(`+${caller_number}`)?.country ?? null),
    number_called,
    number_id,
    offer_id: Number(offer_id),
    lead_id: lead?.id ?? null,
    schedule_id: lead?.schedule_id ?? null,
    // Who has sold the call knows best where it comes from.
    traffic_source_id: held?.traffic_source_id ?? (traffic_source_id === null ? (lead?.traffic_source_id ?? null) : Number(traffic_source_id)),
    sub_id: sub_id ?? held?.sub_id ?? lead?.sub_id ?? null,
    contact_field_type: lead?.contact_field_type ?? null,
    token_values: { ...lead?.data, ...held?.token_values, ...tokens },
  };
}
