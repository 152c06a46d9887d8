import { findNamed, identify, type Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { HttpProblem, rejectInvalidData } from '../../platform/errors';
import { findCalledNumber, type CalledNumber } from '../numbers/called-number';
import { findTrafficSource } from '../offers/find-traffic-source';
import { callerNumber } from '../../data/phone/caller-number';
import { findReservedOffer } from '../routing/reservations';
import { buildTokens } from '../../platform/tokens/lead-data';
import type { IncomingCall } from './new-call';
import { SOFTSWITCH } from './update-call';

export interface ReportedCall {
  caller_number?: string | null;
  number_called?: string;
  offer_id?: Reference;
  call_sid?: string | null;
  traffic_source_id?: Reference | null;
  sub_id?: string | null;
  tokens?: Record<string, unknown>;
}

/** Throws 422 for unknown references. */
export async function readIncomingCall(
  db: Db,
  reported: ReportedCall,
  now: Date,
): Promise<IncomingCall> {
  const callerNumber = await readCaller(db, reported.caller_number);
  const called = await findCallTarget(db, reported, { caller_number: callerNumber, now });
  const trafficSourceId = reported.traffic_source_id
    ? String(await findTrafficSource(db, reported.traffic_source_id))
    : called.traffic_source_id;
  return {
    ...called,
    carrier: SOFTSWITCH,
    call_sid: reported.call_sid || null,
    caller_number: callerNumber,
    traffic_source_id: trafficSourceId,
    sub_id: reported.sub_id ?? null,
    tokens: readTokens(reported.tokens),
  };
}

const WITHHELD = /^(anonymous|restricted|unknown|unavailable|private|withheld|blocked)?$/i;

/** Null when the number is withheld. Throws 422. */
export async function readCaller(db: Db, input: string | null | undefined): Promise<number | null> {
  if (input === undefined || input === null || WITHHELD.test(input.trim())) return null;
  return (await callerNumber(db, input, 'caller_number')) ?? null;
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
