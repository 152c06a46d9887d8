import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';

/** Something that runs until it is stopped. */
export interface Running {
  /** Begins nothing more, and waits for the work under way. */
  stop(): Promise<void>;
}

export interface Repeated {
  /** Returns whether to run again at once. `signal` is aborted when the work is to end soon. */
  work(signal: AbortSignal): Promise<boolean>;
  /** Pause between two runs. */
  every_ms: number;
  /** Pause after a failure; usually the database is down. */
  pause_ms: number;
  /** The message that is logged after a failure. */
  failure: string;
}

/** Repeats the work until it is stopped. */
export function repeat(log: Logger, { work, every_ms, pause_ms, failure }: Repeated): Running {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number) => setTimeout(ms, undefined, { signal }).catch(() => undefined);
  const run = async () => {
    while (!signal.aborted) {
      try {
        if (!(await work(signal))) await pause(every_ms);
      } catch (error) {
        log.warn({ err: error }, failure);
        await pause(pause_ms);
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
