import type { Reference } from '../../data/records';
import type { Db } from '../../data/db';
import { HttpProblem, notFound } from '../../platform/errors';
import { pickAttempt, isOpen, react } from '../routing/engine/progress';
import { isCheckRequired, type PreDialCheckRequired, type PreDialState } from '../routing/pre-dial';
import { readCallState, toSession, type CallState } from './call-state';
import {
  changeTrunk,
  findFailedTrunk,
  isPresentTrunk,
  listFailedTrunks,
  toTrunkFault,
  type FailedTrunk,
} from './change-trunk';
import {
  buildDetails,
  buildEventChange,
  buildTalkEnd,
  applyProgress,
  isTalkReport,
  type EventChange,
  type ReportedEvent,
} from './event-change';
import { isOfPerson } from './person-session';
import type { AttemptRow, CallRow } from './read-call';
import type { NewEvent } from './record-call';
import { recordChange, type Progress } from './record-change';
import {
  AFTER_END,
  readReported,
  explainEvent,
  explainFallback,
  explainLateEnd,
  explainRecording,
  refuseUnused,
  TOO_LATE,
} from './refuse-unused';
import { routeKnownCall } from './route-call';
import { type CallSession, computeLease, hasFallback } from './session';
import { retryOnPaymentConflict } from './settle';

export type { ReportedEvent } from './event-change';

interface EventToHandle extends ReportedEvent {
  preDial?: PreDialState | undefined;
  /** Refuse an event with a field that would not be used. */
  must_be_used?: boolean;
  /** Handles an event about the person whom a switch has called, instead of this code. */
  of_person?: (call: CallRow) => Promise<CallSession | PreDialCheckRequired>;
}

/**
 * Handles an event of a call and returns what to do now. Events about one call are handled one by
 * one; one that is repeated or late changes nothing and returns the call as it is.
 */
export function handleCallEvent(
  db: Db,
  reference: Reference,
  reported: EventToHandle & { preDial?: undefined },
  now: Date,
): Promise<CallSession>;
/** For callers that can ask webhooks: has no effect if these must be asked first. */
export function handleCallEvent(
  db: Db,
  reference: Reference,
  reported: EventToHandle,
  now: Date,
): Promise<CallSession | PreDialCheckRequired>;
export async function handleCallEvent(
  db: Db,
  reference: Reference,
  reported: EventToHandle,
  now: Date,
): Promise<CallSession | PreDialCheckRequired> {
  const { event, took_call = false } = reported;
  const mayConnect = took_call || event === 'answered' || event === 'key_press';
  for (let time = 0; time < MAX_READS; time++) {
    const state = await readCallState(db, reference, { may_connect: mayConnect });
    if (!state) throw notFound();
    if (reported.of_person && isOfPerson(state.call, reported))
      return reported.of_person(state.call);
    const handled = await handle(db, state, reported, now);
    if (handled !== 'stale') return handled;
  }
  throw new Error(`the call was changed at each of ${MAX_READS} attempts to write an event`);
}

/**
 * How often a call is read, if something else keeps changing it between the read and the write.
 * Each of these changes was written, so events never block one another.
 */
const MAX_READS = 50;

