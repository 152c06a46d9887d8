import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { forEach } from '../../data/jobs/each';
import { readCallState } from './call-state';
import { endLostCall } from './lost-call';
import { FIND_STALE_CALLS, IS_STALE } from './queries/concurrency-slots';

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
  return endLostCall(db, state, {
    ...{ seen_at: lease!.seen_at!, message: 'no event arrived in time', now },
  });
}
