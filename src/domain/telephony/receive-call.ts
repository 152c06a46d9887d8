import type { CarrierName, CallStatus } from '../../platform/carriers/carrier';
import type { Db } from '../../data/db';
import { readReportedCaller, requirePossible } from '../../data/phone/caller-number';
import { parseOwnNumber } from '../../data/phone/parse-number';
import { handleCallEvent } from '../calls/handle-event';
import type { CallRow } from '../calls/read-call';
import { startCall, type StartedCall } from '../calls/start';
import { findCalledNumber } from '../numbers/called-number';
import { loadOfferWords } from '../routing/context';
import type { PreDialCheckRequired, PreDialState } from '../routing/pre-dial';

// The beginning and the end of an incoming call, as a carrier reports them.

export const readOwnNumber = (text: string): number =>
  requirePossible(parseOwnNumber(text), text, 'To');

export interface CarrierCall {
  /** The name of the carrier. */
  carrier: CarrierName;
  call_sid: string;
  /** A number, a SIP address, or a word for a withheld number. */
  from: string | undefined;
  to: string;
  caller_city?: string | undefined;
  caller_state?: string | undefined;
  caller_zip?: string | undefined;
  preDial?: PreDialState | undefined;
}

/**
 * Starts a call that a carrier reports. Undefined if the number called forwards to nothing. A
 * caller who does not show a telephone number counts as one who withholds it.
 */
export async function receiveCall(
  db: Db,
  { carrier, call_sid, from, to, preDial, ...caller }: CarrierCall,
  now: Date,
): Promise<StartedCall | PreDialCheckRequired | undefined> {
  const numberCalled = readOwnNumber(to);
  const called = await findCalledNumber(db, numberCalled);
  if (!called || (called.offer_id === null && called.buyer_id === null)) return undefined;
  const reported = await readReportedCaller(db, from);
  const incoming = {
    ...called,
    carrier,
    call_sid,
    caller_number: reported.number,
    caller_city: caller.caller_city || null,
    caller_state: caller.caller_state || null,
    caller_zip: caller.caller_zip || null,
    number_called: numberCalled,
    sub_id: null,
    tokens: reported.tokens,
    preDial,
  };
  return startCall(db, incoming, now);
}

export interface CallEnd {
  /** The caller's side is only answered when a buyer answers, where nothing is said. */
  answers_with_buyer: boolean;
  call: CallRow;
  status: CallStatus;
  /** Seconds since the caller's side was answered. */
  duration: number | undefined;
}

/**
 * Ends a call. The report of the end of the dialing says how long a buyer has talked. Without that
 * report the clock decides, up to the time that the caller was there.
 */
export async function endCall(db: Db, end: CallEnd, now: Date): Promise<void> {
  const { call, duration } = end;
  const tookCall = await wasTakenUnseen(db, end);
  const ofTaker = tookCall && { duration, took_call: tookCall };
  const event = { event: 'completed', total_duration: duration, ...ofTaker } as const;
  await handleCallEvent(db, call.id, event, now);
}

/**
 * True if a buyer had a call of which nothing was reported before it was considered over. A caller
 * who hears no greeting is only answered when a buyer is: then the caller's side lasted as long as
 * the buyer has talked.
 */
async function wasTakenUnseen(
  db: Db,
  { call, status, duration, answers_with_buyer }: CallEnd,
): Promise<boolean> {
  if (!answers_with_buyer) return false;
  const isUnseen = call.hangup_cause === 'lost' && call.connected_at === null;
  const isAnswered = status === 'completed' && (duration ?? 0) > 0;
  if (!isUnseen || !isAnswered || call.direction === 'outbound') return false;
  const words = call.offer_id === null ? undefined : await loadOfferWords(db, call.offer_id);
  return !words?.greeting_message?.trim();
}
