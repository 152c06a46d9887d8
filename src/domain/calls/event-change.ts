import type { AnsweredBy } from '../../platform/carriers/carrier';
import type { Reference } from '../../data/records';
import type { Statements } from '../../data/db';
import {
  pickAttempt,
  isOpen,
  type AttemptStatus,
  type CallEvent,
  type Reaction,
} from '../routing/engine/progress';
import { pairTokens } from '../../platform/tokens/filters';
import { findLegFailure } from '../routing/engine/leg-failure';
import { decideDollars } from '../money/engine/decide-dollars';
import { pickApplicable } from '../money/engine/explain-unbilled';
import {
  countUsage,
  isNothing,
  joinSettlements,
  NO_SETTLEMENT,
  type PaidBefore,
} from '../money/engine/settlement';
import { toCallMoney, type AttemptState, type CallState } from './call-state';
import { checkConversions } from './find-conversion';
import { addUnbilled, hasPaid, listTerms } from './unbilled-call';
import type { TrunkFault } from './record-call';
import type { BuyerUse, Change, Progress } from './record-change';
import { computeLease } from './session';

// Changes of a call by events, decided from the call as it was read.

export interface ReportedEvent extends CallEvent {
  /** Seconds since the buyer took the call, where the carrier or softswitch measures them. */
  duration?: number | null | undefined;
  recording_url?: string | null | undefined;
  hangup_cause?: string | null | undefined;
  /** The carrier's name for the leg to the buyer. */
  leg_sid?: string | null | undefined;
  /** Who ended, held, resumed or transferred the call. */
  by?: 'caller' | 'buyer' | 'switch' | undefined;
  /** Where the caller was transferred to. */
  number?: string | null | undefined;
  /**
   * The carrier reports the end of the dialing separately. An event after which no buyer of the
   * round is left is ignored: that report follows, and routes the call.
   */
  ends_separately?: boolean;
  agent_id?: Reference | null | undefined;
  /** With `answered` of a person whom a switch has called. */
  answered_by?: AnsweredBy | undefined;
  /** Seconds that the caller's side lasted: with `completed`, the most that a buyer has talked. */
  total_duration?: number | null | undefined;
  /**
   * With `completed`: the carrier says that the buyer of the attempt had the call. Counts also for
   * a call that was considered ended without a buyer.
   */
  took_call?: boolean;
}

/** Effect of an event on a call. It depends on payments for other calls of the caller. */
export interface EventChange {
  decide: (paidBefore: PaidBefore) => Change;
}

interface EventInput {
  reaction: Reaction;
  reported: ReportedEvent;
  now: Date;
  /** The trunk of the attempt has failed, and no other one is left for it. */
  trunkFault?: TrunkFault | undefined;
}

export async function buildEventChange(
  db: Pick<Statements, 'sql' | 'company_id'>,
  state: CallState,
  { reaction, reported, now, trunkFault }: EventInput,
): Promise<EventChange> {
  const { call } = state;
  const connected = state.attempts.find(({ uuid }) => uuid === reaction.connected);
  const talking = connected ?? state.attempts.find(({ status }) => status === 'connected');
  const seconds = talking && !connected ? computeTalkSeconds(talking, reported, now) : 0;
  const isMeasured = talking && (reaction.over || reported.event === 'duration');
  const next = applyStatuses(state.attempts, reaction.changes);
  const picked = pickAttempt(state.attempts, reported);
  const event = {
    event: reported.event,
    message: describeEvent(reported),
    buyer_id: picked?.buyer_id ?? null,
    // Commands about the buyer name its leg.
    details: buildDetails(reported.leg_sid ? { attempt: picked?.uuid, ...reported } : reported),
  };
  const progress: Progress = {
    attempts: reaction.changes,
    open: next.filter(isOpen),
    events: [event],
    ...(reaction.over
      ? buildCallEnd(call, talking !== undefined, { reported, now })
      : { status: talking ? 'in_progress' : call.status, ended_at: null, hangup_cause: null }),
    connected,
    answered_duration: isMeasured ? seconds : null,
    recording_url: reported.recording_url ?? null,
    lease_until: new Date(now.getTime() + computeLease(call, next) * 1000),
    trunk_fault: trunkFault,
    reached_trunk: (hasReached(reported) && picked?.trunk_id) || undefined,
  };
  const { agent_id } = reported;
  const settle = talking
    ? await prepareBuyerUse(db, state, { talking, connected, seconds, agent_id })
    : undefined;
  return {
    decide: (paidBefore) => toChange(state, { progress, now }, settle?.(paidBefore)),
  };
}

const REACHING: readonly ReportedEvent['event'][] = ['ringing', 'early_media', 'answered', 'busy'];

/** True if an event shows that the telephone of a buyer was reached. */
const hasReached = (reported: ReportedEvent): boolean =>
  REACHING.includes(reported.event) ||
  (reported.event === 'failed' && findLegFailure(reported) !== undefined);