async function handle(
  db: Db,
  state: CallState,
  reported: EventToHandle,
  now: Date,
): Promise<CallSession | PreDialCheckRequired | 'stale'> {
  const { call, attempts } = state;
  const refuse = async (reasons: Parameters<typeof refuseUnused>[3]) => {
    if (reported.must_be_used) await refuseUnused(db, state, reported, reasons);
  };
  requireOwnAttempt(attempts, reported);
  await refuse({ answered_by: 'it is not about a person whom the switch has called' });
  if (reported.event === 'recording') return recordRecording(db, state, reported, now);
  if (reported.event === 'fallback_started' || reported.event === 'fallback_ended')
    return recordFallback(db, state, reported, now);
  if (isTalkReport(state, reported)) {
    await refuse(explainLateEnd(state, reported));
    return write(db, state, await buildTalkEnd(db, state, reported, now));
  }
  if (call.ended_at !== null) {
    await refuse(AFTER_END);
    // The caller has left what it got without a buyer.
    if (reported.event === 'completed' && hasFallback(call))
      return write(
        db,
        state,
        buildFallbackChange(state, { ...reported, event: 'fallback_ended' }, now),
      );
    return toSession(state);
  }
  requireClear(attempts, reported);
  const failedTrunk = findFailedTrunk(attempts, reported);
  if (failedTrunk) {
    const changed = isPresentTrunk(failedTrunk)
      ? await changeTrunk(db, state, { failed: failedTrunk, reported, now })
      : 'changed';
    if (changed === 'stale') return 'stale';
    if (changed === 'changed') return readRedial(db, state, failedTrunk);
  }
  const reaction = react(attempts, reported);
  if (!reaction.news || (reaction.route && reported.ends_separately)) {
    await refuse(TOO_LATE);
    return toSession(state);
  }
  await refuse(explainEvent(state, reported, reaction));
  const trunkFault = failedTrunk && toTrunkFault(failedTrunk);
  const event = { reaction, reported, now, trunkFault };
  const change = await buildEventChange(db, state, event);
  return reaction.route
    ? routeAgain(db, state, change, { now, preDial: reported.preDial, failedTrunk })
    : write(db, state, change);
}

/** Tells the switch to dial one attempt, through its present trunk. */
async function readRedial(
  db: Db,
  { call }: CallState,
  { attempt }: FailedTrunk,
): Promise<CallSession> {
  const state = await readCallState(db, String(call.id), { may_connect: false });
  if (!state) throw notFound();
  const session = toSession(state, { fresh: true });
  const { instruction } = session;
  const dial = instruction.dial.filter((leg) => leg.attempt === attempt.uuid);
  return { ...session, instruction: { ...instruction, dial } };
}

/** Records the URL of a recording, once for each URL. */
async function recordRecording(
  db: Db,
  state: CallState,
  reported: EventToHandle,
  now: Date,
): Promise<CallSession | 'stale'> {
  requireRecording(reported);
  await refuseUnused(db, state, reported, explainRecording(reported));
  const isReported = await readReported(db, state.call.id, reported);
  if (isReported('recording_url')) return toSession(state);
  return write(db, state, buildRecordingChange(state, reported, now));
}

/** Records what happens while a caller without a buyer gets the fallback of the offer. */
async function recordFallback(
  db: Db,
  state: CallState,
  reported: EventToHandle,
  now: Date,
): Promise<CallSession | 'stale'> {
  const { call } = state;
  if (call.fallback_ended_at !== null) return toSession(state);
  if (call.ended_at === null || !hasFallback(call))
    throw HttpProblem.field('event', 'wrong_state', 'must be about a call that has a fallback now');
  await refuseUnused(db, state, reported, explainFallback(reported));
  return write(db, state, buildFallbackChange(state, reported, now));
}

/** Writes what an event changes if the call is still as it was read. */
async function write(
  db: Db,
  state: CallState,
  { decide }: EventChange,
): Promise<CallSession | 'stale'> {
  const { decision, recorded } = await retryOnPaymentConflict(decide, (change) =>
    recordChange(db, change),
  );
  return recorded === 'stale' ? 'stale' : toSession(applyProgress(state, decision));
}

function requireOwnAttempt(attempts: readonly AttemptRow[], { attempt }: ReportedEvent): void {
  const attemptUuid = attempt?.toLowerCase();
  if (attemptUuid && !attempts.some(({ uuid }) => uuid === attemptUuid))
    throw HttpProblem.field('attempt', 'unknown_reference', 'is not an attempt of this call');
}

