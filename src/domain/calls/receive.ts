import { SOFTSWITCH } from '../../platform/carriers/carrier';
import { readCountry } from '../../data/phone/area-codes';
import {
  callerNumber,
  readReportedCaller,
  requireNotSeveral,
} from '../../data/phone/caller-number';
import type { Schemas } from '../../platform/contract/contract';
import type { Db, Statements } from '../../data/db';
import { findNamed, identify, type Reference } from '../../data/records';
import { uuidv7 } from '../../data/uuid';
import { HttpProblem, rejectInvalidData } from '../../platform/errors';
import { buildTokens } from '../../platform/tokens/lead-data';
import { findCalledNumber, type CalledNumber } from '../numbers/called-number';
import { findTrafficSource } from '../offers/find-traffic-source';
import {
  toSource,
  type CallFacts,
  type RoutingContext,
  type RoutingRequest,
} from '../routing/context';
import type { RouteFacts } from '../routing/engine/evaluate';
import type { PreDialState } from '../routing/pre-dial';
import { findReservedOffer } from '../routing/reservations';
import { resolveSwitch } from '../switches/find-switch';
import type { AttemptRow, CallRow } from './read-call';
import type { NewCall, NewEvent, Round } from './record-call';
import { loadFactsForCall } from './route-call';
import { buildSession, type CallSession } from './session';

// A call that comes in: what is reported of it, and the record with which it starts.

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
  offerReference?: Reference;
  buyer_id: string | null;
  /** Null: use that of the caller's lead. */
  traffic_source_id: string | null;
  sub_id: string | null;
  /** The softswitch that has the call, if it said so. */
  switch_id?: string | null;
  tokens: Record<string, unknown>;
  preDial?: PreDialState | undefined;
}

export interface ReportedCall {
  caller_number?: string | null;
  number_called?: string;
  offer_id?: Reference;
  call_sid?: string | null;
  traffic_source_id?: Reference | null;
  sub_id?: string | null;
  tokens?: Record<string, unknown>;
  sip?: SipOfCall | null;
  switch?: string | null;
}

type SipOfCall = NonNullable<Schemas['SipOfCall']>;

/** Throws 422 for unknown references. */
export async function readIncomingCall(
  db: Db,
  reported: ReportedCall,
  now: Date,
): Promise<IncomingCall> {
  const { caller_number: callerText } = reported;
  const caller = await readReportedCaller(db, callerText ?? '');
  if (caller.number === null) requireNotSeveral(callerText ?? '', 'caller_number');
  const [called, switchId] = await Promise.all([
    findCallTarget(db, reported, { caller_number: caller.number, now }),
    reported.switch ? resolveSwitch(db, reported.switch, 'switch') : null,
  ]);
  const trafficSourceId = reported.traffic_source_id
    ? String(await findTrafficSource(db, reported.traffic_source_id))
    : called.traffic_source_id;
  return {
    ...called,
    carrier: SOFTSWITCH,
    call_sid: reported.call_sid || null,
    caller_number: caller.number,
    traffic_source_id: trafficSourceId,
    sub_id: reported.sub_id ?? null,
    switch_id: switchId,
    tokens: {
      ...caller.tokens,
      ...(reported.sip && readSipTokens(reported.sip)),
      ...readTokens(reported.tokens),
    },
  };
}

/** Tokens under the names that they are stored with. Throws 422. */
export function readTokens(input: Record<string, unknown> | undefined): Record<string, unknown> {
  const { tokens, faults } = buildTokens({}, input ?? {});
  rejectInvalidData(
    faults.map(({ field, message }) => ({
      field: field === 'data' ? 'tokens' : `tokens.${field}`,
      message,
    })),
  );
  return tokens;
}

/** Tokens of a caller's SIP request. Throws 422 for a header without a name. */
function readSipTokens({
  attestation,
  diversion,
  headers = {},
}: SipOfCall): Record<string, string> {
  const tokens: Record<string, string> = {};
  if (attestation) tokens.sip_attestation = attestation;
  if (diversion) tokens.sip_diversion = diversion;
  for (const [header, value] of Object.entries(headers)) {
    const name = header.toLowerCase().replace(/[^a-z0-9]+/g, '_');
    if (name.replaceAll('_', '') === '')
      throw HttpProblem.field('sip.headers', 'invalid_value', 'must have names such as X-Campaign');
    tokens[`sip_${name}`] = value;
  }
  return tokens;
}

export const findOffer = async (db: Db, reference: Reference): Promise<string> =>
  String(await findNamed(db, 'offers', { reference, field: 'offer_id' }));

type CallTarget = Omit<CalledNumber, 'number_id'> &
  Pick<IncomingCall, 'offerReference'> & {
    number_called: number | null;
    number_id: string | null;
  };

/**
 * The offer or the buyer that a call is for: the offer that is named, else that of the number, else
 * that of a reservation which waits for this caller. Throws 422.
 */
