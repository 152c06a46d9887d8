import { setTimeout } from 'node:timers/promises';
import { contactDueLeads, type EngineDeps, type EngineOptions } from '../workflows/contact-due-leads';

export interface Engine {
  /** Begins with no further lead, and waits for what is being sent. */
  stop(): Promise<void>;
}

/** How often it is looked for due leads when there are none. */
const POLL_MS = 500;
/** After a failure, which is as a rule a database that is away. */
const PAUSE_MS = 2_000;

/** Contacts leads as they become due, until it is stopped; any number of processes may. */
export function startEngine(deps: EngineDeps, options: Pick<EngineOptions, 'lease_ms'> = {}): Engine {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number) => setTimeout(ms, undefined, { signal }).catch(() => undefined);
  const run = async () => {
    while (!signal.aborted) {
      try {
        const contacted = await contactDueLeads(deps, { ...options, signal });
        if (contacted === 0) await pause(POLL_MS);
      } catch (error) {
        deps.log.warn({ err: error }, 'leads could not be contacted: tried again');
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
