import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { PEPPER, toStorageFolder } from './world';

export const option = (name: string, fallback: string): string =>
  process.argv[process.argv.indexOf(`--${name}`) + 1 || Infinity] ?? fallback;
export const median = (numbers: number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
export const percentile = (numbers: number[], p: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * p))] ??
  0;

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<'start' | 'worker', string>;
};

/** Starts a process that ends with the bench, even when the bench fails. */
function launch(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  ownSession = false,
): ChildProcess {
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env.PATH, NODE_ENV: 'production', TZ: 'UTC', ...env },
    detached: ownSession,
  });
  const end = () => void child.kill();
  process.once('exit', end);
  child.once('exit', (code) => {
    process.off('exit', end);
    // Another program on the same port would be measured instead.
    if (child.killed) return;
    console.error(`a process of the bench has ended by itself, with code ${code}`);
    process.exit(1);
  });
  return child;
}

/** The folder of another Node (`--node`) comes first. */
const searchPath = [process.env.BENCH_NODE_FOLDER, process.env.PATH].filter(Boolean).join(':');

/** Runs the command of an npm script without its build. Logging is on, to /dev/null. */
const launchScript = (script: 'start' | 'worker', url: string, settings: NodeJS.ProcessEnv) => {
  const env = {
    PATH: searchPath,
    DATABASE_URL: url,
    KEY_PEPPER: PEPPER,
    DATA_DIR: '.bench',
    STORAGE_DIR: toStorageFolder(url),
    LOG_LEVEL: 'info',
    // Requests are counted as usual, but the limits are never reached.
    RATE_LIMIT_PER_MINUTE: '1000000000',
    LEAD_RATE_LIMIT_PER_MINUTE: '1000000000',
    ...settings,
  };
  // A worker may lower the priority of its session, so it needs one of its own.
  return launch('sh', ['-c', scripts[script].split(' && ').at(-1)!], env, script === 'worker');
};

/** Starts the service like `npm start`. */
export const startService = (
  url: string,
  port: string,
  settings: NodeJS.ProcessEnv = {},
): ChildProcess => launchScript('start', url, { PORT: port, ...settings });

/** Starts a job process like `npm run worker`. */
export const startWorker = (url: string, settings: NodeJS.ProcessEnv = {}): ChildProcess =>
  launchScript('worker', url, settings);

/** Starts another implementation of the same requests: a file of scripts/bench/. */
export const startRival = (file: string, settings: NodeJS.ProcessEnv): ChildProcess =>
  launch('node', ['--import', 'tsx', `scripts/bench/${file}.ts`], settings);

export async function end(children: Iterable<ChildProcess>): Promise<void> {
  await Promise.all(
    [...children].map((child) => {
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGTERM');
      return ended;
    }),
  );
}

export async function waitUntilReady(port: number | string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (
      await fetch(`http://127.0.0.1:${port}/livez`).then(
        () => true,
        () => false,
      )
    )
      return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`nothing listens on ${port}`);
}

export function memory(pid: number): { now_mb: number; peak_mb: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mb = (field: string) =>
    Math.round(Number(new RegExp(String.raw`${field}:\s+(\d+)`).exec(status)?.[1] ?? 0) / 1024);
  return { now_mb: mb('VmRSS'), peak_mb: mb('VmHWM') };
}

export const round = (n: number, digits = 2): number => Number(n.toFixed(digits));
export const say = (line: string): void => void process.stdout.write(`${line}\n`);

export interface PacedLoad {
  url: string;
  headers: Record<string, string>;
  body(): string;
  /** Requests a second. */
  rate: number;
  seconds: number;
  /** Sent at the same rate before the measurement, and left out of the times. */
  warm_seconds?: number;
}

/**
 * Sends each request when it is due, even if earlier ones still wait for their response. Returns
 * how long each took from its due time.
 */
export async function sendPaced({
  url,
  headers,
  body,
  rate,
  seconds,
  warm_seconds = 0,
}: PacedLoad): Promise<{ times: number[]; errors: number }> {
  const agent = new http.Agent({ keepAlive: true });
  const times: number[] = [];
  let errors = 0;
  const send = (due: number, isWarm: boolean) =>
    new Promise<void>((done) => {
      const request = http.request(url, { agent, method: 'POST', headers }, (res) => {
        res.resume().on('end', () => {
          if (isWarm) times.push(performance.now() - due);
          if (res.statusCode! >= 300) errors++;
          done();
        });
      });
      request.on('error', () => (errors++, done())).end(body());
    });
  const start = performance.now();
  const requests: Promise<void>[] = [];
  for (let n = 0; n < rate * (warm_seconds + seconds); n++) {
    const due = start + (n * 1000) / rate;
    const early = due - performance.now();
    if (early > 0) await new Promise((go) => setTimeout(go, early));
    requests.push(send(due, n >= rate * warm_seconds));
  }
  await Promise.all(requests);
  agent.destroy();
  return { times, errors };
}
