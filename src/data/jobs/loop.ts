import type { Logger } from 'pino';
import { createClockGuard } from '../postgres/clock-skew';
import type { Sql } from '../sql';
import { endLoopFault, recordLoopFault } from './loop-faults';
import { pause } from '../../platform/pause';

export interface Running {
  /** Starts no further work, and waits for the current work. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  /** Returns true to run again at once. `signal` is aborted when the work must end soon. */
  work(signal: AbortSignal): Promise<boolean>;
  every_ms: number;
  /** Pause after a failure; usually the database is down. */
  pause_ms: number;
  /** The message that is logged after a failure, and shown until the work succeeds. */
  failure: string;
  /** The database that records failures; absent: they are only logged. */
  sql?: Sql;
}

/** How long a fault counts if no process ends it. */
const FAULT_SECONDS = 300;

/** Repeats the work until it is stopped; not while the clock of this host is wrong. */
export function repeat(log: Logger, repeated: LoopOptions): Running {
  const { work, every_ms, pause_ms, failure, sql } = repeated;
  const stopping = new AbortController();
  const { signal } = stopping;
  const requireClock = sql ? createClockGuard(sql) : async () => {};
  const run = async () => {
    let hasFailed = false;
    while (!signal.aborted) {
      try {
        await requireClock();
        const hasMore = await work(signal);
        if (hasFailed && sql) await endLoopFault(sql, failure);
        hasFailed = false;
        if (!hasMore) await pause(every_ms, signal);
      } catch (error) {
        log.warn({ err: error }, failure);
        hasFailed = true;
        if (sql) await recordLoopFault(sql, failure, FAULT_SECONDS + pause_ms / 1000);
        await pause(pause_ms, signal);
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
