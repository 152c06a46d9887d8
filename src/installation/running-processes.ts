import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { isAlive } from '../db/process-state';
import type { Sql } from '../db/sql';
import { DELETE_PROCESS, RUNNING_PROCESSES, SEE_PROCESS } from './queries/processes';
import { differencesOf, readSettings, type SharedSettings } from './shared-settings';

// Every server and worker registers in the database, so that one that starts knows the others.

export interface RunningProcess {
  kind: string;
  host: string;
  pid: number;
}

export type Kind = 'server' | 'worker';

const SEE_MS = 5_000;
/** A process without a heartbeat for this long is considered gone. */
const GONE_SECONDS = 20;

/** The other processes on this database; those of this machine only if they exist. */
export async function othersOn(sql: Sql): Promise<RunningProcess[]> {
  const found = await sql(RUNNING_PROCESSES, { seconds: GONE_SECONDS });
  const here = hostname();
  return found.filter(({ host, pid }) => host !== here || (pid !== process.pid && isAlive(pid)));
}

export const namesOf = (found: readonly RunningProcess[]): string =>
  found.map(({ kind, host, pid }) => `${kind} ${pid} on ${host}`).join(', ');

export interface Presence {
  keep(sql: Sql, log: Logger): void;
  /** Removes the registration. */
  end(sql: Sql): Promise<void>;
}

export async function appear(sql: Sql, kind: Kind, settings: SharedSettings): Promise<Presence> {
  const self = { id: randomUUID(), kind, host: hostname(), pid: process.pid };
  await sql(SEE_PROCESS, self);
  let timer: NodeJS.Timeout | undefined;
  return {
    keep: (own_sql, log) => {
      const see = seer(own_sql, settings, log);
      timer = setInterval(() => void see(self), SEE_MS);
      timer.unref();
    },
    end: async (own_sql) => {
      clearInterval(timer);
      // If the database is gone, the registration expires by itself.
      await own_sql(DELETE_PROCESS, { id: self.id }).catch(() => undefined);
    },
  };
}

/** Renews the registration; logs once if the process must be restarted with other settings. */
function seer(sql: Sql, settings: SharedSettings, log: Logger) {
  let warned = false;
  return async (self: { id: string } & RunningProcess): Promise<void> => {
    try {
      await sql(SEE_PROCESS, self);
      const variables = differencesOf(await readSettings(sql), settings);
      if (variables.length > 0 && !warned)
        log.warn({ settings: variables }, 'settings were changed: start this process again');
      warned = variables.length > 0;
    } catch (error) {
      log.debug({ err: error }, 'the process could not say that it runs');
    }
  };
}