/**
 * True if an end says more than that the call is over: a call that has ended was only considered
 * over, or a buyer had it of whom no answer was reported.
 */
export const isTalkReport = (state: CallState, reported: ReportedEvent): boolean =>
  reported.event === 'completed' &&
  (state.call.hangup_cause === 'lost' || findTaker(state, reported) !== undefined);

const MAY_HAVE_TAKEN: readonly AttemptStatus[] = ['ringing', 'canceled'];

/**
 * The buyer that an end says had the call, and of whom no answer was reported: the one that is
 * named, or the only possible one. A buyer who must press 1 has not taken the call without doing
 * so.
 */
export function findTaker(
  { call, attempts }: CallState,
  { attempt, duration, took_call }: ReportedEvent,
): AttemptState | undefined {
  const isTold = took_call || (call.hangup_cause === 'lost' && (duration ?? 0) > 0);
  if (!isTold || attempts.some(({ connected_at }) => connected_at !== null)) return undefined;
  const rung = attempts.filter(
    ({ status, round, press_one_to_accept }) =>
      MAY_HAVE_TAKEN.includes(status) && round === call.round && !press_one_to_accept,
  );
  if (attempt) return rung.find(({ uuid }) => uuid === attempt.toLowerCase());
  return rung.length === 1 ? rung[0] : undefined;
}

/** For the actual end of a call that was considered over, or the first report about its buyer. */
export async function buildTalkEnd(
  db: Pick<Statements, 'sql' | 'company_id'>,
  state: CallState,
  reported: ReportedEvent,
  now: Date,
): Promise<EventChange> {
  const { call, attempts } = state;
  const taker = findTaker(state, reported);
  const talking = taker ?? attempts.find(({ connected_at }) => connected_at !== null);
  const seconds = talking ? computeTalkSeconds(talking, reported, now) : 0;
  const end = buildCallEnd(call, talking !== undefined, { reported, now });
  const endedAt = call.hangup_cause === 'lost' ? now : (call.ended_at ?? now);
  const buyerId = talking?.buyer_id ?? null;
  const message = call.ended_at && 'after the call was considered over';
  const progress: Progress = {
    attempts: buildAttemptEnds(attempts, talking),
    open: [],
    events: [
      ...(taker ? [{ event: 'answered', message: 'told by the end', buyer_id: buyerId }] : []),
      { event: 'completed', message, buyer_id: buyerId, details: buildDetails(reported) },
    ],
    ...{ ...end, ended_at: endedAt },
    connected: taker,
    taken_at: taker && estimateAnswer(taker, seconds, endedAt),
    answered_duration: talking ? seconds : null,
    recording_url: reported.recording_url ?? null,
    lease_until: now,
  };
  const { agent_id } = reported;
  const settle = talking
    ? await prepareBuyerUse(db, state, { talking, connected: taker, seconds, agent_id })
    : undefined;
  return {
    decide: (paidBefore) => toChange(state, { progress, now }, settle?.(paidBefore)),
  };
}

/** The attempt that talked is completed; the others that rang are released. */
const buildAttemptEnds = (
  attempts: readonly AttemptState[],
  talking: AttemptState | undefined,
): Progress['attempts'] =>
  new Map([
    ...attempts.filter(isOpen).map(({ uuid }) => [uuid, 'released'] as const),
    ...(talking ? [[talking.uuid, 'completed'] as const] : []),
  ]);

/** Estimated from the end of the call and the time that the buyer has talked. */
function estimateAnswer({ created_at }: AttemptState, seconds: number, endedAt: Date): Date {
  const at = endedAt.getTime() - seconds * 1000;
  return new Date(Math.max(at, Math.min(created_at.getTime(), endedAt.getTime())));
}

/** At its end, a call has the reason why its buyer does not pay. */
function toChange(
  state: CallState,
  { progress, now }: { progress: Progress; now: Date },
  settled: SettledTalk | undefined,
): Change {
  const explain = progress.ended_at ? settled?.explain : undefined;
  return {
    ...{ call_id: state.call.id, version: state.version, now },
    progress: explain ? explain(progress) : progress,
    use: settled?.use,
  };
}

interface Talk {
  talking: AttemptState;
  /** Equals `talking` if its buyer has just taken the call. */
  connected: AttemptState | undefined;
  /** Since the buyer took the call. */
  seconds: number;
  agent_id?: Reference | null | undefined;
}

interface SettledTalk {
  /** Undefined if there is nothing to write. */
  use: BuyerUse | undefined;
  /** Adds to the end why the buyer does not pay; undefined if it pays. */
  explain: ((progress: Progress) => Progress) | undefined;
}

