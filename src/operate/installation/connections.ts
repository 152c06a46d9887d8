import type { Config } from '../../platform/config';
import { countConnections } from '../../data/client';
import type { Sql } from '../../data/sql';
import { StartError } from '../../platform/start-error';
import { MAX_CONNECTIONS } from './queries/connections';

// Connections that the PostgreSQL run by Trunkline itself must allow.

type Settings = Pick<Config, 'web_concurrency' | 'pool_size' | 'database_url'>;

/** Enough for a single process. */
const DEFAULT_CONNECTIONS = 200;
const CONNECTION_LIMIT = 2_000;
/** In addition to the pools, a process listens for jobs and for the events of agents. */
const LISTENER_CONNECTIONS = 2;
/** For commands of operators, and those that PostgreSQL reserves for its superuser. */
const RESERVED_CONNECTIONS = 40;

/**
 * The processes of a server: those that answer requests, the main process, that of the jobs, and
 * one that is being replaced.
 */
const countProcesses = ({ web_concurrency }: Settings) =>
  web_concurrency > 1 ? web_concurrency + 3 : 1;

const countNeeded = (settings: Settings): number =>
  countProcesses(settings) * (countConnections(settings.pool_size) + LISTENER_CONNECTIONS) +
  RESERVED_CONNECTIONS;

/** `max_connections` of the PostgreSQL that is started for these settings. */
export function embeddedConnections(settings: Settings): number {
  const needed = countNeeded(settings);
  if (needed > CONNECTION_LIMIT) throw tooMany(settings, `allows ${CONNECTION_LIMIT} at most`);
  return Math.max(DEFAULT_CONNECTIONS, needed);
}

/** Throws if the running PostgreSQL, started by another process, has fewer. */
export async function checkConnections(sql: Sql, settings: Settings): Promise<void> {
  if (settings.database_url !== undefined || settings.web_concurrency === 1) return;
  const [{ max } = { max: 0 }] = await sql(MAX_CONNECTIONS, {});
  if (max < countNeeded(settings))
    throw tooMany(settings, `was started by another process with ${max}; stop that process`);
}

const tooMany = (settings: Settings, limit: string) =>
  new StartError(
    `WEB_CONCURRENCY=${settings.web_concurrency}: with DATABASE_POOL_SIZE=${settings.pool_size}, ` +
      `the processes take up to ${countNeeded(settings)} connections, and the PostgreSQL of ` +
      `DATA_DIR ${limit}, set one of both lower, or use a PostgreSQL of your own (DATABASE_URL).`,
  );
