import { recordProgress } from './queries/record-call';
import { deadCalls, freeSlots, isDead } from './queries/concurrency-slots';
import { lockCall, readAttempts, type AttemptRow, type CallRow } from './queries/calls';
import type { Statements } from '../db/tenant';
import type { Deps } from '../deps';
import { isOpen, type AttemptStatus } from '../routing/engine/progress';

/** How many are looked after at a time. */
const MOST = 200;

/**
 * Ends calls of which nothing was heard until their lease was over, and gives their slots back; answers how many. Any number of processes may do so at the
 * same time. What is heard of such a call later still counts.
 */
export async function endStaleCalls({
  database,
  tenants,
  clock,
  log,
}: Pick<Deps, 'database' | 'tenants' | 'clock' | 'log'>): Promise<number> {
  const now = clock();
  let ended = 0;
  for (const { company_id, call_id } of await deadCalls(database.pool, now, MOST)) {
    const is_ended = await tenants
      .of(BigInt(company_id))
      .statements((tx) => endDeadCall(tx, call_id, now));
    if (!is_ended) continue;
    ended++;
    log.warn(
      { company_id: Number(company_id), call_id: Number(call_id) },
      'nothing was heard of a call any more: it is taken for dead, and its slots are free again',
    );
  }
  return ended;
}

async function endDeadCall(db: Statements, call_id: string, now: Date): Promise<boolean> {
  const call = await lockCall(db, call_id);
  // It may have been heard of while we waited for it.
  if (!call || !(await isDead(db, call_id, now))) return false;
  await recordProgress(db, lost(call, await readAttempts(db, call.id), now));
  await freeSlots(db, call.id);
  return true;
}

function lost(
  call: CallRow,
  attempts: readonly AttemptRow[],
  now: Date,
): Parameters<typeof recordProgress>[1] {
  const open = attempts.filter(isOpen);
  const talked = open.some(({ status }) => status === 'connected');
  const ends = open.map(({ uuid, status }): [string, AttemptStatus] => [
    uuid,
    status === 'connected' ? 'completed' : 'canceled',
  ]);
  return {
    call_id: call.id,
    now,
    attempts: new Map(ends),
    events: [{ event: 'lost', message: 'nothing was heard of it any more' }],
    status: talked ? 'completed' : 'no_answer',
    connected: undefined,
    ended_at: call.ended_at ?? now,
    answered_duration: null,
    hangup_cause: call.hangup_cause ?? 'lost',
    recording_url: null,
    lease_until: now,
  };
}
