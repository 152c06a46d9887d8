import { saveRecording } from '../calls/change-call';
import { handleCallEvent, type ReportedEvent } from '../calls/handle-event';
import { findAttemptOfLeg, readAttempts, readCall, type AttemptRow } from '../calls/read-call';
import type { CallStatus } from '../../platform/carriers/carrier';
import type { Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { isOpen } from '../routing/engine/progress';
import { isCheckRequired, type PreDialCheckRequired, type PreDialState } from '../routing/pre-dial';

export interface DialEnd {
  call: Reference;
  round: number;
  /** Result for all buyers together: that one took the call, or why none did. */
  status: CallStatus;
  /** The leg of the buyer that took the call, or that was dialed last. */
  leg_sid: string | undefined;
  duration: number | undefined;
  recording_url: string | undefined;
  /** True if a buyer was connected to the caller; undefined where the carrier does not say. */
  bridged: boolean | undefined;
  caller_left: boolean;
  /** The answer of SIP to the leg, where the carrier says it. */
  sip_code?: number | undefined;
  /** The trunk that the only buyer was dialed through. */
  trunk?: string | undefined;
  preDial?: PreDialState | undefined;
}

/**
 * Handles the end of a round. If a buyer was connected, the call ends. Otherwise no buyer of the
 * round has taken it, and the event of the last of them starts the next round. If it is reported
 * again, or about a round that is over already, it changes nothing; of a call that has ended
 * without this report, it may still say which buyer had it.
 */
export async function endDial(
  db: Db,
  end: DialEnd,
  now: Date,
): Promise<PreDialCheckRequired | undefined> {
  const call = await readCall(db, end.call);
  const handle = (event: ReportedEvent) =>
    handleCallEvent(db, call.id, { ...event, preDial: end.preDial }, now);
  if (end.recording_url) await saveRecording(db, call.id, end.recording_url, now);
  const ofRound = (await readAttempts(db, call.id)).filter(({ round }) => round === end.round);
  const open = ofRound.filter(isOpen);
  const taker =
    ofRound.find(({ connected_at }) => connected_at !== null) ??
    (await findUnreportedTaker(db, call.id, ofRound, end));
  if (taker || end.bridged || end.caller_left || call.ended_at !== null) {
    // If a key is asked for, the carrier's clock starts before it is pressed.
    const duration = taker?.press_one_to_accept ? undefined : end.duration;
    const ofTaker = taker && { attempt: taker.uuid, duration, took_call: true };
    await handle({ event: 'completed', total_duration: end.duration, ...ofTaker });
    return undefined;
  }
  const reportedLeg = end.leg_sid && (await findAttemptOfLeg(db, call.id, end.leg_sid));
  for (const { uuid } of open) {
    const event = toEvent(end.status);
    const isOfLeg = reportedLeg ? uuid === reportedLeg : open.length === 1;
    const answer = event === 'failed' && isOfLeg && { sip_code: end.sip_code, trunk: end.trunk };
    const result = await handle({ event, attempt: uuid, ...answer });
    if (isCheckRequired(result)) return result;
  }
  return undefined;
}

/** Status while a buyer rings, and after the end of a call that has cut off the ringing. */
const MAY_HAVE_TAKEN = new Set<string>(['ringing', 'canceled']);

/**
 * The buyer that took the call if no event said so before: the one of the leg, or the only one that
 * it can be. A buyer who must press 1 did not take it without that event; the carrier also reports
 * completed when such a buyer answers and hangs up.
 */
async function findUnreportedTaker(
  db: Db,
  callId: number,
  ofRound: readonly AttemptRow[],
  { status, leg_sid, bridged }: DialEnd,
): Promise<AttemptRow | undefined> {
  if (bridged === false || (status !== 'completed' && status !== 'in_progress')) return undefined;
  const ringing = ofRound.filter(
    (attempt) => MAY_HAVE_TAKEN.has(attempt.status) && !attempt.press_one_to_accept,
  );
  const takerUuid =
    ringing.length > 0 && leg_sid ? await findAttemptOfLeg(db, callId, leg_sid) : undefined;
  if (takerUuid) return ringing.find(({ uuid }) => uuid === takerUuid);
  return ringing.length === 1 ? ringing[0] : undefined;
}

const toEvent = (status: CallStatus): ReportedEvent['event'] =>
  status === 'busy' || status === 'failed' ? status : 'no_answer';