async function findCallTarget(
  db: Db,
  request: { number_called?: string; offer_id?: Reference },
  { caller_number, now }: { caller_number: number | null; now: Date },
): Promise<CallTarget> {
  if (request.number_called === undefined && request.offer_id === undefined)
    throw HttpProblem.field('offer_id', 'missing_field', 'must be given, or number_called');
  const numberCalled = (await callerNumber(db, request.number_called, 'number_called')) ?? null;
  const owned = numberCalled === null ? undefined : await findCalledNumber(db, numberCalled);
  const ofNumber = {
    number_called: numberCalled,
    number_id: owned?.number_id ?? null,
    traffic_source_id: owned?.traffic_source_id ?? null,
  };
  if (request.offer_id !== undefined) {
    const identifier = db.accessScope ? undefined : identify(request.offer_id);
    if (identifier?.key === 'id')
      return {
        ...ofNumber,
        offer_id: identifier.value,
        buyer_id: null,
        offerReference: request.offer_id,
      };
    return { ...ofNumber, offer_id: await findOffer(db, request.offer_id), buyer_id: null };
  }
  if (!owned)
    throw HttpProblem.field('number_called', 'unknown_reference', 'is not a number of the company');
  if (owned.offer_id !== null || owned.buyer_id !== null)
    return { ...ofNumber, offer_id: owned.offer_id, buyer_id: owned.buyer_id };
  // Sellers of calls get such a number when an offer has none of its own.
  const offerId =
    caller_number === null ? undefined : await findReservedOffer(db, caller_number, now);
  if (offerId === undefined)
    throw HttpProblem.field(
      'number_called',
      'missing_field',
      'belongs to no offer and forwards to no buyer; give offer_id',
    );
  return { ...ofNumber, offer_id: offerId, buyer_id: null };
}

export const toRoutingRequest = (incoming: IncomingCall): RoutingRequest => ({
  source: toSource(incoming),
  number: incoming.caller_number,
  traffic_source_id: incoming.traffic_source_id,
  carrier: incoming.carrier,
  call_sid: incoming.call_sid,
});

/** A seller that has reserved a buyer knows best which traffic source the call is from. Pure. */
export function buildNewCall(
  incoming: IncomingCall,
  { facts: { lead }, reservation }: Pick<RoutingContext, 'facts' | 'reservation'>,
  now: Date,
): NewCall {
  const { caller_number, offer_id, traffic_source_id, tokens } = incoming;
  const ownSource = traffic_source_id === null ? null : Number(traffic_source_id);
  const source = reservation?.traffic_source_id ?? ownSource ?? lead?.traffic_source_id ?? null;
  return {
    uuid: incoming.preDial?.uuid ?? uuidv7(now.getTime()),
    carrier: incoming.carrier,
    carrier_call_id: incoming.call_sid,
    caller_number,
    caller_country: readCountry(caller_number),
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
    switch_id: incoming.switch_id ?? null,
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
  context: RoutingContext;
}

export const loadFactsForNewCall = (
  db: Statements,
  { incoming: { preDial }, call, context }: CallToDecide,
  now: Date,
): Promise<RouteFacts> =>
  loadFactsForCall(db, call, context, {
    now,
    tried: new Set(),
    preDial,
    // The seller was promised that a reserved call is connected.
    ignoresSourceLimits: context.reservation !== undefined,
    countsAgainstSource: true,
  });

export const buildStartEvents = ({ lead_id }: NewCall): NewEvent[] => [
  { event: 'started', details: { lead_id } },
];

type RoutedCall = Pick<Round, 'round' | 'dial' | 'routes' | 'set'> & { id: number };

/** Built without a read: the call was just written. */
export const buildNewSession = (
  call: NewCall,
  routed: RoutedCall,
  { context, now }: { context: RoutingContext; now: Date },
): CallSession =>
  buildSession(toCallRow(call, routed, now), toAttemptRows(routed, now), {
    terms: context.facts.offer,
    fresh: true,
  });

const toCallRow = (call: NewCall, { id, round, set }: RoutedCall, now: Date): CallRow => ({
  ...call,
  ...set,
  id,
  round,
  direction: 'inbound',
  created_at: now,
  connected_at: null,
  fallback_ended_at: null,
  answered_duration: null,
  conferences: 0,
});

const toAttemptRows = ({ round, dial, routes }: RoutedCall, now: Date): AttemptRow[] =>
  dial.map((buyer) => ({
    uuid: buyer.attempt,
    status: 'ringing',
    press_one_to_accept: buyer.press_one_to_accept,
    round,
    buyer_id: buyer.buyer_id,
    buyer_group_id: buyer.buyer_group_id,
    created_at: now,
    connected_at: null,
    dial: buyer,
    routes: routes.get(buyer.attempt) ?? null,
    trunk_id: routes.get(buyer.attempt)?.[0]!.trunk_id ?? null,
    failed_trunk_ids: [],
  }));
