import type { Deps } from '../deps';
import { repeat, type Running } from '../jobs/loop';
import { startTriggered } from '../leads/start-triggered';

const EVERY_MS = 1_000;
const PAUSE_MS = 5_000;

/**
 * Starts schedules by their triggers, until it is stopped. Any number of processes may do so. It
 * has a loop of its own: an import of thousands of leads must hold up nothing else.
 */
export function startTriggers(deps: Deps): Running {
  const work = async () => (await startTriggered(deps)) > 0;
  return repeat(deps.log, {
    work,
    every_ms: EVERY_MS,
    pause_ms: PAUSE_MS,
    failure: 'schedules could not be started by their triggers; this will be tried again',
  });
}
