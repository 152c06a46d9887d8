import { stopLegs } from '../calls/stop-legs';
import type { Deps } from '../deps';
import { repeat, type Running } from '../jobs/loop';

const EVERY_MS = 1_000;
const PAUSE_MS = 5_000;

/**
 * Stops legs that have rung long enough, until it is stopped. Any number of processes may do so.
 */
export function startLegs(deps: Deps): Running {
  const work = async () => (await stopLegs(deps)) > 0;
  return repeat(deps.log, {
    work,
    every_ms: EVERY_MS,
    pause_ms: PAUSE_MS,
    failure: 'stopping legs failed and will be tried again',
  });
}
