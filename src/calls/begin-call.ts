import type { Db } from '../db/tenant';
import { uuidv7 } from '../db/uuid';
import { maxLegsOf } from '../carriers/carrier';
import { countryOf } from '../phone/area-codes';
import { unknownReferences } from '../db/records';
import { isSourcePaused } from '../offers/is-source-paused';
import { loadRouting, sourceOf } from '../routing/load-routing';
import {
  checkedTransaction,
  isCheckRequired,
  type PreDialCheckRequired,
  type PreDialVetoes,
} from '../routing/pre-dial-webhooks';
import type { CallFacts } from '../routing/caller-facts';
import { findReservation, type AwaitedReservation } from '../routing/reservations';
import { routeFacts } from '../routing/route-facts';
import { newSeed } from '../routing/seed';
import { findCall, lockCallSid, type AttemptRow, type CallRow } from './read-call';
import type { NewCall } from './record-call';
import { routeCall, type Routed } from './route-call';
import { readSession, sessionOf, type CallSession } from './session';

export interface IncomingCall {
  carrier: string;
  /** The id that the carrier or softswitch gave to the call. */
  call_sid: string | null;
  /** E.164 without the plus; null when it is withheld. */
  caller_number: number | null;
  /** As the carrier reports it. */
  caller_city?: string | null;
  caller_state?: string | null;
  caller_zip?: string | null;
  number_called: number | null;
  number_id: string | null;
  /** Null when the number called forwards to a buyer. */
  offer_id: string | null;
  /** The buyer to which the number called forwards; then there is no offer. */
  buyer_id: string | null;
  /** Null: that of the caller's lead. */
  traffic_source_id: string | null;
  sub_id: string | null;
  tokens: Record<string, unknown>;
  /** What webhooks said that are asked before a buyer is dialed. */
  vetoes?: PreDialVetoes | undefined;
}

export interface Begun {
  session: CallSession;
  /** False when the call was reported before. */
  created: boolean;
}

/**
 * Begins a call. It goes to the buyer that a seller has reserved for it, else to the one that
 * routing chooses now; the caps are reserved in the statement that writes the call, or not at all.
 * A call that is reported twice, even at the same time, is one call. Has no effect when the result
 * is that webhooks must be asked first.
 */
export async function beginCall(
  db: Db,
  incoming: IncomingCall,
  now: Date,
): Promise<Begun | PreDialCheckRequired> {
  const { carrier, call_sid, offer_id, caller_number, vetoes } = incoming;
  const known = call_sid === null ? undefined : await findCall(db, carrier, call_sid);
  if (known) return begunBefore(db, known);
  const [found, reservation, source_paused] = await factsOf(db, incoming, now);
  if (!found) throw unknownReferences('offer_id', [String(offer_id)]);
  const { facts, candidates, webhooks } = found;
  const call = newCallOf(incoming, facts, { reservation, now });
  const asked = await routeFacts(db, found, {
    now,
    seed: vetoes?.seed ?? newSeed(),
    caller_number,
    tokens: call.token_values,
    origin: call,
    max_legs: maxLegsOf(call.carrier),
    tried: new Set(),
    vetoes,
    // What a seller has reserved is connected: the seller was promised that.
    source_paused: source_paused && !reservation,
  });
  const events = [{ event: 'started', details: { lead_id: call.lead_id } }];
  const routing = { facts, candidates, webhooks, vetoes, asked, reservation, events };
  const begun = await checkedTransaction<{ known: CallRow } | { routed: Routed }>(
    db,
    async (tx) => {
      if (call_sid !== null) {
        await lockCallSid(tx, carrier, call_sid);
        // Another request may have reported the same call a moment before.
        const other = await findCall(tx, carrier, call_sid);
        if (other) return { known: other };
      }
      const routed = await routeCall(tx, { ...call, round: 0 }, routing);
      return isCheckRequired(routed) ? routed : { routed };
    },
  );
  if (isCheckRequired(begun)) return begun;
  if ('known' in begun) return begunBefore(db, begun.known);
  const session = sessionOf(callRowOf(call, begun.routed, now), attemptRowsOf(begun.routed, now), {
    terms: facts.offer,
    fresh: true,
  });
  return { session, created: true };
}

const begunBefore = async (db: Db, known: CallRow): Promise<Begun> => ({
  session: await readSession(db, known, { fresh: true }),
  created: false,
});

/** What decides about a call that begins, read side by side. */
const factsOf = (db: Db, incoming: IncomingCall, now: Date) => {
  const { offer_id, caller_number, traffic_source_id } = incoming;
  return Promise.all([
    loadRouting(db, { source: sourceOf(incoming), number: caller_number, now }),
    caller_number === null || offer_id === null
      ? undefined
      : findReservation(db, { offer_id, caller_number, now }),
    isSourcePaused(db, traffic_source_id),
  ]);
};

/** A call as it was just written. */
const callRowOf = (call: NewCall, { id, round, dial, set }: Routed, now: Date): CallRow => ({
  ...call,
  ...set,
  id,
  round,
  direction: 'inbound',
  created_at: now,
  buyer_id: dial[0]?.buyer_id ?? null,
  connected_at: null,
  conferences: 0,
});

/** Its attempts as they were just written. */
const attemptRowsOf = ({ round, dial }: Routed, now: Date): AttemptRow[] =>
  dial.map((each) => ({
    uuid: each.attempt,
    status: 'ringing',
    press_one_to_accept: each.press_one_to_accept,
    round,
    buyer_id: each.buyer_id,
    buyer_group_id: each.buyer_group_id,
    created_at: now,
    connected_at: null,
    dial: each,
  }));

interface Context {
  reservation: AwaitedReservation | undefined;
  now: Date;
}

/** A seller that has reserved a buyer knows best which traffic source the call is from. */
function newCallOf(
  incoming: IncomingCall,
  { lead }: CallFacts,
  { reservation, now }: Context,
): NewCall {
  const { caller_number, offer_id, traffic_source_id, tokens } = incoming;
  const own_source = traffic_source_id === null ? null : Number(traffic_source_id);
  return {
    uuid: incoming.vetoes?.uuid ?? uuidv7(now.getTime()),
    carrier: incoming.carrier,
    carrier_call_id: incoming.call_sid,
    caller_number,
    caller_country: countryOf(caller_number),
    caller_city: incoming.caller_city ?? null,
    caller_state: incoming.caller_state ?? null,
    caller_zip: incoming.caller_zip ?? null,
    number_called: incoming.number_called,
    number_id: incoming.number_id,
    offer_id: offer_id === null ? null : Number(offer_id),
    lead_id: lead?.id ?? null,
    schedule_id: lead?.schedule_id ?? null,
    traffic_source_id:
      reservation?.traffic_source_id ?? own_source ?? lead?.traffic_source_id ?? null,
    sub_id: incoming.sub_id ?? reservation?.sub_id ?? lead?.sub_id ?? null,
    contact_field_type: lead?.contact_field_type ?? null,
    token_values: { ...lead?.data, ...reservation?.token_values, ...tokens },
  };
}
