import { maxLegsOf } from '../carriers/carrier';
import type { Reference } from '../db/records';
import type { Db, Statements } from '../db/tenant';
import { notFound, HttpProblem } from '../errors';
import {
  attemptOf,
  isOpen,
  react,
  type CallEvent,
  type Reaction,
} from '../routing/engine/progress';
import { loadRouting, sourceOf } from '../routing/load-routing';
import {
  checkedTransaction,
  isCheckRequired,
  type PreDialCheckRequired,
  type PreDialVetoes,
} from '../routing/pre-dial-webhooks';
import { routeFacts } from '../routing/route-facts';
import { newSeed } from '../routing/seed';
import { addTokensOfBuyer } from './change-call';
import { addUsage, convertCall } from './convert-call';
import { recordAgent } from './describe-call';
import { lockCall, readAttempts, readCall, type AttemptRow, type CallRow } from './read-call';
import { recordProgress } from './record-call';
import { releaseSlots, settlePending } from './release-slots';
import { routeCall, type Routed } from './route-call';
import { leaseOf, readSession, sessionOf, type CallSession } from './session';

/** An event as the carrier or softswitch of a call reports it. */
export interface ReportedEvent extends CallEvent {
  /** Seconds since the buyer took the call, where the carrier or softswitch measures them. */
  duration?: number | null | undefined;
  recording_url?: string | null | undefined;
  hangup_cause?: string | null | undefined;
  /** The carrier's name for the leg to the buyer. */
  leg_sid?: string | null | undefined;
  /**
   * The carrier reports the end of the dialing separately. An event after which no buyer of the
   * round is left is ignored: that report follows, and routes the call.
   */
  ends_separately?: boolean;
  /** Id of the agent who takes the call, where it is known. */
  agent_id?: Reference | null | undefined;
  /** What webhooks said that are asked before a buyer is dialed. */
  vetoes?: PreDialVetoes | undefined;
}

/**
 * Handles an event of a call and returns what to do now. Events about one call are handled one by
 * one; one that is repeated or late changes nothing and returns the call as it is.
 */
export function handleCallEvent(
  db: Db,
  reference: Reference,
  reported: ReportedEvent & { vetoes?: undefined },
  now: Date,
): Promise<CallSession>;
/** The same where webhooks can be asked: without an effect when that must be done first. */
export function handleCallEvent(
  db: Db,
  reference: Reference,
  reported: ReportedEvent,
  now: Date,
): Promise<CallSession | PreDialCheckRequired>;
export function handleCallEvent(
  db: Db,
  reference: Reference,
  reported: ReportedEvent,
  now: Date,
): Promise<CallSession | PreDialCheckRequired> {
  const work = (tx: Statements) => handle(tx, reference, reported, now);
  return reported.vetoes ? checkedTransaction(db, work) : db.statements(work);
}

async function handle(
  tx: Statements,
  reference: Reference,
  reported: ReportedEvent,
  now: Date,
): Promise<CallSession | PreDialCheckRequired> {
  const call = await lockCall(tx, reference);
  if (!call) throw notFound();
  const attempts = await readAttempts(tx, call.id);
  if (call.ended_at !== null) {
    // The call was only considered over, since no event arrived: its actual end still counts.
    if (reported.event === 'completed' && call.hangup_cause === 'lost')
      await recordLateEnd(tx, call, attempts, { reported, now });
    return readSession(tx, call, { fresh: false });
  }
  requireClear(attempts, reported);
  const reaction = react(attempts, reported);
  if (!reaction.news || (reaction.route && reported.ends_separately))
    return sessionOf(call, attempts, { terms: undefined, fresh: false });
  await applyEvent(tx, call, attempts, { reaction, reported, now });
  if (reaction.route) {
    const routed = await routeAgain(tx, call, attempts, { now, vetoes: reported.vetoes });
    if (isCheckRequired(routed)) return routed;
  }
  return readSession(tx, await readCall(tx, call.id), { fresh: reaction.route });
}

