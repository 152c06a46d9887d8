import type { Db } from '../../data/db';
import { react } from '../routing/engine/progress';
import type { CallState } from './call-state';
import type { CallRow } from './read-call';
import { computeTalkSeconds, prepareBuyerUse } from './event-change';
import { recordChange, type Progress } from './record-change';
import { retryOnPaymentConflict } from './settle';
import { explainLost } from './unbilled-call';

interface Loss {
  /** When the call was last surely live. */
  seen_at: Date;
  message: string;
  now: Date;
}

/**
 * Ends a call whose end was not reported, at the last time at which it was surely live: its buyer
 * has talked at least until then, and pays for that. False when the call has changed since it was
 * read; then nothing was written. A later report about the call still counts.
 */
export async function endLostCall(db: Db, state: CallState, loss: Loss): Promise<boolean> {
  const { call, version, attempts } = state;
  const talking = attempts.find(({ status }) => status === 'connected');
  const measured = { duration: call.answered_duration };
  const seconds = talking ? computeTalkSeconds(talking, measured, loss.seen_at) : null;
  const settle = talking
    ? await prepareBuyerUse(db, state, { talking, connected: undefined, seconds: seconds! })
    : undefined;
  const progress = buildLoss(state, seconds, loss);
  const { recorded } = await retryOnPaymentConflict(
    (paidBefore) => {
      const use = settle?.(paidBefore).use;
      const explained = use ? progress : explainLost(state, progress);
      return { call_id: call.id, version, now: loss.now, progress: explained, use };
    },
    (change) => recordChange(db, change),
  );
  return recorded === 'written';
}

/** The status of a lost call that no buyer had; a person may have answered an outbound one. */
const UNANSWERED = {
  inbound: () => 'no_answer',
  outbound: ({ status }: Pick<CallRow, 'status'>) =>
    status === 'queued' || status === 'ringing' ? 'failed' : 'completed',
};

function buildLoss(
  { call, attempts }: CallState,
  seconds: number | null,
  { seen_at, message, now }: Loss,
): Progress {
  const endedAt = new Date(Math.max(seen_at.getTime(), call.created_at.getTime()));
  return {
    attempts: react(attempts, { event: 'completed' }).changes,
    open: [],
    events: [{ event: 'lost', message }],
    status: seconds === null ? UNANSWERED[call.direction](call) : 'completed',
    connected: undefined,
    ended_at: call.ended_at ?? endedAt,
    answered_duration: seconds,
    hangup_cause: call.hangup_cause ?? 'lost',
    recording_url: null,
    lease_until: now,
  };
}
