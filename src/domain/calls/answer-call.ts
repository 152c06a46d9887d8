import { isOver, type AnsweredBy } from '../../platform/carriers/carrier';
import type { Db, Statements } from '../../data/db';
import { notFound } from '../../platform/errors';
import { loadOfferWords } from '../routing/context';
import {
  runCheckedTransaction,
  isCheckRequired,
  type PreDialCheckRequired,
  type PreDialState,
} from '../routing/pre-dial';
import { endOutbound } from './end-outbound';
import { AWAIT_PLACING, FIND_DESTINATION, READ_OUTBOUND, RECORD_ANSWER } from './queries/outbound';
import { lockCall, readCall, type CallRow } from './read-call';
import { buildAbandonedEnd } from './outcome';
import { routeKnownCall } from './route-call';

export interface Answer {
  /** uuid of the call. */
  key: string;
  call_sid: string;
  /** Undefined when the carrier was not asked. */
  answered_by: AnsweredBy | undefined;
  answered_at: Date;
  preDial?: PreDialState | undefined;
}

/** Next step after an outbound call is answered. */
export type AnswerResult = AnswerAction & {
  /** True where the answer is reported again, or nothing depends on who has answered. */
  is_repeated: boolean;
};

type AnswerAction =
  | { kind: 'route'; call_id: number }
  /** The fixed destination of the call. */
  | { kind: 'connect'; from: number; connect_to: string; timeout_seconds: number }
  | { kind: 'leave_message'; message: string }
  | { kind: 'hang_up' };

/** A person who hears nothing for longer counts as abandoned. */
const ABANDONED_AFTER_MS = 2_000;

/**
 * Decides what follows when an outbound call is answered: a person is routed like a caller. An
 * answer that is reported again changes nothing. Has no effect when webhooks must be asked first.
 *
 * Locks the call, then caps; its lead is written later, by domain/leads/apply-calls.ts.
 */
export async function answerCall(
  db: Db,
  answer: Answer,
  now: Date,
): Promise<AnswerResult | PreDialCheckRequired> {
  await awaitPlacing(db, answer.key);
  return runCheckedTransaction(db, (tx) => handleAnswer(tx, answer, now));
}

/** Waits until the transaction that places a call has written the answer of the carrier. */
export async function awaitPlacing(db: Db, key: string): Promise<void> {
  await db.sql(AWAIT_PLACING, { key });
}

async function handleAnswer(
  tx: Statements,
  answer: Answer,
  now: Date,
): Promise<AnswerResult | PreDialCheckRequired> {
  const call = await lockCall(tx, answer.key);
  if (!call) return findDestination(tx, answer.key);
  if (call.direction !== 'outbound') throw notFound();
  const [outbound] = await tx.sql(READ_OUTBOUND, { call_id: call.id });
  const { routed, connect_to, timeout_seconds, machine_message } = outbound!;
  const isRepeated = call.round > 0 || call.ended_at !== null || outbound!.answered_by !== null;
  const answeredBy = isRepeated
    ? ((outbound!.answered_by as AnsweredBy | null) ?? 'unknown')
    : (answer.answered_by ?? 'unknown');
  if (!isRepeated) {
    const { call_sid, answered_at } = answer;
    await tx.sql(RECORD_ANSWER, {
      call_id: call.id,
      call_sid,
      answered_by: answeredBy,
      now: answered_at,
    });
  }
  const does = pickMachineAction(answeredBy, outbound!.machine_action);
  const result = { is_repeated: isRepeated };
  if (does === 'leave_message')
    return { ...result, kind: 'leave_message', message: machine_message! };
  if (does === 'hang_up') {
    if (!isRepeated) await endForMachine(tx, call, answeredBy, now);
    return { ...result, kind: 'hang_up' };
  }
  if (!routed && call.ended_at !== null) return { ...result, kind: 'hang_up' };
  if (!routed) {
    const destination = { from: call.number_called!, connect_to: connect_to!, timeout_seconds };
    return { ...result, kind: 'connect', ...destination };
  }
  const check = isRepeated ? undefined : await routePerson(tx, call.uuid, answer, now);
  return check ?? { ...result, kind: 'route', call_id: call.id };
}

/**
 * For a call about which nothing is left to decide: some carriers take no destination with an order
 * and ask for it. Throws 404.
 */
async function findDestination(tx: Statements, key: string): Promise<AnswerResult> {
  const [plainCall] = await tx.sql(FIND_DESTINATION, { key });
  if (!plainCall) throw notFound();
  const { status, ...destination } = plainCall;
  const result = { is_repeated: true };
  return isOver(status)
    ? { ...result, kind: 'hang_up' }
    : { ...result, kind: 'connect', ...destination };
}

/** A fax hears no message. */
function pickMachineAction(answeredBy: AnsweredBy, machineAction: string | null): string {
  if (answeredBy === 'fax') return machineAction === 'connect' ? 'connect' : 'hang_up';
  return answeredBy === 'machine' ? (machineAction ?? 'connect') : 'connect';
}

/** No buyer is dialed for a machine, so no cap is taken. */
async function endForMachine(
  db: Statements,
  { id }: CallRow,
  answeredBy: AnsweredBy,
  now: Date,
): Promise<void> {
  const message = `answered by a ${answeredBy}`;
  const end = { status: 'completed', hangup_cause: answeredBy, event: 'hang_up', message };
  await endOutbound(db, id, end, now);
}

async function routePerson(
  db: Statements,
  uuid: string,
  { preDial, answered_at, answered_by }: Answer,
  now: Date,
): Promise<PreDialCheckRequired | undefined> {
  const call = await readCall(db, uuid);
  const isPerson = answered_by !== 'machine' && answered_by !== 'fax';
  const isLate = isPerson && now.getTime() - answered_at.getTime() > ABANDONED_AFTER_MS;
  const routed = isLate
    ? undefined
    : await routeKnownCall(db, call, { now, preDial, tried: new Set() });
  if (!routed) await abandon(db, call, isLate, now);
  return isCheckRequired(routed) ? routed : undefined;
}

/** For a person who must not wait any longer, or whose offer was deleted. */
async function abandon(
  db: Statements,
  { id, offer_id }: CallRow,
  isLate: boolean,
  now: Date,
): Promise<void> {
  const words = await loadOfferWords(db, offer_id!);
  const end = buildAbandonedEnd('abandoned', words ?? { abandoned_message: null }, now);
  const message = isLate
    ? 'no buyer was found within two seconds of the answer'
    : 'the offer was deleted';
  await endOutbound(db, id, { ...end, event: 'abandoned', message }, now);
}
