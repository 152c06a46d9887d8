import type { Db } from '../../data/db';
import type { CallStatus } from '../../platform/carriers/carrier';
import { HttpProblem } from '../../platform/errors';
import { findLegFailure, type LegFailure } from '../routing/engine/leg-failure';
import { isCheckRequired, type PreDialCheckRequired, type PreDialState } from '../routing/pre-dial';
import { answerCall } from './answer-call';
import { saveRecording } from './change-call';
import { buildDetails, describeEvent, type ReportedEvent } from './event-change';
import { handleCallEvent } from './handle-event';
import { readCurrentSession } from './person-session';
import { READ_OUTBOUND } from './queries/outbound';
import { readCall, type CallRow } from './read-call';
import { recordEvent } from './record-call';
import { refuseUnused, type Reasons } from './refuse-unused';
import { reportOutbound } from './report-outbound';
import type { CallSession } from './session';

// Events of a call that a switch has placed, about the person who is called. They go the same ways
// as the reports of a carrier about such a call.

interface PersonEvent extends ReportedEvent {
  preDial?: PreDialState | undefined;
  /** When it was received, before webhooks were asked. */
  received_at: Date;
}

/** Handles such an event, and returns what to do now. One that is repeated changes nothing. */
export async function handlePersonEvent(
  db: Db,
  call: CallRow,
  reported: PersonEvent,
  now: Date,
): Promise<CallSession | PreDialCheckRequired> {
  const { event } = reported;
  const [outbound] = await db.sql(READ_OUTBOUND, { call_id: call.id });
  const isAnswered = outbound!.answered_at !== null;
  if (isOther(event)) {
    await handleCallEvent(db, call.id, { ...reported, must_be_used: true }, now);
    return reply(db, call);
  }
  await refuseUnused(db, { call }, reported, explainPersonEvent(call, reported, isAnswered));
  if (event === 'answered') return answer(db, call, reported, now);
  if (event === 'ringing' || event === 'early_media') await recordRinging(db, call, now);
  else if (event === 'fallback_started') await noteFallback(db, call, reported, now);
  else await endPersonsCall(db, call, { reported, answered_at: outbound!.answered_at }, now);
  return reply(db, call);
}

/** Not about the leg of the person: such an event has its usual meaning. */
const isOther = (event: ReportedEvent['event']): boolean =>
  ['recording', 'duration', 'key_press', 'held', 'resumed', 'transferred'].includes(event);

async function reply(db: Db, { id }: CallRow, { fresh } = { fresh: false }): Promise<CallSession> {
  return readCurrentSession(db, await readCall(db, id), { fresh });
}

const ENDS_ALONE: readonly string[] = ['no_answer', 'busy', 'failed'];

/** Fields that an event about the person would not use, and why. */
function explainPersonEvent(
  { ended_at, hangup_cause }: CallRow,
  { event }: ReportedEvent,
  isAnswered: boolean,
): Reasons {
  const reason = `it has no meaning with \`${event}\` of the person called`;
  const ends = event === 'completed' || event === 'fallback_ended';
  const isKnown = ended_at !== null && !(isAnswered && hangup_cause === 'lost');
  const over = isKnown ? 'the call has ended' : undefined;
  return {
    ...{ key: reason, agent_id: reason },
    ...(event !== 'answered' && { answered_by: reason }),
    ...(event !== 'completed' && { recording_url: 'report it by the event `recording`' }),
    ...(!(ends && isAnswered) && { duration: 'the person has not answered' }),
    ...(over && { hangup_cause: over, answered_by: over, duration: over }),
    ...(!ends && !ENDS_ALONE.includes(event) && { hangup_cause: reason }),
  };
}

async function answer(
  db: Db,
  call: CallRow,
  { answered_by, preDial, received_at }: PersonEvent,
  now: Date,
): Promise<CallSession | PreDialCheckRequired> {
  const { uuid: key, carrier_call_id } = call;
  const does = await answerCall(
    db,
    { key, call_sid: carrier_call_id!, answered_by, answered_at: received_at, preDial },
    now,
  );
  if (isCheckRequired(does)) return does;
  return reply(db, call, { fresh: does.kind === 'route' && !does.is_repeated });
}

async function recordRinging(
  db: Db,
  { uuid: key, carrier_call_id, ended_at, round }: CallRow,
  now: Date,
): Promise<void> {
  if (ended_at !== null || round > 0) return;
  const report = { key, carrier_call_id: carrier_call_id!, duration: undefined };
  await reportOutbound(db, { ...report, status: 'ringing' }, now);
}

/** Throws 422 for a call whose person gets neither a message nor a fixed number. */
async function noteFallback(
  db: Db,
  call: CallRow,
  reported: PersonEvent,
  now: Date,
): Promise<void> {
  const { instruction } = await reply(db, call);
  if (instruction.action !== 'fallback')
    throw HttpProblem.field('event', 'wrong_state', 'must be about a call that has a fallback now');
  const details = buildDetails(reported);
  await recordEvent(db, { call_id: call.id, event: reported.event, details, now });
}

const STATUSES: Record<LegFailure, CallStatus> = {
  busy: 'busy',
  declined: 'busy',
  no_answer: 'no_answer',
  no_such_number: 'failed',
};

function pickStatus(reported: ReportedEvent, isAnswered: boolean): CallStatus {
  if (isAnswered) return 'completed';
  const { event } = reported;
  if (event === 'failed') return STATUSES[findLegFailure(reported) ?? 'no_such_number'];
  return event === 'busy' || event === 'no_answer' ? event : 'canceled';
}

/** Ends a call in which the person is alone; also one that was only considered over. */
async function endPersonsCall(
  db: Db,
  call: CallRow,
  { reported, answered_at }: { reported: PersonEvent; answered_at: Date | null },
  now: Date,
): Promise<void> {
  const { event, duration, by, recording_url } = reported;
  if (call.round > 0)
    throw HttpProblem.field(
      'attempt',
      'missing_field',
      'must be given: the person who was called has answered, and buyers are dialed',
    );
  const isLost = call.hangup_cause === 'lost' && answered_at !== null && event === 'completed';
  if (call.ended_at !== null && !isLost) return;
  const status = pickStatus(reported, answered_at !== null);
  const sinceAnswer = answered_at ? (now.getTime() - answered_at.getTime()) / 1000 : 0;
  const failure = event === 'failed' ? findLegFailure(reported) : undefined;
  const message =
    failure === 'no_such_number' ? 'there is no such number' : describeEvent(reported);
  const cause = reported.hangup_cause || (by && `${by}_hung_up`) || failure;
  await reportOutbound(
    db,
    {
      ...{ key: call.uuid, carrier_call_id: call.carrier_call_id!, status },
      duration: duration ?? Math.max(0, Math.floor(sinceAnswer)),
      end: {
        ...{ event, message, details: buildDetails(reported) },
        ...(cause && { hangup_cause: cause }),
      },
    },
    now,
  );
  if (recording_url) await saveRecording(db, call.id, recording_url, now);
}