/** An event about one of several dialed buyers must say which one. Throws 422. */
function requireClear(attempts: readonly AttemptRow[], reported: ReportedEvent): void {
  if (reported.event === 'completed') return;
  const named = reported.attempt?.toLowerCase();
  if (named && !attempts.some(({ uuid }) => uuid === named))
    throw HttpProblem.field('attempt', 'unknown_reference', 'is not an attempt of this call');
  const open = attempts.filter(isOpen);
  if (!named && open.length > 1 && !attemptOf(attempts, reported))
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

interface Happened {
  reaction: Reaction;
  reported: ReportedEvent;
  now: Date;
}

async function applyEvent(
  db: Statements,
  call: CallRow,
  attempts: readonly AttemptRow[],
  { reaction, reported, now }: Happened,
): Promise<void> {
  const connected = attempts.find(({ uuid }) => uuid === reaction.connected);
  const talking = connected ?? attempts.find(({ status }) => status === 'connected');
  const seconds = talking && !connected ? talkedSeconds(talking, reported, now) : 0;
  const is_measured = talking && (reaction.over || reported.event === 'duration');
  const next = attempts.map((attempt) => ({
    ...attempt,
    status: reaction.changes.get(attempt.uuid) ?? attempt.status,
  }));
  const event = {
    event: reported.event,
    message: reported.key ? `pressed ${reported.key}` : (reported.hangup_cause ?? null),
    buyer_id: attemptOf(attempts, reported)?.buyer_id ?? null,
    details: detailsOf(reported),
  };
  await recordProgress(db, {
    call_id: call.id,
    now,
    attempts: reaction.changes,
    events: [event],
    ...(reaction.over
      ? endOf(call, talking !== undefined, { reported, now })
      : { status: talking ? 'in_progress' : call.status, ended_at: null, hangup_cause: null }),
    connected,
    answered_duration: is_measured ? seconds : null,
    recording_url: reported.recording_url ?? null,
    lease_until: new Date(now.getTime() + leaseOf(call, next) * 1000),
  });
  if (connected) await countConnection(db, call, connected, now);
  if (talking && (connected || reported.agent_id))
    await recordAgent(db, {
      call_id: call.id,
      buyer_id: talking.buyer_id,
      agent_id: reported.agent_id ?? null,
    });
  if (talking)
    await convertCall(db, {
      call_id: call.id,
      buyer_id: talking.buyer_id,
      answered_seconds: seconds,
      now,
    });
  await releaseSlots(db, call.id);
}

function endOf(
  { direction }: CallRow,
  was_connected: boolean,
  { reported: { hangup_cause }, now }: Pick<Happened, 'reported' | 'now'>,
) {
  // Whoever was called has answered, whether or not a buyer did.
  if (direction === 'outbound' && !was_connected)
    return { status: 'completed', ended_at: now, hangup_cause: hangup_cause ?? 'person_hung_up' };
  return was_connected
    ? { status: 'completed', ended_at: now, hangup_cause: hangup_cause ?? 'completed' }
    : { status: 'no_answer', ended_at: now, hangup_cause: hangup_cause ?? 'caller_hung_up' };
}

async function countConnection(
  db: Statements,
  { id: call_id }: CallRow,
  { buyer_id, buyer_group_id }: AttemptRow,
  now: Date,
): Promise<void> {
  await settlePending(db, 'connection', { call_id, buyer_id, buyer_group_id });
  await addUsage(db, { buyer_id, buyer_group_id }, { usage: { connection: 1 }, now });
  await addTokensOfBuyer(db, { call_id, buyer_id, now });
}

/** The actual end of a call that was considered over. */
async function recordLateEnd(
  db: Statements,
  call: CallRow,
  attempts: readonly AttemptRow[],
  { reported, now }: { reported: ReportedEvent; now: Date },
): Promise<void> {
  const connected = attempts.find(({ connected_at }) => connected_at !== null);
  const seconds = connected ? talkedSeconds(connected, reported, now) : null;
  const event = {
    event: 'completed',
    message: 'after the call was considered over',
    details: detailsOf(reported),
  };
  await recordProgress(db, {
    call_id: call.id,
    now,
    attempts: new Map(),
    events: [event],
    status: connected || call.direction === 'outbound' ? 'completed' : 'no_answer',
    connected: undefined,
    ended_at: now,
    answered_duration: seconds,
    hangup_cause: reported.hangup_cause ?? 'completed',
    recording_url: reported.recording_url ?? null,
    lease_until: now,
  });
  if (connected)
    await convertCall(db, {
      call_id: call.id,
      buyer_id: connected.buyer_id,
      answered_seconds: seconds!,
      now,
    });
}

/** As reported; else since the buyer was connected. */
function talkedSeconds(
  { connected_at }: AttemptRow,
  { duration }: ReportedEvent,
  now: Date,
): number {
  if (duration !== undefined && duration !== null) return duration;
  return connected_at
    ? Math.max(0, Math.floor((now.getTime() - connected_at.getTime()) / 1000))
    : 0;
}

function detailsOf(reported: ReportedEvent): Record<string, unknown> | null {
  const { attempt, key, duration, recording_url, hangup_cause, leg_sid } = reported;
  const given = Object.entries({
    attempt,
    key,
    duration,
    recording_url,
    hangup_cause,
    leg_sid,
  }).filter(([, value]) => value !== undefined && value !== null);
  return given.length > 0 ? Object.fromEntries(given) : null;
}

/** Looks for the next buyers; those that were dialed already are not dialed again. */
async function routeAgain(
  db: Statements,
  call: CallRow,
  attempts: readonly AttemptRow[],
  { now, vetoes }: { now: Date; vetoes: PreDialVetoes | undefined },
): Promise<Routed | PreDialCheckRequired | undefined> {
  const { caller_number, token_values: tokens } = call;
  const found = await loadRouting(db, { source: sourceOf(call), number: caller_number, now });
  if (!found) return undefined;
  const tried = new Set(attempts.map(({ buyer_id }) => buyer_id));
  return routeCall(db, call, {
    ...found,
    vetoes,
    asked: await routeFacts(db, found, {
      now,
      seed: vetoes?.seed ?? newSeed(),
      caller_number,
      tokens,
      origin: call,
      max_legs: maxLegsOf(call.carrier),
      tried,
      vetoes,
      is_accepted: true,
    }),
  });
}
