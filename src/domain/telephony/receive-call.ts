import { startCall, type StartedCall } from '../calls/begin-call';
import { isWithheld } from '../../platform/carriers/twilio-words';
import type { Db } from '../../data/tenant';
import { findCalledNumber } from '../numbers/called-number';
import { callerNumber, loadNumberReader } from '../../data/phone/caller-number';
import type { PreDialCheckRequired, PreDialState } from '../routing/pre-dial-webhooks';

export interface CarrierCall {
  call_sid: string;
  /** A number, a SIP address, or a word for a withheld number. */
  from: string | undefined;
  to: string;
  caller_city: string | undefined;
  caller_state: string | undefined;
  caller_zip: string | undefined;
  preDial?: PreDialState | undefined;
}

/**
 * Starts a call that a carrier reports. Undefined if the number called forwards to nothing. A
 * caller who does not show a telephone number counts as one who withholds it.
 */
export async function receiveCall(
  db: Db,
  { call_sid, from = '', to, preDial, ...caller }: CarrierCall,
  now: Date,
): Promise<StartedCall | PreDialCheckRequired | undefined> {
  const numberCalled = await callerNumber(db, to, 'To');
  const called = await findCalledNumber(db, numberCalled);
  if (!called || (called.offer_id === null && called.buyer_id === null)) return undefined;
  const fromNumber = isWithheld(from) ? null : ((await loadNumberReader(db))(from) ?? null);
  const incoming = {
    ...called,
    carrier: 'twilio',
    call_sid,
    caller_number: fromNumber,
    caller_city: caller.caller_city || null,
    caller_state: caller.caller_state || null,
    caller_zip: caller.caller_zip || null,
    number_called: numberCalled,
    sub_id: null,
    tokens: {},
    preDial,
  };
  return startCall(db, incoming, now);
}
