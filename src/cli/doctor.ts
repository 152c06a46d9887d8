import { existsSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import { Client } from 'pg';
import { ConfigError, loadConfig, type Config } from '../config';
import { startEmbedded, type EmbeddedDatabase } from '../db/embedded-postgres';
import { pendingMigrations, PreReleaseDatabase } from '../db/migrate';
import { sqlOn, type Sql } from '../db/sql';
import { SERVER_VERSION, UNFINISHED_PURCHASES } from './queries/operator';

/** What was found, and how to fix it. */
export interface Finding {
  check: string;
  ok: boolean;
  finding: string;
  remedy?: string;
}

const MIN_FREE_GB = 1;
/** PostgreSQL 15. */
const MIN_VERSION = 150_000;
const CONNECT_TIMEOUT_MS = 3_000;

const finding = (check: string, ok: boolean, text: string, remedy?: string): Finding => ({
  check,
  ok,
  finding: text,
  ...(!ok && remedy && { remedy }),
});

/** Checks configuration, disk, port, database, extensions, migrations and purchases of numbers. */
export async function examine(): Promise<Finding[]> {
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map((fault) =>
      finding('configuration', false, fault, 'Set it as .env.example explains.'),
    );
  }
  return [
    finding('configuration', true, 'every variable is usable'),
    disk(config),
    await ports(config),
    ...(await databases(config)),
  ];
}

function disk({ data_dir }: Config): Finding {
  let folder = resolve(data_dir);
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  const free_gb = (bavail * bsize) / 1e9;
  return finding(
    'disk',
    free_gb > MIN_FREE_GB,
    `${free_gb.toFixed(1)} GB free for ${data_dir}`,
    'Free some space, or set DATA_DIR to a larger disk.',
  );
}

async function ports({ port, host }: Config): Promise<Finding> {
  const address = `${host}:${port}`;
  if (await isFree({ port, host })) return finding('port', true, `${address} is free`);
  const is_ours = await fetch(`http://${address}/livez`).then(
    (res) => res.ok,
    () => false,
  );
  if (is_ours) return finding('port', true, `${address} is served, and alive`);
  return finding(
    'port',
    false,
    `${address} is used by another program`,
    'Stop that program, or set PORT to another port.',
  );
}

const isFree = ({ port, host }: Pick<Config, 'port' | 'host'>) =>
  new Promise<boolean>((done) => {
    const server = createServer();
    server
      .once('error', () => done(false))
      .listen(port, host, () => server.close(() => done(true)));
  });

async function databases(config: Config): Promise<Finding[]> {
  let embedded: EmbeddedDatabase | undefined;
  let client: Client | undefined;
  try {
    embedded = config.database_url ? undefined : await startEmbedded({ dataDir: config.data_dir });
    client = new Client({
      connectionString: config.database_url ?? embedded!.url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    await client.connect();
    return await examineDatabase(client, embedded ? ', run by Trunkline' : '');
  } catch (error) {
    if (error instanceof PreReleaseDatabase) return [finding('migrations', false, error.message)];
    return [unreachable(error as NodeJS.ErrnoException, config)];
  } finally {
    await client?.end().catch(() => undefined);
    await embedded?.stop();
  }
}

const unreachable = ({ message, code }: NodeJS.ErrnoException, { database_url }: Config) =>
  finding(
    'database',
    false,
    message || code || 'cannot be reached',
    database_url
      ? 'Check DATABASE_URL: host, port, user, password, and that PostgreSQL is up.'
      : 'See .data/postgres/postgres.log.',
  );

async function examineDatabase(client: Client, run_by: string): Promise<Finding[]> {
  const sql = sqlOn(client);
  const [server] = await sql(SERVER_VERSION, {});
  const { version, name, extensions } = server!;
  const pending = await pendingMigrations(client);
  const is_migrated = pending.length === 0;
  return [
    finding(
      'database',
      version >= MIN_VERSION,
      `PostgreSQL ${name}${run_by}`,
      'Use PostgreSQL 15 or later.',
    ),
    finding(
      'extensions',
      extensions === 2,
      'pg_trgm and btree_gin',
      "Install PostgreSQL's contrib package on the database server.",
    ),
    finding(
      'migrations',
      is_migrated,
      is_migrated ? 'all applied' : `pending: ${pending.join(', ')}`,
      'Run: npm run --silent cli -- migrate (a start does it too)',
    ),
    ...(is_migrated ? [await purchases(sql)] : []),
  ];
}

/**
 * Finds numbers whose purchase was interrupted: they may be paid for, and belong to no company
 * until the purchase is finished.
 */
export async function purchases(sql: Sql): Promise<Finding> {
  const numbers = (await sql(UNFINISHED_PURCHASES, {})).map(({ number }) => number);
  if (numbers.length === 0) return finding('numbers', true, 'no purchase was interrupted');
  return finding(
    'numbers',
    false,
    `interrupted purchases: ${numbers.join(', ')}`,
    'Finish each: POST /api/v1/phone_numbers with its requested_number. DELETE then returns it.',
  );
}
