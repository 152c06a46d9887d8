import { SOFTSWITCH } from '../../platform/carriers/carrier';
import type { Statements } from '../../data/db';
import type { DialBuyer, Instruction } from '../routing/engine/progress';
import type { ReportedEvent } from './event-change';
import { READ_OUTBOUND } from './queries/outbound';
import { readAttempts, type CallRow } from './read-call';
import {
  buildSession,
  hasFallback,
  LONGEST_PERSON_SECONDS,
  readSession,
  type CallSession,
} from './session';

// A call that a switch places begins with a person alone: rung, answered, and then sent to buyers,
// to a fixed number, or to a message for a machine.

/** A call in which no buyer was dialed yet, and which has not ended. */
const isWithPerson = ({ direction, carrier, round, ended_at }: CallRow): boolean =>
  direction === 'outbound' && carrier === SOFTSWITCH && round === 0 && ended_at === null;

/** Those that a buyer's leg has too: they are about a buyer if they name its attempt. */
const OF_LEGS: readonly ReportedEvent['event'][] = [
  ...(['ringing', 'early_media', 'answered', 'no_answer', 'busy', 'failed'] as const),
];

/** True for an event about the person whom a switch has called. */
export function isOfPerson(call: CallRow, { event, attempt }: ReportedEvent): boolean {
  if (call.direction !== 'outbound' || call.carrier !== SOFTSWITCH || attempt) return false;
  const isAlone = call.round === 0 && !(call.ended_at !== null && hasFallback(call));
  return isAlone || OF_LEGS.includes(event);
}

/** The session of any call; `fresh` as in `readSession`. */
export async function readCurrentSession(
  db: Statements,
  call: CallRow,
  { fresh }: { fresh: boolean },
): Promise<CallSession> {
  if (!isWithPerson(call)) return readSession(db, call, { fresh });
  const [outbound] = await db.sql(READ_OUTBOUND, { call_id: call.id });
  const session = buildSession(call, await readAttempts(db, call.id), {
    ...{ terms: undefined, fresh: false },
  });
  return { ...session, instruction: instructPerson(outbound!, session.instruction) };
}

interface PersonsCall {
  routed: boolean;
  answered_at: Date | null;
  answered_by: string | null;
  machine_action: string | null;
  machine_message: string | null;
  connect_to: string | null;
}

/** The instruction for a person who is not connected to a buyer. Pure. */
function instructPerson(
  { routed, answered_at, answered_by, machine_action, machine_message, connect_to }: PersonsCall,
  waiting: Instruction<DialBuyer>,
): Instruction<DialBuyer> {
  const leavesMessage = answered_by === 'machine' && machine_action === 'leave_message';
  if (answered_at === null || (routed && !leavesMessage))
    return { ...waiting, max_seconds: null, report_within_seconds: null };
  const fallback = leavesMessage
    ? ({ type: 'message', message: machine_message, number: null } as const)
    : ({ type: 'number', message: null, number: connect_to } as const);
  return {
    ...waiting,
    ...{ action: 'fallback', message: fallback.message, fallback },
    report_within_seconds: LONGEST_PERSON_SECONDS,
  };
}
