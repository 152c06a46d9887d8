import { resolve } from 'node:path';
import type { Client } from 'pg';
import type { Logger } from 'pino';
import type { Config } from '../../platform/config';
import { requireRightClock } from '../../data/postgres/clock-skew';
import { connectionFault, databaseName } from '../../data/postgres/connection-fault';
import {
  isInitialised,
  startEmbedded,
  type EmbeddedDatabase,
} from '../../data/postgres/embedded-postgres';
import { LOCK, migrate, runOnMigrated } from '../../data/postgres/migrate';
import { checkPooler, refusePooler } from '../../data/postgres/pooler';
import { sqlOn, type Sql } from '../../data/sql';
import { closeDeps, openConfiguredStorage, storageSettings, type DepsOptions } from './deps';
import { type Deps } from '../../domain/deps';
import { migrateCells } from '../cells/migrate-cells';
import { openDeps } from '../cells/open-deps';
import { prepareQueue } from '../../data/jobs/queue';
import { folderFault, StartError } from '../../platform/start-error';
import { describeStorage } from '../../platform/storage/open';
import { checkConnections, embeddedConnections } from './connections';
import { claimPepper } from './pepper';
import {
  formatProcesses,
  listOtherProcesses,
  registerProcess,
  type Kind,
  type Presence,
  type RunningProcess,
} from './running-processes';
import {
  acceptSettings,
  listDifferences,
  readSettings,
  sharedSettings,
  type SharedSettings,
} from './shared-settings';
import { claimStorage, loadRecordedMark } from './storage-mark';

/** A database that is up and migrated, and everything that uses it. */
export interface Installation {
  deps: Deps;
  /** Names of the migrations that this start applied. */
  migrated: string[];
  close(): Promise<void>;
}

interface OpenOptions extends Partial<DepsOptions> {
  /** The role of the process for other processes of this installation; absent for a command. */
  kind?: Kind;
  /** With `server`, a PostgreSQL that is started here runs as long as the server. */
  role?: 'server' | 'command';
  /** Refuses a database that is missing or out of date; otherwise it is made. */
  existing?: boolean;
}

/**
 * Starts PostgreSQL unless DATABASE_URL is set, applies migrations, and makes the dependencies.
 * Refuses a database that was used with another pepper.
 */
export async function openInstallation(
  config: Config,
  { role = 'command', existing = false, kind, ...options }: OpenOptions = {},
): Promise<Installation> {
  const database = await openDatabaseServer(config, { role, existing });
  try {
    let pepper = '';
    let presence: Presence | undefined;
    let storageMark: string | undefined;
    const migrated = await database.prepare(async (client) => {
      const sql = sqlOn(client);
      if (role === 'server') await checkConnections(sql, config);
      pepper = await claimPepper(sql, config);
      if (kind) presence = await join(sql, kind, { config, pepper });
      storageMark = await loadRecordedMark(sql);
    });
    const ownOptions = { config, database_url: database.url, pepper, storage_mark: storageMark };
    const deps = await openDeps({ ...ownOptions, ...options });
    if (role === 'server') database.watch(deps.log);
    presence?.startHeartbeat(deps.database.sql, deps.log);
    const close = async () => {
      await presence?.end(deps.database.sql);
      await closeDeps(deps);
      await database.stop();
    };
    return { deps, migrated, close };
  } catch (error) {
    await database.stop();
    throw error;
  }
}

/** Registers this process in the installation, if its clock, storage and settings match. */
async function join(
  sql: Sql,
  kind: Kind,
  { config, pepper }: { config: Config; pepper: string },
): Promise<Presence> {
  const settings = sharedSettings(config, pepper);
  await requireRightClock(sql);
  const storage = openConfiguredStorage(config, await loadRecordedMark(sql));
  await claimStorage(sql, { storage, name: describeConfiguredStorage(config) });
  await claimSettings(sql, settings);
  return registerProcess(sql, kind, settings);
}

class OtherSettings extends StartError {
  constructor(differences: string[], otherProcesses: RunningProcess[]) {
    super(
      'What must be equal in all processes of this database is not ' +
        `(running: ${formatProcesses(otherProcesses)}):\n` +
        differences.map((difference) => `  - ${difference}\n`).join('') +
        'Set it as it is there. To change it on purpose, stop all processes first; or, to change ' +
        'it while they run, run "npx trunkline settings accept" with the new settings, and then ' +
        'start each process again with them.',
    );
  }
}

/**
 * Compares the settings of a starting process with those of the installation. If they differ, they
 * replace those of the installation, provided that no other process runs. Call it under the lock of
 * migrations.
 */
