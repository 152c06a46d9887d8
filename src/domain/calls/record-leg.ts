import type { Carrier } from '../../platform/carriers/carrier';
import type { Db } from '../../data/db';
import { MARK_RECORDED, SET_LEG } from './queries/legs';
import { readAttempts, type CallRow } from './read-call';
import { recordEvent } from './record-call';

/** Saves the carrier's name for the leg of an attempt whose ringing may have to be stopped. */
export async function rememberLeg(
  db: Pick<Db, 'sql'>,
  attempt: string,
  legSid: string,
): Promise<void> {
  await db.sql(SET_LEG, { attempt, leg_sid: legSid });
}

interface Leg {
  call: Pick<CallRow, 'id' | 'carrier'>;
  attempt: string;
  leg_sid: string;
  report_to: string;
}

/**
 * Records the leg of the buyer that has taken a call, if this buyer wants that and another of its
 * round does not: otherwise the carrier records all of the round, or none. Asks the carrier once,
 * and keeps in the events of the call that it did, or why it could not.
 */
export async function recordLeg(
  db: Db,
  { call, attempt, leg_sid, report_to }: Leg,
  { carrier, now }: { carrier: Carrier; now: Date },
): Promise<void> {
  const attempts = await readAttempts(db, call.id);
  const ownAttempt = attempts.find(({ uuid }) => uuid === attempt.toLowerCase());
  if (ownAttempt?.status !== 'connected' || !ownAttempt.dial.record_calls) return;
  const ofRound = attempts.filter(({ round }) => round === ownAttempt.round);
  if (ofRound.every(({ dial }) => dial.record_calls)) return;
  const marked = await db.sql(MARK_RECORDED, { attempt: ownAttempt.uuid, now });
  if (marked.length === 0) return;
  const failure = await startAt(carrier, { call, leg_sid, report_to });
  await recordEvent(db, {
    call_id: call.id,
    event: failure === undefined ? 'recording' : 'recording_failed',
    message: failure ?? 'the carrier records the call with this buyer',
    buyer_id: ownAttempt.buyer_id,
    now,
  });
}

/** The failure as a text; undefined if the carrier records. */
async function startAt(
  carrier: Carrier,
  { call, leg_sid, report_to }: Omit<Leg, 'attempt'>,
): Promise<string | undefined> {
  if (carrier.name !== call.carrier)
    return `the call is at ${call.carrier}, and this service uses ${carrier.name}`;
  const started = await carrier.startRecording(leg_sid, report_to);
  return started.ok ? undefined : started.message;
}
