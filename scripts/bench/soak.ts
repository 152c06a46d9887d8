import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Client } from 'pg';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { startCpuMeter } from './cpu';
import { ImportClient } from './import-client';
import { makeFile } from './import-file';
import { memoryTrend, sampleMemory } from './soak-memory';
import { Load } from './soak-load';
import { checkSums, type Check } from './soak-sums';
import {
  printStatements,
  resetStatements,
  topStatements,
  type StatementShare,
} from './soak-statements';
import { dropSoakRun, openSoakWorld, type SoakWorld } from './soak-world';
import {
  end,
  median,
  option,
  percentile,
  waitUntilReady,
  round,
  say,
  startService,
  startWorker,
} from './tools';
import { query, waitUntilIdle } from './world';

// A mixed load for ten minutes: 300 requests a second of calls and their events, leads, lists and
// reports, while a file is imported, on a million calls and a million leads. At the end, all counts
// must be exact.

const PORT = '4115';
const SECONDS = Number(option('seconds', '600'));
const WARM_SECONDS = 10;
/** The share of the load after which the import starts. */
const IMPORT_AFTER = 0.1;
/** Sized so that the import runs for most of the time. */
const ROWS_A_SECOND = 10_000_000 / 600;
/** Fits into a file of at most MAX_UPLOAD_BYTES, a gigabyte. */
const MAX_ROWS = 30_000_000;
const SETTLE_MS = 120_000;

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Imports a file during the load; returns the seconds that it took. */
async function importMeanwhile({ world }: SoakWorld): Promise<number> {
  const client = new Client({ connectionString: world.url });
  await client.connect();
  try {
    const rows = Math.min(MAX_ROWS, Math.ceil((SECONDS * ROWS_A_SECOND) / 100_000) * 100_000);
    const { csv } = await makeFile(rows);
    await pause(SECONDS * 1000 * IMPORT_AFTER);
    const started = performance.now();
    const imports = new ImportClient(world, client, PORT);
    const { id } = await imports.upload(await imports.createList(), csv, 'block');
    for (;;) {
      const { rows: files } = await client.query(
        'SELECT status, error_message FROM buyer_suppression_files WHERE id = $1',
        [id],
      );
      const { status, error_message } = files[0];
      if (status === 'succeeded') return round((performance.now() - started) / 1000, 1);
      if (status === 'failed') throw new Error(error_message);
      await pause(500);
    }
  } finally {
    await client.end();
  }
}

/** Waits until the worker has applied the calls of the load to leads. */
export async function settle({ world }: SoakWorld): Promise<void> {
  for (const deadline = Date.now() + SETTLE_MS; Date.now() < deadline; await pause(500)) {
    const [row] = await query(
      world.url,
      `SELECT (SELECT count(*) FROM lead_calls WHERE company_id = $1) +
        (SELECT count(*) FROM leads WHERE company_id = $1 AND due_at < now()) AS n`,
      [world.company_id],
    );
    if (Number(row!.n) === 0) return waitUntilIdle(world);
  }
  throw new Error(`leads were still to be worked on ${SETTLE_MS / 1000} s after the load`);
}

interface Processes {
  service: ChildProcess;
  worker: ChildProcess;
}

interface Run {
  load: Load;
  cpu: { cpu_service_ms: number; cpu_database_ms: number };
  memory: Record<string, ReturnType<typeof memoryTrend>>;
  import_seconds: number;
  checks: Check[];
  statements: StatementShare[];
}

