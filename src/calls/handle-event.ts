import { giveBuyersTokens } from './queries/updates';
import { recordUsage } from '../buyers/queries/cap-counters';
import { recordProgress } from './queries/record-call';
import { freeSlots, settlePending } from './queries/concurrency-slots';
import { lockCall, readAttempts, readCall, type AttemptRow, type CallRow } from './queries/calls';
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
import {
  checkedTransaction,
  isCheckRequired,
  type PreDialCheckRequired,
  type PreDialVetoes,
} from '../routing/pre-dial-webhooks';
import { leaseOf, readSession, sessionOf, type CallSession } from './session';
import { convertCall } from './convert-call';
import { loadRouting, sourceOf } from '../routing/load-routing';
import { routeCall, type Routed } from './route-call';
import { newSeed } from '../routing/seed';
import { routeFacts } from '../routing/route-facts';

export interface CallNews extends CallEvent {
  /** Seconds since the buyer took the call, where whoever carries it says so. */
  duration?: number | null | undefined;
  recording_url?: string | null | undefined;
  hangup_cause?: string | null | undefined;
  /** What whoever carries the call calls the leg to the buyer. */
  leg_sid?: string | null | undefined;
  /** That the last of those dialed did not take the call is told once more by who wants to know who is next: it is not taken before. */
  told_again?: boolean;
  /** What those said who are asked before a buyer is dialed. */
  vetoes?: PreDialVetoes | undefined;
}

/**
 * Takes what has happened to a call and answers what to do now. Of two events about a call one waits for the other; one that comes twice, or late, changes
 * nothing and is answered as the call stands.
 */
export function handleCallEvent(
  db: Db,
  reference: Reference,
  news: CallNews & { vetoes?: undefined },
  now: Date,
): Promise<CallSession>;
/** The same where webhooks can be asked: without an effect when that must be done first. */
export function handleCallEvent(
  db: Db,
  reference: Reference,
  news: CallNews,
  now: Date,
): Promise<CallSession | PreDialCheckRequired>;
export function handleCallEvent(
  db: Db,
  reference: Reference,
  news: CallNews,
  now: Date,
): Promise<CallSession | PreDialCheckRequired> {
  const work = async (tx: Statements): Promise<CallSession | PreDialCheckRequired> => {
    const call = await lockCall(tx, reference);
    if (!call) throw notFound();
    const attempts = await readAttempts(tx, call.id);
    if (call.ended_at !== null) {
      // That end was not heard of but concluded: what is heard of it now still counts.
      if (news.event === 'completed' && call.hangup_cause === 'lost')
        await settle(tx, call, attempts, { news, now });
      return readSession(tx, call, { fresh: false });
    }
    requireMeant(attempts, news);
    const reaction = react(attempts, news);
    if (!reaction.news || (reaction.route && news.told_again))
      return sessionOf(call, attempts, { terms: undefined, fresh: false });
    await progress(tx, call, attempts, { reaction, news, now });
    if (reaction.route) {
      const routed = await lookAgain(tx, call, attempts, { now, vetoes: news.vetoes });
      if (isCheckRequired(routed)) return routed;
    }
    return readSession(tx, await readCall(tx, call.id), { fresh: reaction.route });
  };
  return news.vetoes ? checkedTransaction(db, work) : db.statements(work);
}

/** An event about one of several that were dialed must say which. */
function requireMeant(attempts: readonly AttemptRow[], news: CallNews): void {
  if (news.event === 'completed') return;
  if (news.attempt && !attempts.some(({ uuid }) => uuid === news.attempt!.toLowerCase()))
    throw HttpProblem.field('attempt', 'is none of this call');
  const open = attempts.filter(isOpen);
  if (!news.attempt && open.length > 1 && !attemptOf(attempts, news))
    throw HttpProblem.field(
      'attempt',
      `must say which of those dialed: ${open.map(({ uuid }) => uuid).join(', ')}`,
    );
  if (news.event === 'key_press' && !news.key)
    throw HttpProblem.field('key', 'must be given with key_press: the key that was pressed');
}

interface Happened {
  reaction: Reaction;
  news: CallNews;
  now: Date;
}

