import { isWithheld } from '../carriers/twilio-words';
import { calledNumber } from '../numbers/queries/called-number';
import { callerNumber, numberReaderOf } from '../phone/caller-number';
import type { Db } from '../db/tenant';
import type { PreDialCheckRequired, PreDialVetoes } from '../routing/pre-dial-webhooks';
import { beginCall, type Begun } from '../calls/begin-call';

export interface CarriedIn {
  call_sid: string;
  /** As the carrier has it: a number, a SIP address, or a word for a withheld one. */
  from: string | undefined;
  /** A number of ours. */
  to: string;
  caller_city: string | undefined;
  vetoes?: PreDialVetoes | undefined;
}

/** Takes a call that a carrier brings. Undefined when the number called leads nowhere. A caller who shows no telephone number is one who withholds it. */
export async function receiveCall(
  db: Db,
  { call_sid, from = '', to, caller_city, vetoes }: CarriedIn,
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
    caller_city: caller_city || null,
    number_called,
    sub_id: null,
    tokens: {},
    vetoes,
  };
  return beginCall(db, incoming, now);
}