/** Use and payment of the buyer that has the call. */
export async function prepareBuyerUse(
  db: Pick<Statements, 'sql' | 'company_id'>,
  state: CallState,
  { talking, connected, seconds, agent_id }: Talk,
): Promise<(paidBefore: PaidBefore) => SettledTalk> {
  const { buyer_id, buyer_group_id } = talking;
  const tokens = connected ? pairTokens(connected.token_pairs ?? []) : {};
  const money = toCallMoney(state);
  const { traffic_source_id, token_values } = state.call;
  const isPaid = hasPaid(state, talking);
  const isOpen = !state.dollars.is_returned && !isPaid;
  const checked = await checkConversions(db, isOpen ? listTerms(talking) : [], {
    call: { ...state.call, token_values: { ...token_values, ...tokens } },
    answered_seconds: seconds,
  });
  const applying = pickApplicable(checked);
  const connection = {
    ...NO_SETTLEMENT,
    usages: countUsage({ buyer_id, buyer_group_id, traffic_source_id }, { connection: 1 }),
  };
  const explain = (progress: Progress) => addUnbilled(state, progress, { talking, checked });
  return (paidBefore) => {
    const settlement = decideDollars(money, {
      ...{ buyer_id, buyer_group_id, applying, paidBefore },
      answered_seconds: seconds,
    });
    const isUsed = connected || agent_id || !isNothing(settlement);
    return {
      use: isUsed
        ? {
            buyer_id,
            settlement: connected ? joinSettlements(settlement, connection) : settlement,
            takes: connected && { tokens },
            agent_id,
          }
        : undefined,
      explain: isPaid || settlement.conversion ? undefined : explain,
    };
  };
}

function buildCallEnd(
  { direction }: CallState['call'],
  wasConnected: boolean,
  { reported: { hangup_cause: cause, by }, now }: Pick<EventInput, 'reported' | 'now'>,
) {
  const reason = cause || (by && `${by}_hung_up`);
  // The person who was called has answered, even if no buyer did.
  if (direction === 'outbound' && !wasConnected)
    return { status: 'completed', ended_at: now, hangup_cause: reason ?? 'person_hung_up' };
  return wasConnected
    ? { status: 'completed', ended_at: now, hangup_cause: reason ?? 'completed' }
    : { status: 'no_answer', ended_at: now, hangup_cause: reason ?? 'caller_hung_up' };
}

/**
 * The reported seconds; else since the buyer was connected, and no longer than the call has lasted.
 */
export function computeTalkSeconds(
  { connected_at }: AttemptState,
  { duration, total_duration }: Pick<ReportedEvent, 'duration' | 'total_duration'>,
  now: Date,
): number {
  if (duration !== undefined && duration !== null) return duration;
  if (!connected_at) return 0;
  const elapsed = Math.max(0, Math.floor((now.getTime() - connected_at.getTime()) / 1000));
  return Math.min(elapsed, total_duration ?? Infinity);
}

/** The event in words, with its reason. */
export function describeEvent(reported: ReportedEvent): string | null {
  const { event, key, hangup_cause, number, sip_code, q850 } = reported;
  if (key) return `pressed ${key}`;
  if (event === 'transferred' && number) return `to ${number}`;
  if (event !== 'failed') return hangup_cause ?? null;
  const code = sip_code ?? q850;
  if (findLegFailure(reported) === 'no_such_number')
    return `the buyer has no such number (${code})`;
  return hangup_cause ?? (typeof code === 'number' ? `the far end answered ${code}` : null);
}

const DETAILS = [
  'attempt',
  'key',
  'duration',
  'recording_url',
  'hangup_cause',
  'leg_sid',
  'agent_id',
  'by',
  'number',
  'trunk',
  'sip_code',
  'q850',
  'answered_by',
] as const satisfies readonly (keyof ReportedEvent)[];

export function buildDetails(reported: ReportedEvent): Record<string, unknown> | null {
  const reason = reported.event === 'failed' ? findLegFailure(reported) : undefined;
  const details = [...DETAILS.map((name) => [name, reported[name]]), ['reason', reason]].filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  return details.length > 0 ? (Object.fromEntries(details) as Record<string, unknown>) : null;
}

const applyStatuses = (
  attempts: readonly AttemptState[],
  changes: Progress['attempts'],
): AttemptState[] =>
  attempts.map((attempt) => ({ ...attempt, status: changes.get(attempt.uuid) ?? attempt.status }));

/** The state of a call after a change, as far as its session depends on it. */
export function applyProgress(state: CallState, { progress, now }: Change): CallState {
  const { status, ended_at, hangup_cause, attempts, ends_fallback } = progress;
  const { call } = state;
  return {
    ...state,
    call: {
      ...call,
      status,
      ended_at: ended_at ?? call.ended_at,
      hangup_cause: hangup_cause ?? call.hangup_cause,
      fallback_ended_at: ends_fallback ? now : call.fallback_ended_at,
    },
    attempts: applyStatuses(state.attempts, attempts),
  };
}