async function progress(
  db: Statements,
  call: CallRow,
  attempts: readonly AttemptRow[],
  { reaction, news, now }: Happened,
): Promise<void> {
  const connected = attempts.find(({ uuid }) => uuid === reaction.connected);
  const about = attemptOf(attempts, news);
  const talking = connected ?? attempts.find(({ status }) => status === 'connected');
  const seconds = talking && !connected ? secondsOf(talking, news, now) : 0;
  const next = attempts.map((attempt) => ({
    ...attempt,
    status: reaction.changes.get(attempt.uuid) ?? attempt.status,
  }));
  const ended_at = reaction.over ? now : null;
  await recordProgress(db, {
    call_id: call.id,
    now,
    attempts: reaction.changes,
    events: [
      {
        event: news.event,
        message: news.key ? `pressed ${news.key}` : (news.hangup_cause ?? null),
        buyer_id: about?.buyer_id ?? null,
        details: detailsOf(news),
      },
    ],
    status: reaction.over
      ? talking
        ? 'completed'
        : 'no_answer'
      : talking
        ? 'in_progress'
        : call.status,
    connected,
    ended_at,
    answered_duration: talking && (reaction.over || news.event === 'duration') ? seconds : null,
    hangup_cause: reaction.over
      ? (news.hangup_cause ?? (talking ? 'completed' : 'caller_hung_up'))
      : null,
    recording_url: news.recording_url ?? null,
    lease_until: new Date(now.getTime() + leaseOf(call, next) * 1000),
  });
  if (connected) {
    const { buyer_id, buyer_group_id } = connected;
    await settlePending(db, 'connection', { call_id: call.id, buyer_id, buyer_group_id });
    if (buyer_group_id !== null)
      await recordUsage(db, { owner: { buyer_group_id }, usage: { connection: 1 }, now });
    await recordUsage(db, { owner: { buyer_id }, usage: { connection: 1 }, now });
    await giveBuyersTokens(db, { call_id: call.id, buyer_id, now });
  }
  if (talking)
    await convertCall(db, {
      call_id: call.id,
      buyer_id: talking.buyer_id,
      answered_seconds: seconds,
      now,
    });
  await freeSlots(db, call.id);
}

/** A call that was taken for dead has come to its end after all. */
async function settle(
  db: Statements,
  call: CallRow,
  attempts: readonly AttemptRow[],
  { news, now }: { news: CallNews; now: Date },
): Promise<void> {
  const talked = attempts.find(({ connected_at }) => connected_at !== null);
  const seconds = talked ? secondsOf(talked, news, now) : null;
  await recordProgress(db, {
    call_id: call.id,
    now,
    attempts: new Map(),
    events: [
      { event: 'completed', message: 'after it was taken for dead', details: detailsOf(news) },
    ],
    status: talked ? 'completed' : 'no_answer',
    connected: undefined,
    ended_at: now,
    answered_duration: seconds,
    hangup_cause: news.hangup_cause ?? 'completed',
    recording_url: news.recording_url ?? null,
    lease_until: now,
  });
  if (talked)
    await convertCall(db, {
      call_id: call.id,
      buyer_id: talked.buyer_id,
      answered_seconds: seconds!,
      now,
    });
}

const secondsOf = ({ connected_at }: AttemptRow, { duration }: CallNews, now: Date): number =>
  duration ??
  (connected_at ? Math.max(0, Math.floor((now.getTime() - connected_at.getTime()) / 1000)) : 0);

function detailsOf({
  attempt,
  key,
  duration,
  recording_url,
  hangup_cause,
  leg_sid,
}: CallNews): Record<string, unknown> | null {
  const told = Object.entries({
    attempt,
    key,
    duration,
    recording_url,
    hangup_cause,
    leg_sid,
  }).filter(([, value]) => value !== undefined && value !== null);
  return told.length > 0 ? Object.fromEntries(told) : null;
}

/** Nobody of those dialed took the call: who is next, as things stand now. None of them is rung again. */
async function lookAgain(
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
    asked: routeFacts(found.facts, {
      now,
      seed: vetoes?.seed ?? newSeed(),
      caller_number,
      tokens,
      tried,
      vetoes,
    }),
  });
}