/** An event about one of several dialed buyers must say which one. Throws 422. */
function requireClear(attempts: readonly AttemptRow[], reported: ReportedEvent): void {
  if (reported.event === 'completed') return;
  const open = attempts.filter(isOpen);
  if (!reported.attempt && open.length > 1 && !pickAttempt(attempts, reported))
    throw HttpProblem.field(
      'attempt',
      'missing_field',
      `must be given, as several are open: ${open.map(({ uuid }) => uuid).join(', ')}`,
    );
  if (reported.event === 'key_press' && !reported.key)
    throw HttpProblem.field(
      'key',
      'missing_field',
      'must be given with key_press: the key that was pressed',
    );
}

interface Rerouting {
  now: Date;
  preDial: PreDialState | undefined;
  failedTrunk: FailedTrunk | undefined;
}

/**
 * Writes an event that leaves the call without a buyer together with the next round of the call:
 * one exchange, so that no cap is locked while another is waited for.
 */
async function routeAgain(
  db: Db,
  state: CallState,
  change: EventChange,
  { now, preDial, failedTrunk }: Rerouting,
): Promise<CallSession | PreDialCheckRequired | 'stale'> {
  const { call, attempts, version } = state;
  // A call without a buyer uses and pays nothing.
  const { progress } = change.decide(NO_PRIOR_PAYMENT);
  // Buyers that were dialed already are not dialed again.
  const tried = new Set(attempts.map(({ buyer_id }) => buyer_id));
  const turn = {
    ...{ now, preDial, tried, ignoresSourceLimits: true },
    failed_trunks: listFailedTrunks(attempts, failedTrunk),
  };
  const ends = {
    version,
    ended_attempts: progress.attempts,
    events: progress.events,
    recording_url: progress.recording_url,
    trunk_fault: progress.trunk_fault,
  };
  const routed = await routeKnownCall(db, call, turn, ends);
  if (routed === 'stale' || isCheckRequired(routed)) return routed;
  if (routed === undefined) return write(db, state, change);
  const next = await readCallState(db, String(call.id), { may_connect: false });
  if (!next) throw notFound();
  return toSession(next, { fresh: true });
}

const NO_PRIOR_PAYMENT = { buyer_paid: false, source_paid: false };

/** Throws 422 if an event about a recording does not say where it is. */
function requireRecording({ recording_url }: ReportedEvent): void {
  if (!recording_url)
    throw HttpProblem.field(
      'recording_url',
      'missing_field',
      'must be given with recording: where the recording can be fetched',
    );
}

/** Possible at any time. Nothing else of a call that has ended is changed. */
function buildRecordingChange(
  state: CallState,
  { attempt, recording_url }: ReportedEvent,
  now: Date,
): EventChange {
  const { attempts } = state;
  const reportedAttempt = attempts.find(({ uuid }) => uuid === attempt?.toLowerCase());
  const event: NewEvent = {
    event: 'recording',
    message: 'reported where the recording is',
    buyer_id: reportedAttempt?.buyer_id ?? null,
    details: { recording_url, ...(reportedAttempt && { attempt: reportedAttempt.uuid }) },
  };
  return buildNote(state, now, { events: [event], recording_url: recording_url ?? null });
}

function buildFallbackChange(state: CallState, reported: ReportedEvent, now: Date): EventChange {
  const { event, hangup_cause } = reported;
  const note = { event, message: hangup_cause ?? null, details: buildDetails(reported) };
  return buildNote(state, now, { events: [note], ends_fallback: event === 'fallback_ended' });
}

/** A change that leaves a call as it is, but for what is noted. */
function buildNote(
  { call, version, attempts }: CallState,
  now: Date,
  note: Pick<Progress, 'events' | 'ends_fallback'> & Partial<Pick<Progress, 'recording_url'>>,
): EventChange {
  const progress: Progress = {
    ...{ attempts: new Map(), open: attempts.filter(isOpen) },
    ...{ status: call.status, ended_at: null, hangup_cause: null },
    ...{ connected: undefined, answered_duration: null, recording_url: null },
    lease_until: new Date(now.getTime() + computeLease(call, attempts) * 1000),
    ...note,
  };
  return { decide: () => ({ call_id: call.id, version, now, progress }) };
}
