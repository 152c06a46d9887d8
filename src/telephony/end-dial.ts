import type { CallStatus } from '../carriers/carrier';
import {
  attemptOfLeg,
  saveRecording,
  readAttempts,
  readCall,
  type AttemptRow,
} from '../calls/queries/calls';
import type { Reference } from '../db/records';
import type { Db } from '../db/tenant';
import { isOpen } from '../routing/engine/progress';
import {
  isCheckRequired,
  type PreDialCheckRequired,
  type PreDialVetoes,
} from '../routing/pre-dial-webhooks';
import { handleCallEvent, type CallNews } from '../calls/handle-event';

/** What a carrier says when it no longer dials the buyers of a round. */
export interface DialEnd {
  call: Reference;
  round: number;
  /** Of all of them as one: that somebody took the call, or why nobody did. */
  status: CallStatus;
  /** What the carrier calls the leg of the buyer that took the call, or was tried last. */
  leg_sid: string | undefined;
  /** Seconds since a buyer answered. */
  duration: number | undefined;
  recording_url: string | undefined;
  /** Whether it was connected to the caller; undefined where the carrier does not say. */
  bridged: boolean | undefined;
  /** Whether the caller has hung up. */
  caller_left: boolean;
  vetoes?: PreDialVetoes | undefined;
}

/**
 * Takes it that a round is over: a buyer that was connected ends the call, everybody else of it has not taken the call, and who is next is looked
 * for with the last of them. Told again, or of a round that was settled before, it changes nothing.
 */
export async function endDial(
  db: Db,
  end: DialEnd,
  now: Date,
): Promise<PreDialCheckRequired | undefined> {
  const call = await readCall(db, end.call);
  const tell = (news: CallNews) =>
    handleCallEvent(db, call.id, { ...news, vetoes: end.vetoes }, now);
  if (end.recording_url) await saveRecording(db, call.id, end.recording_url, now);
  const open = (await readAttempts(db, call.id)).filter(
    (attempt) => attempt.round === end.round && isOpen(attempt),
  );
  const took =
    open.find(({ status }) => status === 'connected') ?? (await unheard(db, call.id, open, end));
  if (took?.status === 'ringing') await tell({ event: 'answered', attempt: took.uuid });
  if (took || end.bridged || end.caller_left) {
    // Where a key is asked for the carrier's clock starts before it is pressed.
    const duration = took?.press_one_to_accept ? undefined : end.duration;
    await tell({ event: 'completed', duration: took && duration });
    return undefined;
  }
  for (const { uuid } of open) {
    const result = await tell({ event: eventOf(end.status), attempt: uuid });
    if (isCheckRequired(result)) return result;
  }
  return undefined;
}

/**
 * Who took the call where that was not told before its end: the buyer of the leg, or the only one it can be. Who must press 1 has not, unless it did:
 * the carrier calls it completed too when such a buyer answers and hangs up.
 */
async function unheard(
  db: Db,
  call_id: number,
  open: readonly AttemptRow[],
  { status, leg_sid, bridged }: DialEnd,
): Promise<AttemptRow | undefined> {
  if (bridged === false || (status !== 'completed' && status !== 'in_progress')) return undefined;
  const ringing = open.filter(
    (attempt) => attempt.status === 'ringing' && !attempt.press_one_to_accept,
  );
  const named =
    ringing.length > 0 && leg_sid ? await attemptOfLeg(db, call_id, leg_sid) : undefined;
  if (named) return ringing.find(({ uuid }) => uuid === named);
  return ringing.length === 1 ? ringing[0] : undefined;
}

const eventOf = (status: CallStatus): CallNews['event'] =>
  status === 'busy' || status === 'failed' ? status : 'no_answer';
