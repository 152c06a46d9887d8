import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { contract } from '../../src/platform/contract/contract';
import { ERROR_CODES } from '../../src/platform/errors';
import { startEmbedded, type EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { migrate } from '../../src/data/postgres/migrate';
import { prepareQueue } from '../../src/data/jobs/queue';
import { setLockWait } from './lock-wait';

export const TEMPLATE = 'trunkline_template';

interface Started {
  database: EmbeddedDatabase;
  folder: string;
}
declare global {
  var started: Started;
}

/** Starts a PostgreSQL for this run alone; each test file gets a copy of its migrated database. */
export default async function globalSetup(): Promise<void> {
  await prepareDatabase(createFolder());
}

/** The folder of this run, which its processes find in their environment. */
export function createFolder(): string {
  const folder = mkdtempSync(join(inMemory() ?? tmpdir(), 'trunkline-test-'));
  process.env.TRUNKLINE_TEST_FOLDER = folder;
  process.env.TRUNKLINE_TEST_RUN = randomBytes(4).toString('hex');
  return folder;
}

export async function prepareDatabase(folder: string): Promise<void> {
  const database = await startEmbedded({
    dataDir: folder,
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_wal_size: '512MB',
      max_connections: '300',
    },
  });
  globalThis.started = { database, folder };
  // A run that is broken off (Ctrl-C) skips the teardown, and its PostgreSQL would stay.
  process.once('exit', () => stopAbruptly(folder));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  process.env.TRUNKLINE_TEST_DATABASE = database.url;
  const promised = contract.operations.flatMap(({ id, responses }) =>
    Object.keys(responses).map((status) => `${id} ${status}`),
  );
  // It takes a race that no test can force.
  const forced = Object.keys(ERROR_CODES).filter((code) => code !== 'contended');
  const codes = forced.map((code) => `error ${code}`);
  writeFileSync(join(folder, 'promised.txt'), [...promised, ...codes].join('\n'));
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${TEMPLATE}`);
  await client.end();
  const template = database.url.replace(/\/postgres$/, `/${TEMPLATE}`);
  await migrate(template, (client) => setLockWait((text) => client.query(text), '1min'));
  await prepareQueue(template);
}

/** Linux's file system in memory, where there is room: a database is copied there in 20 ms. */
function inMemory(): string | undefined {
  const folder = '/dev/shm';
  if (!existsSync(folder)) return undefined;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize > 4e9 ? folder : undefined;
}

function stopAbruptly(folder: string): void {
  const file = join(folder, 'postgres/postmaster.pid');
  if (!existsSync(file)) return;
  process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGQUIT');
  rmSync(folder, { recursive: true, force: true });
}
