import { beginCall, type Begun } from '../calls/begin-call';
import { isWithheld } from '../carriers/twilio-words';
import type { Db } from '../db/tenant';
import { calledNumber } from '../numbers/called-number';
import { callerNumber, numberReaderOf } from '../phone/caller-number';
import type { PreDialCheckRequired, PreDialVetoes } from '../routing/pre-dial-webhooks';

export interface CarrierCall {
  call_sid: string;
  /** A number, a SIP address, or a word for a withheld number. */
  from: string | undefined;
  to: string;
  caller_city: string | undefined;
  caller_state: string | undefined;
  caller_zip: string | undefined;
  vetoes?: PreDialVetoes | undefined;
}

/**
 * Starts a call that a carrier reports. Undefined if the number called forwards to nothing. A
 * caller who does not show a telephone number counts as one who withholds it.
 */
export async function receiveCall(
  db: Db,
  { call_sid, from = '', to, vetoes, ...caller }: CarrierCall,
  now: Date,
): Promise<Begun | PreDialCheckRequired | undefined> {
  const number_called = await callerNumber(db, to, 'To');
  const called = await calledNumber(db, number_called);
  if (!called || (called.offer_id === null && called.buyer_id === null)) return undefined;
  const caller_number = isWithheld(from) ? null : ((await numberReaderOf(db))(from) ?? null);
  const incoming = {
    ...called,
    carrier: 'twilio',
    call_sid,
    caller_number,
    caller_city: caller.caller_city || null,
    caller_state: caller.caller_state || null,
    caller_zip: caller.caller_zip || null,
    number_called,
    sub_id: null,
    tokens: {},
    vetoes,
  };
  return beginCall(db, incoming, now);
}
