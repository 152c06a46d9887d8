import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { PEPPER } from './world';

export const option = (name: string, fallback: string): string => process.argv[process.argv.indexOf(`--${name}`) + 1 || Infinity] ?? fallback;
export const median = (numbers: number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
export const percentile = (numbers: number[], p: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * p))] ?? 0;

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
/** What `npm start` runs once everything is built. */
const START = scripts.start.split(' && ').at(-1)!;

/** The service as it is run by `npm start`. Its log is on; the lines go to /dev/null. */
export function startService(url: string, port: string): ChildProcess {
  const service = spawn('sh', ['-c', START], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      TZ: 'UTC',
      DATABASE_URL: url,
      PORT: port,
      KEY_PEPPER: PEPPER,
      DATA_DIR: '.bench',
      LOG_LEVEL: 'info',
    },
  });
  // A bench that breaks off must not leave it behind.
  process.once('exit', () => service.kill());
  return service;
}

export async function ready(port: number | string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await fetch(`http://127.0.0.1:${port}/livez`).then(() => true, () => false)) return; // prettier-ignore
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`nothing listens on ${port}`);
}

/** Memory of a process now, and the most it ever had. */
export function memory(pid: number): { now_mb: number; peak_mb: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mb = (field: string) => Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024);
  return { now_mb: mb('VmRSS'), peak_mb: mb('VmHWM') };
}
