import { lookUpCosts } from '../calls/look-up-costs';
import type { Deps } from '../deps';
import { repeat, type Running } from '../jobs/loop';

const EVERY_MS = 5_000;
const PAUSE_MS = 30_000;

/** Asks carriers what calls have cost, until it is stopped. Any number of processes may do so. */
export function startCallCosts(deps: Deps): Running {
  return repeat(deps.log, {
    work: async () => (await lookUpCosts(deps)) > 0,
    every_ms: EVERY_MS,
    pause_ms: PAUSE_MS,
    failure: 'looking up the costs of calls failed and will be tried again',
  });
}
