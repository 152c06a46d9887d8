import { writeFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { Client } from 'pg';
import type { EmbeddedDatabase } from '../../src/db/embedded-postgres';
import { fillLeads, openShop } from './shop';
import { end, median, memory, option, ready, round, say, startService, startWorker } from './tools';
import { copyWorld, dropWorld, prepareWorld, query, quiet, type BenchWorld } from './world';

// Very many leads that are due at once: how fast job processes text them all, and what a usual
// request to a server beside them takes meanwhile.

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
  /** Transactions that the database ended because two waited for each other. */
  deadlocks: number;
  /** Of the process that took most. */
  worker_mb: number;
}

/** GET /buyers/:id, RATE times a second, until it is stopped. */
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

/** Steps a second from the first text message to the last, while the load runs. */
async function race(
  world: BenchWorld,
): Promise<{ steps_s: number; seconds: number; meanwhile: autocannon.Result }> {
  const client = new Client({ connectionString: world.url });
  await client.connect();
  // The kept count costs the database nothing; a count of rows would be part of what is measured.
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

/** Every lead has had one message, and waits. */
async function check({ url }: BenchWorld): Promise<void> {
  const [row] = await query(
    url,
    `SELECT (SELECT count(*) FROM text_messages)::int AS messages, (SELECT count(DISTINCT lead_id)
    FROM text_messages)::int AS texted,
      (SELECT count(*) FROM leads WHERE step = 1 AND due_at > now() + interval '1 hour')::int AS
        waiting`,
  );
  if (Object.values(row!).some((n) => n !== LEADS))
    throw new Error(`not what ${LEADS} leads should have come to: ${JSON.stringify(row)}`);
}

async function deadlocks({ url }: BenchWorld): Promise<number> {
  // What a session has counted is told a second later at most.
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

export async function benchEngine(server: EmbeddedDatabase): Promise<void> {
  const runs = new Map(WORKERS.map((workers) => [workers, [] as Figures[]]));
  for (let turn = 0; turn < ROUNDS; turn++) {
    for (const workers of WORKERS) runs.get(workers)!.push(await measure(server, workers));
  }
  const report = [...runs].map(([workers, all]) => {
    const of = (key: keyof Figures) => median(all.map((figures) => figures[key]));
    const ratio = round(median(all.map(({ p99_ms, quiet_p99_ms }) => p99_ms / quiet_p99_ms)));
    return {
      workers,
      steps_s: of('steps_s'),
      seconds: of('seconds'),
      quiet_p50_ms: of('quiet_p50_ms'),
      quiet_p99_ms: of('quiet_p99_ms'),
      p50_ms: of('p50_ms'),
      p99_ms: of('p99_ms'),
      ratio,
      errors: of('errors'),
      deadlocks: of('deadlocks'),
      worker_mb: of('worker_mb'),
    };
  });
  for (const {
    workers,
    steps_s,
    seconds,
    quiet_p50_ms,
    quiet_p99_ms,
    p50_ms,
    p99_ms,
    ratio,
    errors,
    deadlocks,
    worker_mb,
  } of report) {
    const gain = workers === 1 ? '' : `, ${(steps_s / report[0]!.steps_s).toFixed(2)} x one`;
    say(
      `${LEADS.toLocaleString('en')} leads due at once, ${workers} ` +
        `worker${workers === 1 ? '' : 's'}: ${steps_s} steps/s (${seconds} s${gain}), ` +
        `${worker_mb} MB each at most; GET /buyers/:id at ${RATE}/s: p50 ${quiet_p50_ms} and p99 ` +
        `${quiet_p99_ms} ms before, p50 ${p50_ms} and p99 ${p99_ms} ms meanwhile (${ratio} ` +
        `x)${errors ? `  ERRORS ${errors}` : ''}${deadlocks ? `  DEADLOCKS ${deadlocks}` : ''}`,
    );
  }
  writeFileSync(
    '.bench/engine.json',
    JSON.stringify(
      { leads: LEADS, rounds: ROUNDS, rate: RATE, report, all: Object.fromEntries(runs) },
      null,
      2,
    ),
  );
}
