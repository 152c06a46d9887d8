import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { isAlive } from '../../data/postgres/process-state';
import type { Sql } from '../../data/sql';
import { DELETE_PROCESS, RUNNING_PROCESSES, SEE_PROCESS } from './queries/processes';
import { listDifferences, readSettings, type SharedSettings } from './shared-settings';

// Every server and worker registers in the database, so that one that starts knows the others.

export interface RunningProcess {
  kind: string;
  host: string;
  pid: number;
}

export type Kind = 'server' | 'worker';

const HEARTBEAT_MS = 5_000;
/** A process without a heartbeat for this long is considered gone. */
const SILENCE_SECONDS = 20;

/** The other processes on this database; those of this machine only if they exist. */
export async function listOtherProcesses(sql: Sql): Promise<RunningProcess[]> {
  const processes = await sql(RUNNING_PROCESSES, { seconds: SILENCE_SECONDS });
  const here = hostname();
  return processes.filter(
    ({ host, pid }) => host !== here || (pid !== process.pid && isAlive(pid)),
  );
}

export const formatProcesses = (processes: readonly RunningProcess[]): string =>
  processes.map(({ kind, host, pid }) => `${kind} ${pid} on ${host}`).join(', ');

export interface Presence {
  startHeartbeat(sql: Sql, log: Logger): void;
  /** Removes the registration. */
  end(sql: Sql): Promise<void>;
}

export async function registerProcess(
  sql: Sql,
  kind: Kind,
  settings: SharedSettings,
): Promise<Presence> {
  const self = { id: randomUUID(), kind, host: hostname(), pid: process.pid };
  await sql(SEE_PROCESS, self);
  let timer: NodeJS.Timeout | undefined;
  return {
    startHeartbeat: (ownSql, log) => {
      const see = createHeartbeat(ownSql, settings, log);
      timer = setInterval(() => void see(self), HEARTBEAT_MS);
      timer.unref();
    },
    end: async (ownSql) => {
      clearInterval(timer);
      // If the database is gone, the registration expires by itself.
      await ownSql(DELETE_PROCESS, { id: self.id }).catch(() => undefined);
    },
  };
}

/** Renews the registration; logs once if the process must be restarted with other settings. */
function createHeartbeat(sql: Sql, settings: SharedSettings, log: Logger) {
  let warned = false;
  return async (self: { id: string } & RunningProcess): Promise<void> => {
    try {
      await sql(SEE_PROCESS, self);
      const variables = listDifferences(await readSettings(sql), settings);
      if (variables.length > 0 && !warned)
        log.warn({ settings: variables }, 'settings were changed: start this process again');
      warned = variables.length > 0;
    } catch (error) {
      log.debug({ err: error }, 'the process could not say that it runs');
    }
  };
}
