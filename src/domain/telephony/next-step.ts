import type { Db } from '../../data/db';
import type { Reference } from '../../data/records';
import { handleCallEvent } from '../calls/handle-event';
import { readCall, type CallRow } from '../calls/read-call';
import { readSession, type CallSession } from '../calls/session';
import { loadOfferWords } from '../routing/context';
import type { DialBuyer, Instruction } from '../routing/engine/progress';

export interface NextStep {
  call: CallRow;
  instruction: Instruction<DialBuyer>;
  /** Said to the caller before a buyer is dialed; null when it was said already. */
  greeting: string | null;
  /** The number of the company that was called: + and digits. */
  number_called: string;
}

/** The next step for the caller. `first`: the call was not answered before. */
export async function loadNextStep(
  db: Db,
  reference: Reference,
  { first }: { first: boolean },
): Promise<NextStep> {
  const call = await readCall(db, reference);
  const { instruction, number_called } = await readSession(db, call, { fresh: true });
  const words =
    first && call.offer_id !== null ? await loadOfferWords(db, call.offer_id) : undefined;
  const greeting = words?.greeting_message ?? null;
  return { call, instruction, greeting, number_called: number_called ?? '' };
}

/** True if the buyer of the attempt has the call. */
export const hasTaken = ({ instruction }: CallSession, attempt: string): boolean =>
  instruction.action === 'connect' && instruction.attempt === attempt.toLowerCase();

interface AnsweredLeg {
  call: Reference;
  attempt: string;
  leg_sid: string | undefined;
}

/**
 * Reports that a buyer has answered whom the carrier does not connect yet. `hang_up`: another buyer
 * has the call, or it is over.
 */
export async function answerLeg(
  db: Db,
  { call, attempt, leg_sid }: AnsweredLeg,
  now: Date,
): Promise<{ call_id: number; action: 'connect' | 'ask_for_key' | 'hang_up' }> {
  const answered = { event: 'answered', attempt, leg_sid } as const;
  const session = await handleCallEvent(db, call, answered, now);
  if (hasTaken(session, attempt)) return { call_id: session.id, action: 'connect' };
  const isAsked = ['ask_for_key', 'wait'].includes(session.instruction.action);
  return { call_id: session.id, action: isAsked ? 'ask_for_key' : 'hang_up' };
}
