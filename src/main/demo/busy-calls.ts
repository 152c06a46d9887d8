import { startCall } from '../../domain/calls/start';
import { handleCallEvent, type ReportedEvent } from '../../domain/calls/handle-event';
import { readIncomingCall } from '../../domain/calls/receive';
import type { CallSession } from '../../domain/calls/session';
import type { Db } from '../../data/db';
import { uuidv7 } from '../../data/uuid';
import { isCheckRequired } from '../../domain/routing/pre-dial';
import { createChances, choose, type PlannedCall } from './busy-plan';
import type { BusyIds } from './busy-setup';

/** A call that is answered or given up ends long before. */
const MAX_STEPS = 30;

interface Playing {
  db: Db;
  ids: BusyIds;
  /** The end of the day: later events do not happen. */
  until: Date;
}

interface Moment {
  at: Date;
  report: ReportedEvent;
}

/**
 * Plays a call from its first ring to its end as a softswitch would report it, or up to the end of
 * the day. Runs in one transaction, so that no worker takes a call of yesterday for one whose end
 * was lost.
 */
export async function playCall(call: PlannedCall, { db, ids, until }: Playing): Promise<void> {
  const chance = createChances(call.seed);
  await db.transaction(async (tx) => {
    let session = await beginPlannedCall(tx, call, ids);
    let at = call.at;
    for (let step = 0; step < MAX_STEPS; step++) {
      const next = nextMoment(session, call, { at, chance });
      if (!next || next.at > until) return;
      at = next.at;
      const preDial = buildPreDialState(call, at);
      session = requireFinished(
        await handleCallEvent(tx, session.uuid, { ...next.report, preDial }, at),
      );
    }
  });
}

async function beginPlannedCall(tx: Db, call: PlannedCall, ids: BusyIds): Promise<CallSession> {
  const { at, caller_number, state } = call;
  const reported = {
    caller_number,
    offer_id: ids.offers[call.offer]!,
    traffic_source_id: ids.sources[call.source]!,
    sub_id: `${call.source}-${state.toLowerCase()}`,
    tokens: { state },
  };
  const incoming = await readIncomingCall(tx, reported, at);
  return requireFinished(
    await startCall(tx, { ...incoming, preDial: buildPreDialState(call, at) }, at),
  ).session;
}

/** The seed of the plan makes the draws of routing repeatable. */
const buildPreDialState = ({ seed }: PlannedCall, at: Date) => ({
  verdicts: new Map(),
  bids: new Map(),
  uuid: uuidv7(at.getTime()),
  seed,
});

function requireFinished<T extends object>(
  result: T,
): Exclude<T, { kind: 'pre_dial_check_required' }> {
  if (isCheckRequired(result)) throw new Error('a demo company has no pre-dial webhooks');
  return result as Exclude<T, { kind: 'pre_dial_check_required' }>;
}

interface Now {
  at: Date;
  chance: () => number;
}

const addSeconds = (at: Date, seconds: number) =>
  new Date(at.getTime() + Math.round(seconds * 1000));

/** Returns the next report about a call; undefined once it is over. */
function nextMoment(
  { instruction }: CallSession,
  { at: startedAt, patience, talk }: PlannedCall,
  { at, chance }: Now,
): Moment | undefined {
  const { action, dial } = instruction;
  const attempt = instruction.attempt ?? undefined;
  if (action === 'connect') return { at: addSeconds(at, talk), report: { event: 'completed' } };
  if (action === 'ask_for_key')
    return { at: addSeconds(at, 2), report: { event: 'key_press', attempt, key: '1' } };
  if (action !== 'dial') return undefined;
  const answers = addSeconds(at, 3 + chance() * 15);
  const givesUp = addSeconds(startedAt, patience);
  if (givesUp < answers) return { at: givesUp, report: { event: 'completed' } };
  const event = choose<ReportedEvent['event']>(chance(), [
    ['answered', 86],
    ['no_answer', 8],
    ['busy', 5],
    ['failed', 1],
  ]);
  const rung = dial[Math.floor(chance() * dial.length)]!.attempt;
  return { at: answers, report: { event, attempt: rung } };
}
