import { writeFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { Client } from 'pg';
import type { EmbeddedDatabase } from '../../src/db/embedded-postgres';
import { fillLeads, openShop } from './shop';
import { end, median, memory, option, ready, round, say, startService, startWorker } from './tools';
import { copyWorld, dropWorld, prepareWorld, query, quiet, type BenchWorld } from './world';

// Many leads due at once: how fast the job processes text all of them, and how long a typical
// request to a server on the same machine takes meanwhile.

const PORT = '4108';
const ROUNDS = Number(option('rounds', '3'));
const LEADS = Number(option('leads', '100000'));
const WORKERS = [1, 2];
const QUIET_SECONDS = 10;
const RATE = 100;
const SAMPLE_MS = 100;
const LONGEST_MS = 600_000;

interface Figures {
  steps_s: number;
  seconds: number;
  quiet_p50_ms: number;
  quiet_p99_ms: number;
  p50_ms: number;
  p99_ms: number;
  errors: number;
  /** Transactions that the database aborted because two waited for each other. */
  deadlocks: number;
  /** Memory of the job process that used most. */
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
  const client = new Client({ connectionString: world.url });
  await client.connect();
  // Reading the maintained count is cheap; counting rows would slow what is measured.
  const text = `SELECT coalesce(sum(n), 0)::int AS n, clock_timestamp() AS at
    FROM record_counts
    WHERE resource = 'text_messages'`;
  const sample = async (until: number) => {
    for (const deadline = Date.now() + LONGEST_MS; Date.now() < deadline; await pause(SAMPLE_MS)) {
      const { n, at } = (await client.query<{ n: number; at: Date }>(text)).rows[0]!;
      if (n >= until) return { n, ms: at.getTime() };
    }
    throw new Error(`not all of ${LEADS} leads were contacted within ${LONGEST_MS / 1000} s`);
  };
  const first = await sample(1);
  const running = load(world);
  const last = await sample(LEADS);
  const meanwhile = await running.stop();
  await client.end();
  const seconds = (last.ms - first.ms) / 1000;
  return { steps_s: Math.round((last.n - first.n) / seconds), seconds: round(seconds), meanwhile };
}

/** Checks that every lead got one message and waits for its next step. */
async function check({ url }: BenchWorld): Promise<void> {
  const [row] = await query(
    url,
    `SELECT (SELECT count(*) FROM text_messages)::int AS messages, (SELECT count(DISTINCT lead_id)
    FROM text_messages)::int AS texted,
      (SELECT count(*) FROM leads WHERE step = 1 AND due_at > now() + interval '1 hour')::int AS
        waiting`,
  );
  if (Object.values(row!).some((n) => n !== LEADS))
    throw new Error(`wrong counts for ${LEADS} leads: ${JSON.stringify(row)}`);
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
  const world = await copyWorld(server, await prepareWorld(server, 1_000), 'bench_engine');
  const shop = await openShop(world, 1);
  await fillLeads(world, shop, {
    schedule_id: shop.schedules[0]!.id,
    first: 0,
    count: LEADS,
    due_at: 'now()',
  });
  await query(world.url, 'VACUUM ANALYZE');
  await query(world.url, 'CHECKPOINT');
  await quiet(world);
  const processes = [startService(world.url, PORT, { RUN_JOBS: 'false' })];
  try {
    await ready(PORT);
    await loadFor(world, 2);
    const before = await loadFor(world, QUIET_SECONDS);
    const own = Array.from({ length: workers }, () => startWorker(world.url));
    processes.push(...own);
    const { steps_s, seconds, meanwhile } = await race(world);
    await check(world);
    return {
      steps_s,
      seconds,
      quiet_p50_ms: before.latency.p50,
      quiet_p99_ms: before.latency.p99,
      p50_ms: meanwhile.latency.p50,
      p99_ms: meanwhile.latency.p99,
      deadlocks: await deadlocks(world),
      errors: [before, meanwhile].reduce((sum, { errors, non2xx }) => sum + errors + non2xx, 0),
      worker_mb: Math.max(...own.map(({ pid }) => memory(pid!).peak_mb)),
    };
  } finally {
    await end(processes);
    await dropWorld(server, 'bench_engine');
  }
}

/** Medians over the rounds. */
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

function print(row: ReturnType<typeof summarize>, steps_s_of_one: number): void {
  const { workers, steps_s, p50_ms, p99_ms, ratio, errors, deadlocks } = row;
  const gain = workers === 1 ? '' : `, ${(steps_s / steps_s_of_one).toFixed(2)} x one`;
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
