import { setTimeout } from 'node:timers/promises';
import type { Deps } from '../deps';
import { endDeadCalls } from '../workflows/end-dead-calls';
import { freeExpiredHolds } from '../workflows/free-holds';

const EVERY_MS = 1_000;
/** After a failure, which is as a rule a database that is away. */
const PAUSE_MS = 5_000;

/** Gives back what calls that have died hold, and what is held for calls that have not come, until it is stopped; any number of processes may. */
export function startWatch(deps: Deps): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number) => setTimeout(ms, undefined, { signal }).catch(() => undefined);
  const run = async () => {
    while (!signal.aborted) {
      try {
        await endDeadCalls(deps);
        await freeExpiredHolds(deps.database.pool, deps.clock());
        await pause(EVERY_MS);
      } catch (error) {
        deps.log.warn({ err: error }, 'calls could not be looked after: tried again');
        await pause(PAUSE_MS);
      }
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
