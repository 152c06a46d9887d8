import type { Statements } from '../../data/db';
import { fault, HttpProblem, type FieldFaults } from '../../platform/errors';
import type { Reaction } from '../routing/engine/progress';
import type { CallState } from './call-state';
import { findTaker, type ReportedEvent } from './event-change';
import { READ_REPORTED } from './queries/reported-fields';

// An event of a softswitch with a field that would not be used is refused, so that its sender
// learns that: no accepted value is dropped.

/** Fields with content; `attempt` only says which buyer is meant. */
type Field = 'key' | 'duration' | 'recording_url' | 'hangup_cause' | 'agent_id' | 'answered_by';
/** The reason by field; fields that are used are absent. */
export type Reasons = Partial<Record<Field, string>>;

const NO_TALK = 'no buyer has taken the call: report `answered` first';
const ENDED = 'the call has ended';

/** Why fields are not used once the call has ended, and the event does not tell its actual end. */
export const AFTER_END: Reasons = {
  ...{ key: ENDED, duration: ENDED, hangup_cause: ENDED, agent_id: ENDED },
  recording_url: `${ENDED}: report it by the event \`recording\``,
};

const LATE = 'the step that this event reports is over';

export const TOO_LATE: Reasons = {
  ...{ duration: LATE, hangup_cause: LATE, agent_id: LATE, recording_url: LATE },
  key: 'no key is awaited from that buyer',
};

export function explainLateEnd(state: CallState, reported: ReportedEvent): Reasons {
  const hadBuyer =
    findTaker(state, reported) ?? state.attempts.find(({ connected_at }) => connected_at !== null);
  const reason = 'no buyer of this call is known to have taken it';
  const noKey = { key: nameEvent(reported) };
  return hadBuyer ? noKey : { ...noKey, duration: reason, agent_id: reason };
}

const nameEvent = ({ event }: ReportedEvent): string => `it has no meaning with \`${event}\``;

const ENDS_OF_RINGING: readonly string[] = ['no_answer', 'busy', 'failed'];

export function explainEvent(
  { attempts }: CallState,
  reported: ReportedEvent,
  { connected, over }: Reaction,
): Reasons {
  const { event } = reported;
  const isTalk = connected ?? attempts.find(({ status }) => status === 'connected');
  const tellsTalk = over || event === 'duration';
  const hasCause = over || ENDS_OF_RINGING.includes(event);
  return {
    ...(event !== 'key_press' && { key: nameEvent(reported) }),
    ...(!hasCause && { hangup_cause: nameEvent(reported) }),
    ...(!isTalk && { agent_id: NO_TALK }),
    ...(!tellsTalk && { duration: nameEvent(reported) }),
    ...(tellsTalk && !isTalk && { duration: NO_TALK }),
  };
}

export const explainRecording = (reported: ReportedEvent): Reasons => {
  const reason = nameEvent(reported);
  return { key: reason, duration: reason, hangup_cause: reason, agent_id: reason };
};

export const explainFallback = (reported: ReportedEvent): Reasons => {
  const reason = nameEvent(reported);
  const recording = 'report it by the event `recording`';
  const isEnd = reported.event === 'fallback_ended';
  const noEnd = isEnd ? {} : { duration: reason, hangup_cause: reason };
  return { key: reason, agent_id: reason, recording_url: recording, ...noEnd };
};

/** Blank texts, and 0 seconds, carry nothing. */
const hasContent = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && value !== 0;

/**
 * Throws 409 with each field of an event that would not be used, and why. A value that the call has
 * already, or that an earlier event of this kind has reported, is a repetition, and accepted.
 */
export async function refuseUnused(
  db: Pick<Statements, 'sql'>,
  { call }: Pick<CallState, 'call'>,
  reported: ReportedEvent,
  reasons: Reasons,
): Promise<void> {
  const unused = Object.entries(reasons).filter(([field]) => hasContent(reported[field as Field]));
  if (unused.length === 0) return;
  const isRepeated = await readReported(db, call.id, reported);
  const faults: FieldFaults = {};
  for (const [field, reason] of unused)
    if (!isRepeated(field as Field)) faults[field] = [fault('not_used', `is not used: ${reason}`)];
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
}

/**
 * The predicate is true if the call, or an earlier event of this kind, has the same value of a
 * field.
 */
export async function readReported(
  db: Pick<Statements, 'sql'>,
  callId: number,
  reported: ReportedEvent,
): Promise<(field: Field) => boolean> {
  const [row] = await db.sql(READ_REPORTED, { call_id: callId, event: reported.event });
  const { details, ...call } = row!;
  const attempt = reported.attempt?.toLowerCase();
  const reports = (details as Record<string, unknown>[]).filter(
    (report) => !attempt || String(report.attempt).toLowerCase() === attempt,
  );
  return (field) => {
    const value = String(reported[field]);
    const isStored = field !== 'key' && String(call[field]) === value;
    return isStored || reports.some((report) => String(report[field]) === value);
  };
}
