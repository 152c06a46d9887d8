import { handleCallEvent, type ReportedEvent } from '../calls/handle-event';
import { rememberLeg } from '../calls/record-leg';
import { readAttempts, readCall, type CallRow } from '../calls/read-call';
import type { CallStatus } from '../../platform/carriers/carrier';
import type { Reference } from '../../data/records';
import type { Db } from '../../data/db';
import type { PreDialState } from '../routing/pre-dial';

export interface LegReport {
  call: Reference;
  attempt: string;
  status: CallStatus;
  leg_sid: string | undefined;
  /** The answer of SIP to a leg that has failed, where the carrier says it. */
  sip_code?: number | undefined;
  preDial?: PreDialState | undefined;
}

/** The end of a leg alone is no event: the end of the dialing says how it ended. */
const EVENTS: Partial<Record<CallStatus, ReportedEvent['event']>> = {
  ringing: 'ringing',
  in_progress: 'answered',
  busy: 'busy',
  no_answer: 'no_answer',
  failed: 'failed',
};

function toLegEnd(
  { conferences }: CallRow,
  status: string | undefined,
): ReportedEvent['event'] | undefined {
  // A buyer who hangs up instead of pressing a key has declined.
  if (status === 'answered') return 'no_answer';
  // The caller may wait in a conference for this buyer alone.
  return status === 'connected' && conferences > 0 ? 'completed' : undefined;
}

/**
 * Handles what a carrier reports about one of the buyers it dials. The end of the last leg is left
 * to the report of the end of the dialing, which follows at once and says whether the caller is
 * still there: no buyer is dialed, and counted, for a caller who has hung up.
 */
export async function receiveLegStatus(
  db: Db,
  { call: reference, attempt, status, leg_sid, sip_code, preDial }: LegReport,
  now: Date,
): Promise<void> {
  const event = CALL_DEPENDENT.has(status)
    ? await resolveEvent(db, reference, { attempt, status, leg_sid })
    : EVENTS[status];
  if (!event) return;
  const reported = {
    ...{ event, attempt, leg_sid, ends_separately: true, preDial },
    ...(event === 'failed' && { sip_code }),
  };
  await handleCallEvent(db, reference, reported, now);
}

/** Statuses whose meaning, or use, depends on the call. */
const CALL_DEPENDENT = new Set<CallStatus>(['queued', 'ringing', 'completed']);

async function resolveEvent(
  db: Db,
  reference: Reference,
  { attempt, status, leg_sid }: Pick<LegReport, 'attempt' | 'status' | 'leg_sid'>,
): Promise<ReportedEvent['event'] | undefined> {
  const call = await readCall(db, reference);
  const ownAttempt = (await readAttempts(db, call.id)).find(
    ({ uuid }) => uuid === attempt.toLowerCase(),
  );
  if (status === 'completed') return toLegEnd(call, ownAttempt?.status);
  if (ownAttempt && leg_sid) await rememberLeg(db, ownAttempt.uuid, leg_sid);
  return EVENTS[status];
}