async function run(soak: SoakWorld, { service, worker }: Processes): Promise<Run> {
  await waitUntilReady(PORT);
  const beganAt = new Date();
  const load = new Load(soak, PORT);
  await load.run(WARM_SECONDS);
  load.times.clear();
  await resetStatements(soak.world.url);
  const cpu = startCpuMeter(service.pid);
  const samples = sampleMemory({ service: service.pid!, worker: worker.pid! });
  const [importSeconds] = await Promise.all([importMeanwhile(soak), load.run(SECONDS)]).finally(
    samples.stop,
  );
  const memory = samples.points;
  const requests = [...load.times.values()].reduce((sum, { length }) => sum + length, 0);
  const spent = cpu(requests);
  const statements = await topStatements(soak.world.url);
  await settle(soak);
  const authorization = `Basic ${Buffer.from(soak.world.auth).toString('base64')}`;
  const get = async (path: string) => {
    const url = `http://127.0.0.1:${PORT}/api/v1/${path}`;
    const response = await fetch(url, { headers: { authorization } });
    return (await response.json()) as Record<string, unknown>;
  };
  const checks = await checkSums({ soak, began_at: beganAt, sentSums: load.sums, get });
  await load.close();
  const trends = Object.fromEntries(
    Object.entries(memory).map(([name, points]) => [name, memoryTrend(points)]),
  );
  return { load, cpu: spent, memory: trends, import_seconds: importSeconds, checks, statements };
}

interface Latency {
  kind: string;
  requests: number;
  p50_ms: number;
  p99_ms: number;
  worst_ms: number;
}

const latency = (kind: string, times: number[]): Latency => ({
  kind,
  requests: times.length,
  p50_ms: round(median(times), 1),
  p99_ms: round(percentile(times, 0.99), 1),
  worst_ms: Math.round(percentile(times, 1)),
});

function print({ load, cpu, memory, import_seconds, checks, statements }: Run): boolean {
  const rows = [...load.times].map(([kind, times]) => latency(kind, times));
  rows.push(latency('all', [...load.times.values()].flat()));
  for (const { kind, requests, p50_ms, p99_ms, worst_ms } of rows)
    say(
      `${kind.padEnd(18)} ${String(requests).padStart(8)}  ${round(requests / SECONDS, 1)}/s  ` +
        `p50 ${p50_ms} ms  p99 ${p99_ms} ms  longest ${worst_ms} ms`,
    );
  for (const [name, { first_mb, last_mb, peak_mb, mb_a_minute }] of Object.entries(memory))
    say(
      `memory of the ${name}: ${first_mb} MB after the warm-up, ${last_mb} MB at the end, ` +
        `${peak_mb} MB at most, ${mb_a_minute} MB a minute`,
    );
  say(`CPU of a request: ${cpu.cpu_service_ms} ms of the service, ${cpu.cpu_database_ms} ms of`);
  say(`the database; the import took ${import_seconds} s`);
  printStatements(statements);
  const wrong = checks.filter(({ expected, actual }) => expected !== actual);
  say(`${checks.length - wrong.length} of ${checks.length} sums are exact`);
  for (const { what, expected, actual } of wrong)
    say(`WRONG: ${what}: ${actual} instead of ${expected}`);
  say(`${load.errors.length} errors`);
  for (const error of load.errors.slice(0, 5)) say(`ERROR: ${error.slice(0, 300)}`);
  writeFileSync(
    '.bench/soak.json',
    JSON.stringify(
      {
        seconds: SECONDS,
        rows,
        memory,
        cpu,
        import_seconds,
        checks,
        statements,
        errors: load.errors.length,
      },
      null,
      2,
    ),
  );
  return wrong.length === 0 && load.errors.length === 0;
}

export async function benchSoak(server: EmbeddedDatabase): Promise<void> {
  const soak = await openSoakWorld(server);
  const { url } = soak.world;
  await query(url, 'CHECKPOINT');
  const processes = {
    service: startService(url, PORT, { RUN_JOBS: 'false' }),
    worker: startWorker(url),
  };
  let isExact = false;
  try {
    isExact = print(await run(soak, processes));
  } finally {
    await end(Object.values(processes));
    await dropSoakRun(server);
  }
  if (!isExact) throw new Error('the load had errors, or sums that are not exact');
}
