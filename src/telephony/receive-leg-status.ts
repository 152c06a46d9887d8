import type { CallStatus } from '../carriers/carrier';
import { readAttempts, readCall } from '../calls/queries/calls';
import type { Reference } from '../db/records';
import type { Db } from '../db/tenant';
import type { PreDialVetoes } from '../routing/pre-dial-webhooks';
import { handleCallEvent, type CallNews } from '../calls/handle-event';

/** What a carrier says of the leg to one buyer. */
export interface AttemptReport {
  call: Reference;
  attempt: string;
  status: CallStatus;
  leg_sid: string | undefined;
  vetoes?: PreDialVetoes | undefined;
}

/** That a leg is over says by itself nothing: how, and for whom, the end of the dialing tells. */
const EVENTS: Partial<Record<CallStatus, CallNews['event']>> = {
  ringing: 'ringing',
  in_progress: 'answered',
  busy: 'busy',
  no_answer: 'no_answer',
  failed: 'failed',
};

/**
 * Takes what a carrier says of one of the buyers it dials. The end of the last that rings is left to the end of the dialing, which comes right after
 * and knows whether the caller is still there: nobody is dialed, and counted, for a caller who has gone.
 */
export async function receiveAttemptStatus(
  db: Db,
  { call: reference, attempt, status, leg_sid, vetoes }: AttemptReport,
  now: Date,
): Promise<void> {
  const call = await readCall(db, reference);
  const own = (await readAttempts(db, call.id)).find(({ uuid }) => uuid === attempt.toLowerCase());
  // Who hangs up instead of pressing a key has declined.
  const event = status === 'completed' && own?.status === 'answered' ? 'no_answer' : EVENTS[status];
  if (event)
    await handleCallEvent(db, call.id, { event, attempt, leg_sid, told_again: true, vetoes }, now);
}
