import type { Command } from 'commander';
import { loadConfig } from '../config';
import { type Config } from '../../platform/config';
import {
  asStatements,
  entryName,
  POOLED,
  pooledSettings,
} from '../../data/postgres/session-settings';
import { StartError } from '../../platform/start-error';

export function addPgBouncerCommand(program: Command): void {
  program
    .command('pgbouncer')
    .description('print what pgbouncer.ini must have for this configuration')
    .action(() => void process.stdout.write(pgbouncerIni(loadConfig())));
}

/**
 * The part of pgbouncer.ini for this configuration. Each pool of a process has an entry, so that
 * its sessions get their own settings, and no kind of work takes the sessions of another.
 */
export function pgbouncerIni(config: Config): string {
  const { database_url, database_direct_url, database_timeout_seconds } = config;
  if (database_url === undefined || database_direct_url === undefined)
    throw new StartError(
      'Set DATABASE_URL to PgBouncer, and DATABASE_DIRECT_URL to PostgreSQL itself.',
    );
  const name = readDatabaseName(database_url);
  const settings = pooledSettings(database_timeout_seconds * 1000);
  const entries = POOLED.map((pool) =>
    [
      `${quoted(entryName(name, pool))} =`,
      connection(database_direct_url),
      `connect_query='${asStatements(settings[pool]).replaceAll("'", "''")}'`,
    ].join(' '),
  );
  return `${['[databases]', ...entries, '', '[pgbouncer]', ...general(config)].join('\n')}\n`;
}

const general = ({ database_timeout_seconds }: Config): string[] => [
  'pool_mode = transaction',
  'max_prepared_statements = 1000',
  'server_reset_query_always = 0',
  '; sessions of PostgreSQL for each entry above, for all processes together',
  'default_pool_size = 8',
  '; some 40 for each process',
  'max_client_conn = 1000',
  '; of DATABASE_TIMEOUT_SECONDS: whoever waits longer for a session is answered 503',
  `query_wait_timeout = ${Math.ceil(database_timeout_seconds * 0.6)}`,
];

function connection(directUrl: string): string {
  const { hostname, port, searchParams } = new URL(directUrl);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  const values = {
    host: host || 'localhost',
    port: port || '5432',
    dbname: readDatabaseName(directUrl),
  };
  return Object.entries(values)
    .map(([key, value]) => `${key}='${value.replaceAll("'", "''")}'`)
    .join(' ');
}

const readDatabaseName = (url: string): string =>
  decodeURIComponent(new URL(url).pathname.slice(1));

/** Quotes a name for the file if needed. */
const quoted = (name: string): string =>
  /^[A-Za-z_][\w.-]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
