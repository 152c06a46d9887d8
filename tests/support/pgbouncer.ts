import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { pgbouncerIni } from '../../src/main/cli/pgbouncer';
import { loadConfig } from '../../src/main/config';
import { serviceAccount } from '../../src/data/postgres/embedded-account';
import { freePort } from './process';

// A PgBouncer of tests, before the PostgreSQL of tests.

const PROGRAM = process.env.PGBOUNCER_BIN || 'pgbouncer';
export const NEEDED = 'PgBouncer 1.21 or later, on PATH or as PGBOUNCER_BIN';

/** The version that this machine has, such as 1.24.1; undefined if it has none. */
export function pgbouncerVersion(): string | undefined {
  const { stdout } = spawnSync(PROGRAM, ['--version'], { encoding: 'utf8' });
  return /^PgBouncer (\S+)/.exec(stdout ?? '')?.[1];
}

/** True if a version handles prepared statements in transaction mode. */
export function isRecentEnough(version: string | undefined): boolean {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  return major > 1 || (major === 1 && minor >= 21);
}

/** Why tests with PgBouncer are skipped; undefined if they are not. */
export function missingPgBouncer(): string | undefined {
  const version = pgbouncerVersion();
  if (isRecentEnough(version)) return undefined;
  return `found ${version ? `PgBouncer ${version}` : 'no PgBouncer'}, needs ${NEEDED}`;
}

export interface PgBouncer {
  /** Makes the entries of a database, and returns the environment of a process that uses them. */
  serve(url: string, environment?: Record<string, string>): Promise<Record<string, string>>;
  /** Makes other entries, as lines of the file; returns the URL with another database. */
  add(url: string, lines: readonly string[]): Promise<string>;
  /** Asks its console. */
  show<Row>(command: string): Promise<Row[]>;
  stop(): Promise<void>;
}

/** Starts a PgBouncer with these further settings. */
export async function startPgBouncer(settings: Record<string, string> = {}): Promise<PgBouncer> {
  const server = new URL(process.env.TRUNKLINE_TEST_DATABASE!);
  const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'pgbouncer-'));
  const account = serviceAccount();
  const port = await freePort();
  const databases: string[] = [];
  const general = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: join(folder, 'userlist.txt'),
    admin_users: server.username,
    pool_mode: 'transaction',
    max_prepared_statements: '1000',
    max_client_conn: '2000',
    ...settings,
  };
  const file = join(folder, 'pgbouncer.ini');
  const write = () => {
    const lines = Object.entries(general).map(([name, value]) => `${name} = ${value}`);
    writeFileSync(file, ['[databases]', ...databases, '[pgbouncer]', ...lines, ''].join('\n'));
  };
  write();
  writeFileSync(general.auth_file, `"${server.username}" "${server.password}"\n`);
  for (const path of [folder, file, general.auth_file]) {
    chmodSync(path, path === folder ? 0o700 : 0o600);
    if (account.uid !== undefined) chownSync(path, account.uid, account.gid!);
  }
  const child = spawn(PROGRAM, ['--quiet', file], { ...account, stdio: 'ignore' });
  const at = (database: string) => {
    const url = new URL(server);
    url.port = String(port);
    url.pathname = `/${database}`;
    return url.href;
  };
  const show = async <Row>(command: string) => {
    const client = new Client({ connectionString: at('pgbouncer') });
    await client.connect();
    const { rows } = await client.query(command).finally(() => client.end());
    return rows as Row[];
  };
  await waitUntilUp(child, () => show('SHOW VERSION'));
  const add = async (url: string, lines: readonly string[]) => {
    databases.push(...lines);
    write();
    await show('RELOAD');
    return at(new URL(url).pathname.slice(1));
  };
  return {
    add,
    show,
    serve: async (url, environment = {}) => {
      const { DATABASE_TIMEOUT_SECONDS = '10' } = environment;
      const variables = {
        DATABASE_URL: at(new URL(url).pathname.slice(1)),
        DATABASE_DIRECT_URL: url,
        DATABASE_TIMEOUT_SECONDS,
      };
      const ini = pgbouncerIni(loadConfig(variables)).split('\n');
      await add(url, ini.slice(ini.indexOf('[databases]') + 1, ini.indexOf('')));
      return variables;
    },
    stop: () => endProcess(child),
  };
}

async function waitUntilUp(child: ChildProcess, ask: () => Promise<unknown>): Promise<void> {
  for (let time = 0; child.exitCode === null && time < 500; time++) {
    try {
      await ask();
      return;
    } catch {
      await setTimeout(20);
    }
  }
  throw new Error(`PgBouncer does not answer; exit code: ${child.exitCode}`);
}

function endProcess(child: ChildProcess): Promise<void> {
  return new Promise((done) => {
    if (child.exitCode !== null) return done();
    child.once('exit', () => done());
    child.kill('SIGKILL');
  });
}