export async function claimSettings(sql: Sql, ownSettings: SharedSettings): Promise<void> {
  const recorded = await readSettings(sql);
  const differences = listDifferences(recorded, ownSettings);
  if (differences.length > 0) {
    const otherProcesses = await listOtherProcesses(sql);
    if (otherProcesses.length > 0) throw new OtherSettings(differences, otherProcesses);
  }
  await acceptSettings(sql, { ...recorded, ...ownSettings });
}

export interface DatabaseServer {
  url: string;
  session_url: string;
  /**
   * Applies or checks migrations, then runs the work; no other process does so at the same time.
   */
  prepare(work?: (client: Client) => Promise<void>): Promise<string[]>;
  /** Restarts a PostgreSQL of this process whenever it ends by itself. */
  watch(log: Logger): void;
  stop(): Promise<void>;
}

export async function openDatabaseServer(
  config: Config,
  { role = 'command', existing = false }: OpenOptions = {},
): Promise<DatabaseServer> {
  if (existing && !config.database_url && !isInitialised(config.data_dir))
    throw new StartError(
      `There is no database in DATA_DIR, ${resolve(config.data_dir)}: correct DATA_DIR, or set ` +
        'DATABASE_URL. A start of the server makes one, and so does: npx trunkline migrate',
    );
  const embedded = config.database_url ? undefined : await startOwn(config, role);
  const url = config.database_url ?? embedded!.url;
  const sessionUrl = config.database_direct_url ?? url;
  const prepare: DatabaseServer['prepare'] = async (work = async () => {}) => {
    if (!embedded) await checkSessions(config);
    const checked = async (client: Client) => {
      await checkConfiguredPooler(config, client);
      await work(client);
    };
    if (existing) return runOnMigrated(sessionUrl, checked).then(() => []);
    // Under the lock of migrations, so that parallel starts do not make the queue twice.
    const migrated = await migrate(sessionUrl, async (client) => {
      await prepareQueue(sessionUrl);
      await checked(client);
    });
    if (!embedded) await migrateCells(sessionUrl);
    return migrated;
  };
  return {
    url,
    session_url: sessionUrl,
    prepare: (work) =>
      prepare(work).catch((error: unknown) => {
        throw sessionFault(config, error);
      }),
    watch: (log) =>
      embedded?.watch({
        onRestart: () => log.warn('the database had ended and was started again'),
        onFailure: (error) => log.error({ err: error }, 'the database cannot be started again'),
      }),
    stop: async () => embedded?.stop(),
  };
}

/** Refuses a pooler where a connection needs a session of its own. */
const checkSessions = ({ database_url, database_direct_url }: Config): Promise<void> =>
  database_direct_url === undefined
    ? refusePooler('DATABASE_URL', database_url!)
    : refusePooler('DATABASE_DIRECT_URL', database_direct_url);

/** Does nothing without a pooler. `client` holds the lock of migrations. */
export async function checkConfiguredPooler(config: Config, client: Client): Promise<void> {
  const { database_url: url, database_direct_url: directUrl } = config;
  if (url === undefined || directUrl === undefined) return;
  const timeoutMs = config.database_timeout_seconds * 1000;
  await checkPooler({ url, direct_url: directUrl, timeout_ms: timeoutMs }, client, LOCK);
}

/** Explains why PostgreSQL itself cannot be reached, with the variable that names it. */
export const sessionFault = (
  { database_url, database_direct_url }: Config,
  error: unknown,
): unknown =>
  database_direct_url === undefined
    ? connectionFault(database_url, error)
    : connectionFault(database_direct_url, error, 'DATABASE_DIRECT_URL');

async function startOwn(config: Config, role: 'server' | 'command'): Promise<EmbeddedDatabase> {
  try {
    const settings = { max_connections: String(embeddedConnections(config)) };
    return await startEmbedded({ dataDir: config.data_dir, role, settings });
  } catch (error) {
    throw folderFault('DATA_DIR', config.data_dir, error);
  }
}

/** The storage of files in messages, with its variable. */
export function describeConfiguredStorage(config: Config): string {
  const { folder, ...settings } = storageSettings(config);
  const name = describeStorage({ ...settings, folder: resolve(folder) });
  return config.s3 ? `S3_BUCKET: ${name}` : `STORAGE_DIR: the folder ${name}`;
}

/** The database of a configuration in messages, without its password. */
export const describeDatabase = ({ database_url, data_dir }: Config): string =>
  database_url ? databaseName(database_url) : `its own PostgreSQL, data in ${resolve(data_dir)}`;
