import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { forEach } from '../../data/jobs/each';
import { isOpen, type AttemptStatus } from '../routing/engine/progress';
import { readCallState, type CallState } from './call-state';
import { FIND_STALE_CALLS, IS_STALE } from './queries/concurrency-slots';
import { recordChange, type Progress } from './record-change';
import { explainLost } from './unbilled-call';

const BATCH = 200;

/**
 * Ends calls whose lease ran out without an event, and releases their slots. Returns how many. Any
 * number of processes may run this at the same time. A later event about such a call still counts.
 */
export async function endStaleCalls({
  database,
  tenants,
  clock,
  log,
}: Pick<Deps, 'database' | 'tenants' | 'clock' | 'log'>): Promise<number> {
  const now = clock();
  let ended = 0;
  const stale = await database.sql(FIND_STALE_CALLS, { now, limit: BATCH });
  await forEach(stale, async ({ company_id, call_id }) => {
    const isEnded = await endStaleCall(tenants.of(BigInt(company_id)), call_id, now);
    if (!isEnded) return;
    ended++;
    log.warn(
      { company_id: Number(company_id), call_id: Number(call_id) },
      'no event of a call arrived in time: it is considered over, and its slots are released',
    );
  });
  return ended;
}

async function endStaleCall(db: Db, callId: string, now: Date): Promise<boolean> {
  const state = await readCallState(db, callId, { may_connect: false });
  if (!state) return false;
  const [lease] = await db.sql(IS_STALE, { call_id: callId, now });
  if (!lease!.is_stale) return false;
  // An event that has arrived since the call was read has changed it: then nothing is written.
  const { call, version } = state;
  const progress = explainLost(state, lostCall(state, now));
  const lost = { call_id: call.id, version, now, progress };
  return (await recordChange(db, lost)) === 'written';
}

function lostCall({ call, attempts }: CallState, now: Date): Progress {
  const open = attempts.filter(isOpen);
  const wasConnected = open.some(({ status }) => status === 'connected');
  const ends = open.map(({ uuid, status }): [string, AttemptStatus] => [
    uuid,
    status === 'connected' ? 'completed' : 'canceled',
  ]);
  return {
    attempts: new Map(ends),
    open: [],
    events: [{ event: 'lost', message: 'no event arrived in time' }],
    status: wasConnected || call.direction === 'outbound' ? 'completed' : 'no_answer',
    connected: undefined,
    ended_at: call.ended_at ?? now,
    answered_duration: null,
    hangup_cause: call.hangup_cause ?? 'lost',
    recording_url: null,
    lease_until: now,
  };
}
