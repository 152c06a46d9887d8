import { answerCall } from '../calls/answer-call';
import { handleCallEvent, type ReportedEvent } from '../calls/handle-event';
import { findCallBy, readCall } from '../calls/read-call';
import { reportOutbound } from '../calls/report-outbound';
import { readSession, type CallSession } from '../calls/session';
import { sandboxCall } from '../../platform/carriers/sandbox';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import type { Tasks } from '../../data/jobs/tasks';
import { runWithPreDialChecks } from '../routing/pre-dial';

type Context = Pick<Deps, 'tenants' | 'clock' | 'request' | 'pepper' | 'carrier'>;

export const SANDBOX_TALK_SECONDS = 120;

/**
 * Plays the events after a call of the sandbox is answered, as a carrier would report them: the
 * person or the machine, then buyer after buyer by their numbers. If it runs again, it continues
 * from the state of the call.
 */
export async function playSandboxCall(
  { company_id, uuid: key }: Tasks['play_sandbox_call'],
  { tenants, ...edges }: Context,
): Promise<void> {
  const db = tenants.of(BigInt(company_id));
  const { clock } = edges;
  const call = await findCallBy(db, key);
  // The company of the call was deleted meanwhile.
  if (!call) return;
  const { caller_number, carrier_call_id } = call;
  const { answered_by } = sandboxCall(`+${caller_number}`);
  const callSid = carrier_call_id!;
  const answer = { key, call_sid: callSid, answered_by, answered_at: clock() };
  const does = await runWithPreDialChecks(db, edges, (preDial) =>
    answerCall(db, { ...answer, preDial }, clock()),
  );
  const play = { talk_seconds: SANDBOX_TALK_SECONDS, ends_fallback: false };
  if (does.kind === 'route') await playBuyers(db, does.call_id, { ...edges, ...play });
  const duration = does.kind === 'hang_up' ? 0 : SANDBOX_TALK_SECONDS;
  const end = { key, carrier_call_id: callSid, status: 'completed', duration } as const;
  await reportOutbound(db, end, clock());
}

/**
 * Plays a test call: what its buyers do, and the caller, who stays until the call is over. If it
 * runs again, it continues from the state of the call.
 */
export async function playTestCall(
  { company_id, uuid, talk_seconds }: Tasks['play_test_call'],
  { tenants, ...edges }: Context,
): Promise<void> {
  const db = tenants.of(BigInt(company_id));
  const call = await findCallBy(db, uuid);
  // The company of the call was deleted meanwhile.
  if (call) await playBuyers(db, call.id, { ...edges, talk_seconds, ends_fallback: true });
}

interface Play {
  talk_seconds: number;
  /** The end of what the caller gets without a buyer is reported here, and not with the call's. */
  ends_fallback: boolean;
}

async function playBuyers(
  db: Db,
  callId: number,
  { talk_seconds, ends_fallback, ...edges }: Omit<Context, 'tenants'> & Play,
): Promise<void> {
  const { clock } = edges;
  for (;;) {
    const session = await readSession(db, await readCall(db, callId), { fresh: true });
    const event = nextEvent(session, { talk_seconds, ends_fallback });
    if (!event) return;
    await runWithPreDialChecks(db, edges, (preDial) =>
      handleCallEvent(db, callId, { ...event, preDial }, clock()),
    );
  }
}

/** The next report of the buyers' telephones; undefined when the call is over. */
function nextEvent(
  { instruction }: CallSession,
  { talk_seconds, ends_fallback }: Play,
): ReportedEvent | undefined {
  const { action, attempt, dial } = instruction;
  switch (action) {
    case 'dial': {
      const leg = dial[0]!;
      const { status } = sandboxCall(leg.number);
      return { event: EVENTS[status] ?? 'answered', attempt: leg.attempt };
    }
    case 'ask_for_key':
      return { event: 'key_press', attempt, key: '1' };
    case 'connect':
      return { event: 'completed', duration: talk_seconds };
    case 'fallback':
      return ends_fallback ? { event: 'fallback_ended' } : undefined;
    default:
      return undefined;
  }
}

const EVENTS: Record<string, ReportedEvent['event']> = {
  busy: 'busy',
  no_answer: 'no_answer',
  failed: 'failed',
};
