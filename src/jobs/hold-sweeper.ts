import { setTimeout } from 'node:timers/promises';
import type { Deps } from '../deps';
import { freeExpiredHolds } from '../workflows/free-holds';
import type { Engine } from './engine';

/** How long a hold that has run out may keep its caps. */
const POLL_MS = 500;

/** Gives back what is held for calls that have not come, until it is stopped; any number of processes may. */
export function startHoldSweeper({ database, clock, log }: Pick<Deps, 'database' | 'clock' | 'log'>): Engine {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async () => {
    while (!signal.aborted) {
      await freeExpiredHolds(database.pool, clock()).catch((error: unknown) => log.warn({ err: error }, 'holds could not be given back: tried again'));
      await setTimeout(POLL_MS, undefined, { signal }).catch(() => undefined);
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
