import type { Reference } from '../db/records';
import type { Db } from '../db/tenant';
import { HttpProblem, notFound } from '../errors';
import { attemptOf, isOpen, react } from '../routing/engine/progress';
import {
  checkedTransaction,
  isCheckRequired,
  type PreDialCheckRequired,
  type PreDialVetoes,
} from '../routing/pre-dial-webhooks';
import { readCallState, sessionOfState, type CallState } from './call-state';
import { untilAgreed } from './convert-call';
import {
  changeByEvent,
  endByTalk,
  stateAfter,
  tellsTalk,
  type EventChange,
  type ReportedEvent,
} from './event-change';
import type { AttemptRow } from './read-call';
import { recordChange } from './record-change';
import { changeByRecording, requireRecording } from './record-recording';
import {
  AFTER_END,
  readReported,
  explainEvent,
  explainLateEnd,
  explainRecording,
  refuseUnused,
  TOO_LATE,
} from './refuse-unused';
import { routeKnownCall } from './route-call';
import type { CallSession } from './session';

export type { ReportedEvent } from './event-change';

interface EventToHandle extends ReportedEvent {
  vetoes?: PreDialVetoes | undefined;
  /** Refuse an event with a field that would not be used. */
  must_be_used?: boolean;
}

/**
 * Handles an event of a call and returns what to do now. Events about one call are handled one by
 * one; one that is repeated or late changes nothing and returns the call as it is.
 */
export function handleCallEvent(
  db: Db,
  reference: Reference,
  reported: EventToHandle & { vetoes?: undefined },
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
  const may_connect = took_call || event === 'answered' || event === 'key_press';
  for (let time = 0; time < MAX_READS; time++) {
    const state = await readCallState(db, reference, { may_connect });
    if (!state) throw notFound();
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
  if (reported.event === 'recording') return recordRecording(db, state, reported, now);
  if (tellsTalk(state, reported)) {
    await refuse(explainLateEnd(state, reported));
    return write(db, state, await endByTalk(db, state, reported, now));
  }
  if (call.ended_at !== null) {
    await refuse(AFTER_END);
    return sessionOfState(state);
  }
  requireClear(attempts, reported);
  const reaction = react(attempts, reported);
  if (!reaction.news || (reaction.route && reported.ends_separately)) {
    await refuse(TOO_LATE);
    return sessionOfState(state);
  }
  await refuse(explainEvent(state, reported, reaction));
  const change = await changeByEvent(db, state, { reaction, reported, now });
  return reaction.route
    ? routeAgain(db, state, change, { now, vetoes: reported.vetoes })
    : write(db, state, change);
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
  if (isReported('recording_url')) return sessionOfState(state);
  return write(db, state, changeByRecording(state, reported, now));
}

/** Writes what an event changes if the call is still as it was read. */
async function write(
  db: Db,
  state: CallState,
  { decide }: EventChange,
): Promise<CallSession | 'stale'> {
  const { decision, recorded } = await untilAgreed(decide, (change) => recordChange(db, change));
  return recorded === 'stale' ? 'stale' : sessionOfState(stateAfter(state, decision.progress));
}

function requireOwnAttempt(attempts: readonly AttemptRow[], { attempt }: ReportedEvent): void {
  const named = attempt?.toLowerCase();
  if (named && !attempts.some(({ uuid }) => uuid === named))
    throw HttpProblem.field('attempt', 'unknown_reference', 'is not an attempt of this call');
}

/** An event about one of several dialed buyers must say which one. Throws 422. */
function requireClear(attempts: readonly AttemptRow[], reported: ReportedEvent): void {
  if (reported.event === 'completed') return;
  const open = attempts.filter(isOpen);
  if (!reported.attempt && open.length > 1 && !attemptOf(attempts, reported))
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
  vetoes: PreDialVetoes | undefined;
}

/**
 * Writes an event that leaves the call without a buyer together with the next round of the call:
 * one exchange, so that no cap is locked while another is waited for.
 */
async function routeAgain(
  db: Db,
  state: CallState,
  change: EventChange,
  { now, vetoes }: Rerouting,
): Promise<CallSession | PreDialCheckRequired | 'stale'> {
  const { call, attempts, version } = state;
  // A call without a buyer uses and pays nothing.
  const { progress } = change.decide(NOBODY_PAID);
  // Buyers that were dialed already are not dialed again.
  const tried = new Set(attempts.map(({ buyer_id }) => buyer_id));
  const turn = { now, vetoes, tried, is_accepted: true };
  const ends = {
    version,
    ended_attempts: progress.attempts,
    events: progress.events,
    recording_url: progress.recording_url,
  };
  let routed = await routeKnownCall(db, call, turn, ends);
  if (routed === 'needs_transaction')
    routed = await checkedTransaction(db, (tx) => routeKnownCall(tx, call, turn, ends));
  if (routed === 'stale' || isCheckRequired(routed)) return routed;
  if (routed === undefined) return write(db, state, change);
  const next = await readCallState(db, String(call.id), { may_connect: false });
  if (!next) throw notFound();
  return sessionOfState(next, { fresh: true });
}

const NOBODY_PAID = { buyer_paid: false, source_paid: false };
