import { applyCalls } from '../leads/apply-calls';
import type { Deps } from '../deps';
import { endStaleCalls } from '../calls/end-stale-calls';
import { expireReservations } from '../routing/expire-reservations';
import { repeat, type Running } from '../jobs/loop';

const EVERY_MS = 1_000;
const PAUSE_MS = 5_000;

/** Gives back what calls that have died hold, and what is held for calls that have not come, and tells leads of their calls, until it is stopped; any number of processes may. */
export function startWatch(deps: Deps): Running {
  const work = async () => {
    await endStaleCalls(deps);
    await expireReservations(deps.database.pool, deps.clock());
    await applyCalls(deps.database.pool, deps.clock());
    return false;
  };
  return repeat(deps.log, {
    work,
    every_ms: EVERY_MS,
    pause_ms: PAUSE_MS,
    failure: 'calls could not be looked after: tried again',
  });
}
