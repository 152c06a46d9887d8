import type { Reference } from '../db/records';
import type { Statements } from '../db/tenant';
import { uuidv7 } from '../db/uuid';
import { countryOf } from '../phone/area-codes';
import type { AskedCall } from '../routing/candidates';
import type { RouteFacts } from '../routing/engine/route';
import type { CallFacts } from '../routing/caller-facts';
import { sourceOf, type RoutingContext } from '../routing/load-routing';
import type { PreDialVetoes } from '../routing/pre-dial-webhooks';
import type { AttemptRow, CallRow } from './read-call';
import type { NewCall, NewEvent } from './record-call';
import { factsOfCall, type Routed } from './route-call';
import { sessionOf, type CallSession } from './session';

export interface IncomingCall {
  carrier: string;
  call_sid: string | null;
  /** E.164 without the plus; null when it is withheld. */
  caller_number: number | null;
  caller_city?: string | null;
  caller_state?: string | null;
  caller_zip?: string | null;
  number_called: number | null;
  number_id: string | null;
  /** Null when the number called forwards to a buyer. */
  offer_id: string | null;
  /** The reference as sent. `offer_id` may be the customer's own identifier. */
  unread_offer?: Reference;
  buyer_id: string | null;
  /** Null: use that of the caller's lead. */
  traffic_source_id: string | null;
  sub_id: string | null;
  tokens: Record<string, unknown>;
  vetoes?: PreDialVetoes | undefined;
}

export const askedOf = (incoming: IncomingCall): AskedCall => ({
  source: sourceOf(incoming),
  number: incoming.caller_number,
  traffic_source_id: incoming.traffic_source_id,
  carrier: incoming.carrier,
  call_sid: incoming.call_sid,
});

/** A seller that has reserved a buyer knows best which traffic source the call is from. Pure. */
export function newCallOf(
  incoming: IncomingCall,
  { facts: { lead }, reservation }: Pick<RoutingContext, 'facts' | 'reservation'>,
  now: Date,
): NewCall {
  const { caller_number, offer_id, traffic_source_id, tokens } = incoming;
  const own_source = traffic_source_id === null ? null : Number(traffic_source_id);
  const source = reservation?.traffic_source_id ?? own_source ?? lead?.traffic_source_id ?? null;
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
    traffic_source_id: source,
    sub_id: incoming.sub_id ?? reservation?.sub_id ?? lead?.sub_id ?? null,
    contact_field_type: lead?.contact_field_type ?? null,
    token_values: {
      // The users of a source read the tokens of its calls, and not the leads of other sources.
      ...(isOfOtherSource(lead, source) ? {} : lead?.data),
      ...reservation?.token_values,
      ...tokens,
    },
  };
}

const isOfOtherSource = (lead: CallFacts['lead'], source: number | null): boolean =>
  typeof lead?.traffic_source_id === 'number' &&
  source !== null &&
  lead.traffic_source_id !== source;

interface CallToDecide {
  incoming: IncomingCall;
  call: NewCall;
  found: RoutingContext;
}

export const factsOfNewCall = (
  db: Statements,
  { incoming: { vetoes }, call, found }: CallToDecide,
  now: Date,
): Promise<RouteFacts> =>
  factsOfCall(db, call, found, {
    now,
    tried: new Set(),
    vetoes,
    // The seller was promised that a reserved call is connected.
    is_accepted: found.reservation !== undefined,
    comes_in: true,
  });

export const startedOf = ({ lead_id }: NewCall): NewEvent[] => [
  { event: 'started', details: { lead_id } },
];

/** Built without a read: the call was just written. */
export const newSessionOf = (
  call: NewCall,
  routed: Routed,
  { found, now }: { found: RoutingContext; now: Date },
): CallSession =>
  sessionOf(callRowOf(call, routed, now), attemptRowsOf(routed, now), {
    terms: found.facts.offer,
    fresh: true,
  });

const callRowOf = (call: NewCall, { id, round, set }: Routed, now: Date): CallRow => ({
  ...call,
  ...set,
  id,
  round,
  direction: 'inbound',
  created_at: now,
  connected_at: null,
  conferences: 0,
});

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
