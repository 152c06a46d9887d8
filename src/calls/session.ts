import { readOfferWords, type OfferTerms, type OfferWords } from '../routing/caller-facts';
import { readAttempts, type AttemptRow, type CallRow } from './queries/calls';
import type { Statements } from '../db/tenant';
import { instructionOf, type DialBuyer, type Instruction } from '../routing/engine/instruction';
import { isOpen } from '../routing/engine/progress';
/** How long beyond its ringing a dialed call may tell nothing before it is taken for dead. */
export const RINGING_GRACE_SECONDS = 60;
/** How long a call that goes on may tell nothing before it is taken for dead. */
export const TALKING_LEASE_SECONDS = 900;
/** Beyond what a carrier leaves two connected, which it does without a word. */
const CONNECTED_GRACE_SECONDS = 60;

export interface CallSession {
  id: number;
  uuid: string;
  status: string;
  offer_id: number | null;
  caller_number: string | null;
  number_called: string | null;
  call_sid: string | null;
  instruction: Instruction<DialBuyer>;
}

const withPlus = (number: number | null) => (number === null ? null : `+${number}`);

interface Seen {
  /** Of the offer of the call; needed once nobody is left. */
  terms: Omit<OfferWords, 'greeting_message'> | undefined;
  /** Whether those that ring are to be dialed now. */
  fresh: boolean;
}

/** A call as whoever carries it sees it. */
export function sessionOf(
  call: CallRow,
  attempts: readonly AttemptRow[],
  { terms, fresh }: Seen,
): CallSession {
  const {
    id,
    uuid,
    status,
    offer_id,
    caller_number,
    number_called,
    carrier_call_id,
    fallback,
    hangup_cause,
    ended_at,
  } = call;
  const given =
    fallback !== null && fallback !== 'hang_up' && terms
      ? {
          type: fallback as OfferTerms['fallback_type'],
          message: terms.fallback_message,
          number: terms.fallback_number,
        }
      : null;
  const instruction = instructionOf({
    ended: ended_at !== null,
    fallback: given,
    reason: hangup_cause,
    attempts,
    fresh,
    report_within_seconds: leaseOf(call, attempts),
  });
  return {
    id,
    uuid,
    status,
    offer_id,
    caller_number: withPlus(caller_number),
    number_called: withPlus(number_called),
    call_sid: carrier_call_id,
    instruction,
  };
}

/** While buyers ring, their time and some more; then what a call is given that goes on. Who carries it by TwiML says nothing until it is over. */
export function leaseOf(
  { carrier }: Pick<CallRow, 'carrier'>,
  attempts: readonly AttemptRow[],
): number {
  const open = attempts.filter(isOpen);
  if (carrier === 'twilio' && open.some(({ status }) => status === 'connected'))
    return DIAL_LIMIT_SECONDS + CONNECTED_GRACE_SECONDS;
  const ringing = open
    .filter(({ status }) => status === 'ringing')
    .map(({ dial }) => dial.timeout_seconds);
  return ringing.length === open.length && ringing.length > 0
    ? Math.max(...ringing) + RINGING_GRACE_SECONDS
    : TALKING_LEASE_SECONDS;
}

/** The same of a call that is read anew. */
export async function readSession(
  db: Statements,
  call: CallRow,
  { fresh }: Pick<Seen, 'fresh'>,
): Promise<CallSession> {
  const attempts = await readAttempts(db, call.id);
  const needs_words =
    call.fallback !== null && call.fallback !== 'hang_up' && call.offer_id !== null;
  return sessionOf(call, attempts, {
    terms: needs_words ? await readOfferWords(db, call.offer_id!) : undefined,
    fresh,
  });
}
/** The longest that the carrier leaves two connected; what holds a buyer's slot holds it as long. */
export const DIAL_LIMIT_SECONDS = 14_400;
