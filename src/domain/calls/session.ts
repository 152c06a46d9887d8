import { DIAL_LIMIT_SECONDS, findDialLimit } from '../../platform/carriers/carrier';
import type { Statements } from '../../data/db';
import {
  buildInstruction,
  isOpen,
  type DialBuyer,
  type Instruction,
} from '../routing/engine/progress';
import { readAttempts, readCall, type AttemptRow, type CallRow } from './read-call';
import { loadOfferWords, type OfferTerms, type OfferWords } from '../routing/context';

/** How long after its ring time a dialed call may send no event before it is considered over. */
const RINGING_GRACE_SECONDS = 60;
/** How long a call in progress may send no event before it is considered over. */
export const TALKING_LEASE_SECONDS = 900;
/** In addition to the longest time that a carrier leaves two parties connected. */
const CONNECTED_GRACE_SECONDS = 60;
/** A person who was called, and is connected to no buyer, is not there for longer. */
export const LONGEST_PERSON_SECONDS = DIAL_LIMIT_SECONDS + CONNECTED_GRACE_SECONDS;

/** A call as its carrier or softswitch sees it. */
export interface CallSession {
  id: number;
  uuid: string;
  status: string;
  offer_id: number | null;
  caller_number: string | null;
  number_called: string | null;
  call_sid: string | null;
  instruction: Instruction<DialBuyer>;
  /** The keys to be played to its buyer, where they were read with the call. */
  key_presses?: readonly { id: number; digits: string }[];
}

/** Texts of an offer for its calls. Only a call that is read to be dialed needs the greeting. */
export type SessionWords = Omit<OfferWords, 'greeting_message'> &
  Partial<Pick<OfferWords, 'greeting_message'>>;

const withPlus = (number: number | null) => (number === null ? null : `+${number}`);

interface SessionOptions {
  terms: SessionWords | undefined;
  /** True if the buyers that ring are to be dialed now. */
  fresh: boolean;
}

export function buildSession(
  call: CallRow,
  attempts: readonly AttemptRow[],
  { terms, fresh }: SessionOptions,
): CallSession {
  const instruction = buildInstruction({
    ended: call.ended_at !== null,
    fallback: terms ? buildFallback(call, terms) : null,
    reason: call.hangup_cause,
    greeting: (isGreeted(call) && terms?.greeting_message?.trim()) || null,
    unanswered: call.direction === 'inbound' && !attempts.some(hasTalked),
    attempts,
    fresh,
    max_seconds: DIAL_LIMIT_SECONDS,
    report_within_seconds: computeLease(call, attempts),
  });
  return {
    id: call.id,
    uuid: call.uuid,
    status: call.status,
    offer_id: call.offer_id,
    caller_number: withPlus(call.caller_number),
    number_called: withPlus(call.number_called),
    call_sid: call.carrier_call_id,
    instruction,
  };
}

export const hasFallback = ({ fallback, fallback_ended_at }: CallRow) =>
  fallback !== null && fallback !== 'hang_up' && fallback_ended_at === null;

/** Callers hear the greeting before the first buyers are dialed. */
const isGreeted = ({ direction, round, ended_at }: CallRow): boolean =>
  direction === 'inbound' && round === 1 && ended_at === null;

const hasTalked = ({ status }: AttemptRow): boolean =>
  status === 'connected' || status === 'completed';

function buildFallback(call: CallRow, terms: NonNullable<SessionOptions['terms']>) {
  if (!hasFallback(call)) return null;
  const isOutbound = call.direction === 'outbound';
  return {
    type: call.fallback as OfferTerms['fallback_type'],
    message: isOutbound ? terms.abandoned_message : terms.fallback_message,
    number: terms.fallback_number,
  };
}

/**
 * Seconds within which the next event of a call must arrive. While buyers ring: their ring time and
 * a grace. A carrier that dials by itself may report nothing between its ring and the end of the
 * longest talk: a report that is missing then costs nothing.
 */
export function computeLease(
  { carrier }: Pick<CallRow, 'carrier'>,
  attempts: readonly Pick<AttemptRow, 'status' | 'dial'>[],
): number {
  const open = attempts.filter(isOpen);
  const ringing = open.filter(({ status }) => status === 'ringing');
  const ring = Math.max(0, ...ringing.map(({ dial }) => dial.timeout_seconds));
  const dialLimit = findDialLimit(carrier);
  if (dialLimit !== null && open.length > 0) {
    const isConnected = open.some(({ status }) => status === 'connected');
    return (isConnected ? 0 : ring) + dialLimit + CONNECTED_GRACE_SECONDS;
  }
  return ringing.length === open.length && ringing.length > 0
    ? ring + RINGING_GRACE_SECONDS
    : TALKING_LEASE_SECONDS;
}

export async function readSession(
  db: Statements,
  call: CallRow,
  { fresh }: Pick<SessionOptions, 'fresh'>,
): Promise<CallSession> {
  const attempts = await readAttempts(db, call.id);
  // A call that was read without a lock may have gone on since: then no buyer is left to dial.
  if (call.ended_at === null && attempts.length > 0 && !attempts.some(isOpen)) {
    const current = await readCall(db, String(call.id));
    const hasGoneOn = current.ended_at !== null || current.round > call.round;
    if (hasGoneOn) return readSession(db, current, { fresh });
  }
  const terms =
    (hasFallback(call) || isGreeted(call)) && call.offer_id !== null
      ? await loadOfferWords(db, call.offer_id)
      : undefined;
  return buildSession(call, attempts, { terms, fresh });
}
