import { writeFileSync } from 'node:fs';
import autocannon from 'autocannon';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { checkTexted, LONGEST_MS, openDueLeads, watchTexted } from './engine-leads';
import {
  end,
  median,
  memory,
  option,
  waitUntilReady,
  round,
  say,
  startService,
  startWorker,
} from './tools';
import { dropWorld, query, type BenchWorld } from './world';

// Many leads due at once: how fast the workers text them, and how long a typical request to a
// server on the same machine takes in the meantime.

const PORT = '4108';
const ROUNDS = Number(option('rounds', '3'));
const LEADS = Number(option('leads', '100000'));
const WORKERS = [1, 2];
const QUIET_SECONDS = 10;
const RATE = 100;

interface Figures {
  steps_s: number;
  seconds: number;
  quiet_p50_ms: number;
  quiet_p99_ms: number;
  p50_ms: number;
  p99_ms: number;
  errors: number;
  deadlocks: number;
  /** Peak memory of the worker that used most. */
  worker_mb: number;
}

/** Sends GET /buyers/:id RATE times a second until it is stopped. */
function load({ auth, first_id, last_id }: BenchWorld): { stop: () => Promise<autocannon.Result> } {
  const headers = { Authorization: `Basic ${Buffer.from(auth).toString('base64')}` };
  const path = () =>
    `/api/v1/buyers/${first_id + Math.floor(Math.random() * (last_id - first_id))}`;
  const requests = [
    {
      setupRequest: (request: autocannon.Request) => ({
        ...request,
        method: 'GET' as const,
        path: path(),
        headers,
      }),
    },
  ];
  let stop = () => {};
  const result = new Promise<autocannon.Result>((done, fail) => {
    const options = {
      url: `http://127.0.0.1:${PORT}`,
      connections: 4,
      overallRate: RATE,
      duration: LONGEST_MS / 1000,
      requests,
    };
    stop = autocannon(options, (error, measured) =>
      error ? fail(error as Error) : done(measured),
    ).stop;
  });
  return { stop: () => (stop(), result) };
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

async function loadFor(world: BenchWorld, seconds: number): Promise<autocannon.Result> {
  const running = load(world);
  await pause(seconds * 1000);
  return running.stop();
}

/** Measures steps a second from the first text message to the last, while the load runs. */
async function race(
  world: BenchWorld,
): Promise<{ steps_s: number; seconds: number; meanwhile: autocannon.Result }> {
  const texted = await watchTexted(world);
  const first = await texted.until(1);
  const running = load(world);
  const last = await texted.until(LEADS);
  const meanwhile = await running.stop();
  await texted.close();
  const seconds = (last.ms - first.ms) / 1000;
  return { steps_s: Math.round((last.n - first.n) / seconds), seconds: round(seconds), meanwhile };
}

async function deadlocks({ url }: BenchWorld): Promise<number> {
  // A session reports its counts to pg_stat_database within a second.
  await pause(1_500);
  return Number(
    (
      await query(url, 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()')
    )[0]!.deadlocks,
  );
}

async function measure(server: EmbeddedDatabase, workers: number): Promise<Figures> {
  const world = await openDueLeads(server, 'bench_engine', LEADS);
  const processes = [startService(world.url, PORT, { RUN_JOBS: 'false' })];
  try {
    await waitUntilReady(PORT);
    await loadFor(world, 2);
    const before = await loadFor(world, QUIET_SECONDS);
    const workerProcesses = Array.from({ length: workers }, () => startWorker(world.url));
    processes.push(...workerProcesses);
    const { steps_s, seconds, meanwhile } = await race(world);
    await checkTexted(world, LEADS);
    return {
      steps_s,
      seconds,
      quiet_p50_ms: before.latency.p50,
      quiet_p99_ms: before.latency.p99,
      p50_ms: meanwhile.latency.p50,
      p99_ms: meanwhile.latency.p99,
      deadlocks: await deadlocks(world),
      errors: [before, meanwhile].reduce((sum, { errors, non2xx }) => sum + errors + non2xx, 0),
      worker_mb: Math.max(...workerProcesses.map(({ pid }) => memory(pid!).peak_mb)),
    };
  } finally {
    await end(processes);
    await dropWorld(server, 'bench_engine');
  }
}

function summarize(workers: number, all: Figures[]) {
  const of = (key: keyof Figures) => median(all.map((figures) => figures[key]));
  return {
    workers,
    steps_s: of('steps_s'),
    seconds: of('seconds'),
    quiet_p50_ms: of('quiet_p50_ms'),
    quiet_p99_ms: of('quiet_p99_ms'),
    p50_ms: of('p50_ms'),
    p99_ms: of('p99_ms'),
    ratio: round(median(all.map(({ p99_ms, quiet_p99_ms }) => p99_ms / quiet_p99_ms))),
    errors: of('errors'),
    deadlocks: of('deadlocks'),
    worker_mb: of('worker_mb'),
  };
}

function print(row: ReturnType<typeof summarize>, stepsSOfOne: number): void {
  const { workers, steps_s, p50_ms, p99_ms, ratio, errors, deadlocks } = row;
  const gain = workers === 1 ? '' : `, ${(steps_s / stepsSOfOne).toFixed(2)} x one`;
  say(
    `${LEADS.toLocaleString('en')} leads due at once, ${workers} ` +
      `worker${workers === 1 ? '' : 's'}: ${steps_s} steps/s (${row.seconds} s${gain}), ` +
      `${row.worker_mb} MB each at most; GET /buyers/:id at ${RATE}/s: p50 ${row.quiet_p50_ms} ` +
      `and p99 ${row.quiet_p99_ms} ms before, p50 ${p50_ms} and p99 ${p99_ms} ms meanwhile ` +
      `(${ratio} x)${errors ? `  ERRORS ${errors}` : ''}` +
      `${deadlocks ? `  DEADLOCKS ${deadlocks}` : ''}`,
  );
}

export async function benchEngine(server: EmbeddedDatabase): Promise<void> {
  const runs = new Map(WORKERS.map((workers) => [workers, [] as Figures[]]));
  for (let turn = 0; turn < ROUNDS; turn++) {
    for (const workers of WORKERS) runs.get(workers)!.push(await measure(server, workers));
  }
  const report = [...runs].map(([workers, all]) => summarize(workers, all));
  for (const row of report) print(row, report[0]!.steps_s);
  writeFileSync(
    '.bench/engine.json',
    JSON.stringify(
      { leads: LEADS, rounds: ROUNDS, rate: RATE, report, all: Object.fromEntries(runs) },
      null,
      2,
    ),
  );
}
