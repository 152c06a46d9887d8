import type { CallEvent } from './service';

/** Why a telephone has not answered, or a channel has ended. */
export interface Cause {
  sip_code?: number | undefined;
  q850?: number | undefined;
}

/** Causes of Q.850 by which a telephone rang in vain: none, normal clearing, no answer. */
const IN_VAIN = [0, 16, 18, 19, 26, 127];
/** Statuses of SIP from here on say that a call has failed; with these it rang in vain. */
const FIRST_FAILURE = 300;
const RANG = [408, 480, 487];

/** The event for a telephone that has not answered. */
export function describeFailure({ sip_code, q850 }: Cause): CallEvent {
  if (sip_code !== undefined && RANG.includes(sip_code)) return { event: 'no_answer' };
  if (sip_code !== undefined && sip_code >= FIRST_FAILURE) return { event: 'failed', sip_code };
  if (q850 === undefined || IN_VAIN.includes(q850)) return { event: 'no_answer' };
  return { event: 'failed', q850 };
}
