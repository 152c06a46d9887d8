import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';

/** Something that goes on until it is stopped. */
export interface Running {
  /** Begins nothing more, and waits for what is being done. */
  stop(): Promise<void>;
}

export interface Repeated {
  /** Answers whether it is to be done again at once. `signal` is aborted when it is to end soon. */
  work(signal: AbortSignal): Promise<boolean>;
  /** Between two times. */
  every_ms: number;
  /** After a failure, which is as a rule a database that is away. */
  pause_ms: number;
  /** What is logged of a failure. */
  failure: string;
}

/** Does something again and again, until it is stopped. */
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
