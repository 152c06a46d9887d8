import { HttpProblem } from '../../platform/errors';
import { isOpen } from '../routing/engine/progress';
import type { CallState } from './call-state';
import type { EventChange, ReportedEvent } from './event-change';
import { computeLease } from './session';

/** Throws 422 if an event about a recording does not say where it is. */
export function requireRecording({ recording_url }: ReportedEvent): void {
  if (!recording_url)
    throw HttpProblem.field(
      'recording_url',
      'missing_field',
      'must be given with recording: where the recording can be fetched',
    );
}

/** Possible at any time. Nothing else of a call that has ended is changed. */
export function buildRecordingChange(
  { call, version, attempts }: CallState,
  { attempt, recording_url }: ReportedEvent,
  now: Date,
): EventChange {
  const reportedAttempt = attempts.find(({ uuid }) => uuid === attempt?.toLowerCase());
  const event = {
    event: 'recording',
    message: 'reported where the recording is',
    buyer_id: reportedAttempt?.buyer_id ?? null,
    details: { recording_url, ...(reportedAttempt && { attempt: reportedAttempt.uuid }) },
  };
  const progress = {
    ...{ attempts: new Map(), open: attempts.filter(isOpen), events: [event] },
    ...{ status: call.status, ended_at: null, hangup_cause: null },
    ...{ connected: undefined, answered_duration: null },
    recording_url: recording_url ?? null,
    lease_until: new Date(now.getTime() + computeLease(call, attempts) * 1000),
  };
  return { decide: () => ({ call_id: call.id, version, now, progress }) };
}
