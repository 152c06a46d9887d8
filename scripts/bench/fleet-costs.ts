import type { ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { Client } from 'pg';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { runConcurrently, repeatConcurrently, type StartedCall } from './call-client';
import { startUsageMeter } from './cpu';
import { countReceived, RECEIVER_PORT, startReceiver } from './deliveries';
import { measureSteps } from './fleet-steps';
import type { Cost, Costs } from './fleet-model';
import {
  CLIENTS,
  measureGrowth,
  openFleetWorld,
  listPids,
  ROUNDS,
  SECONDS,
  startApi,
  startWorkers,
  formatTable,
  type FleetWorld,
} from './fleet-world';
import { ImportClient } from './import-client';
import { makeFile } from './import-file';
import { Load, RATES } from './soak-load';
import { dropSoakRun } from './soak-world';
import { end, median, memory, option, waitUntilReady, round, say } from './tools';
import { query, waitUntilIdle } from './world';

// Measures the cost of each operation alone, for one API process, one worker and the database.

const PORT = '4131';
const CALLS = Number(option('calls-a-turn', '1000'));
const NUMBERS = Number(option('numbers', '1000000'));
const IDLE_MS = 4_000;
const COSTS_FILE = '.bench/fleet-costs.json';
const REQUESTS = (Object.keys(RATES) as (keyof typeof RATES)[]).filter(
  (kind) => kind !== 'begin a call' && kind !== 'submit a lead',
);
const LARGE_OFFER = 'begin a call, 1,000 buyers';

interface Bench {
  soak: FleetWorld;
  load: Load;
  api: ChildProcess;
  worker?: ChildProcess;
  turns: Map<string, Cost[]>;
  /**
   * False during the warm-up, in which V8 compiles hot code and first lists count their rows:
   * nothing is recorded.
   */
  is_warm: boolean;
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
const clients = CLIENTS[0]!;

/** Records a turn of an operation; `work` returns how often it was done. */
async function recordTurn(
  { soak, api, worker, turns, is_warm }: Bench,
  operation: string,
  work: () => Promise<number | undefined>,
): Promise<void> {
  await waitUntilIdle(soak.world);
  const spent = startUsageMeter(listPids([api], worker ? [worker] : []));
  const n = (await work()) ?? 0;
  const { api: service, workers, database } = spent();
  if (!is_warm) return;
  const perUnit = (seconds: number) => (seconds * 1_000) / Math.max(1, n);
  const cost = {
    api_ms: perUnit(service),
    workers_ms: perUnit(workers),
    database_ms: perUnit(database),
  };
  turns.set(operation, [...(turns.get(operation) ?? []), cost]);
}

/** Starts calls, then reports their events; returns the number of events per call. */
async function recordCallTurn(bench: Bench): Promise<number> {
  const { load } = bench;
  const calls: StartedCall[] = [];
  let events = 0;
  const begin = async () => {
    const call = await load.begin();
    if (call) calls.push(call);
  };
  await recordTurn(bench, 'begin a call', async () => {
    await runConcurrently([...Array(CALLS).keys()], clients, begin);
    return load.takeCounts()['begin a call'];
  });
  await recordTurn(bench, 'event of a call', async () => {
    await runConcurrently(calls, clients, (call) => load.events(call));
    events = load.takeCounts()['event of a call'] ?? 0;
    return events;
  });
  return events / calls.length;
}

/**
 * Records the jobs of a worker: it delivers the webhooks of the calls, imports a file, then idles.
 */
async function recordJobTurns(
  bench: Bench,
): Promise<{ webhook: number; number: number; idle: Cost }> {
  const { soak } = bench;
  const { url } = soak.world;
  const [row] = await query(url, 'SELECT count(*)::int AS n FROM webhook_events');
  const due = Number(row!.n);
  const before = await countReceived();
  const until = async (n: number) => {
    while ((await countReceived()) - before < n) await pause(20);
  };
  const webhooks = await measureGrowth(url, async () => {
    const [worker] = await startWorkers(url, 1);
    bench.worker = worker!;
    await until(1);
    const first = (await countReceived()) - before;
    await recordTurn(bench, 'deliver a webhook', async () => {
      await until(due);
      return due - first;
    });
  });
  const { csv } = await makeFile(NUMBERS);
  const numbers = await measureGrowth(url, () => importFile(bench, csv));
  await recordTurn(bench, 'idle', () => pause(IDLE_MS).then(() => IDLE_MS / 1_000));
  const [idle] = bench.turns.get('idle')!;
  bench.turns.delete('idle');
  return { webhook: webhooks / due, number: numbers / NUMBERS, idle: idle! };
}

async function importFile(bench: Bench, csv: string): Promise<void> {
  const { world } = bench.soak;
  const client = new Client({ connectionString: world.url });
  await client.connect();
  try {
    const imports = new ImportClient(world, client, PORT);
    const list = await imports.createList();
    await recordTurn(bench, 'import a number', async () => {
      await imports.wait((await imports.upload(list, csv, 'block')).id);
      return NUMBERS;
    });
  } finally {
    await client.end();
  }
}

/** Records each kind of request alone, except submissions: a worker would process these leads. */
async function recordReadTurns(bench: Bench): Promise<void> {
  const { load, soak } = bench;
  await recordTurn(bench, LARGE_OFFER, async () => {
    await repeatConcurrently(clients, SECONDS, () =>
      load.begin(performance.now(), soak.large_offer_id),
    );
    return load.takeCounts()['begin a call'];
  });
  for (const kind of REQUESTS) await recordRequestTurn(bench, kind);
}

async function recordRequestTurn(bench: Bench, kind: keyof typeof RATES): Promise<void> {
  await recordTurn(bench, kind, async () => {
    await bench.load.saturate(clients, SECONDS, kind);
    return bench.load.takeCounts()[kind];
  });
}

function toMedianCost(turns: readonly Cost[]): Cost {
  const of = (key: 'api_ms' | 'workers_ms' | 'database_ms') => median(turns.map((t) => t[key]));
  return { api_ms: of('api_ms'), workers_ms: of('workers_ms'), database_ms: of('database_ms') };
}

/** Average private memory of a session of the database, in MB. */
async function sessionMemory(url: string): Promise<number> {
  const sessions = await query(
    url,
    `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND backend_type = 'client backend'
        AND pid <> pg_backend_pid()`,
  );
  const sizes = sessions.map(({ pid }) => {
    const text = readFileSync(`/proc/${Number(pid)}/smaps_rollup`, 'utf8');
    return Number(/^Pss_Anon:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024;
  });
  return sizes.reduce((sum, mb) => sum + mb, 0) / Math.max(1, sizes.length);
}

type MeasuredCosts = Omit<Costs, 'operations'> & { bytes: Record<string, number> };

async function measure(bench: Bench): Promise<MeasuredCosts> {
  const { load, soak, api } = bench;
  const { url } = soak.world;
  await recordCallTurn(bench);
  await recordReadTurns(bench);
  bench.is_warm = true;
  let eventsOfCall = 0;
  let call = 0;
  for (let n = 0; n < ROUNDS; n++)
    call = await measureGrowth(url, async () => void (eventsOfCall = await recordCallTurn(bench)));
  const { webhook, number, idle } = await recordJobTurns(bench);
  const workerMb = memory(bench.worker!.pid!).peak_mb;
  await end([bench.worker!]);
  delete bench.worker;
  for (let n = 0; n < ROUNDS; n++) await recordReadTurns(bench);
  await load.saturate(clients, SECONDS, 'submit a lead');
  load.takeCounts();
  for (let n = 0; n < ROUNDS; n++) await recordRequestTurn(bench, 'submit a lead');
  const leads = await measureGrowth(url, () => load.saturate(clients, SECONDS, 'submit a lead'));
  const lead = leads / (load.takeCounts()['submit a lead'] ?? 1);
  return {
    idle: {
      api: idle.api_ms / 1e3,
      workers: idle.workers_ms / 1e3,
      database: idle.database_ms / 1e3,
    },
    events_of_call: eventsOfCall,
    session_mb: await sessionMemory(url),
    api_mb: memory(api.pid!).peak_mb,
    worker_mb: workerMb,
    bytes: {
      'begin a call': call / CALLS,
      'deliver a webhook': webhook,
      'import a number': number,
      'submit a lead': lead,
    },
  };
}

/** Reads the costs of this run, or of the last one that measured them. */
export const readCosts = (): Costs => JSON.parse(readFileSync(COSTS_FILE, 'utf8')) as Costs;

async function measureService(server: EmbeddedDatabase): Promise<Costs> {
  const receiver = startReceiver();
  const soak = await openFleetWorld(server);
  const api = await startApi(soak.world.url, PORT, 1);
  const bench: Bench = { soak, api, load: new Load(soak, PORT), turns: new Map(), is_warm: false };
  try {
    await waitUntilReady(RECEIVER_PORT);
    const { bytes, ...rest } = await measure(bench);
    const operations = [...bench.turns].map(([operation, turns]) => [
      operation,
      { ...toMedianCost(turns), ...(operation in bytes && { bytes: bytes[operation] }) },
    ]);
    if (bench.load.errors.length > 0) throw new Error(bench.load.errors[0]);
    return { ...rest, operations: Object.fromEntries(operations) as Costs['operations'] };
  } finally {
    await bench.load.close();
    await end([api, receiver, ...(bench.worker ? [bench.worker] : [])]);
    await dropSoakRun(server);
  }
}

export async function benchCosts(server: EmbeddedDatabase): Promise<Costs> {
  const costs = await measureService(server);
  const { steps, spent, bytes } = await measureSteps(server, 1);
  costs.operations['text a lead'] = {
    api_ms: 0,
    workers_ms: (spent.workers * 1_000) / steps,
    database_ms: (spent.database * 1_000) / steps,
    bytes,
  };
  print(costs);
  writeFileSync(COSTS_FILE, JSON.stringify(costs, null, 2));
  return costs;
}

const microseconds = (ms: number): string =>
  round(ms * 1_000, ms < 0.1 ? 1 : 0).toLocaleString('en');

function print({ operations, idle, ...costs }: Costs): void {
  say(`\nCosts, ${clients} clients, µs of a processor core (medians of ${ROUNDS} turns):\n`);
  const rows = Object.entries(operations).map(([operation, cost]) => [
    operation,
    microseconds(cost.api_ms),
    microseconds(cost.workers_ms),
    microseconds(cost.database_ms),
    cost.bytes === undefined ? '' : Math.round(cost.bytes).toLocaleString('en'),
  ]);
  say(formatTable(['operation', 'API', 'worker', 'database', 'bytes stored'], rows));
  const cores = (part: keyof typeof idle) => round(idle[part], 3);
  say(
    `\nwithout work, an API process takes ${cores('api')} cores, a worker ${cores('workers')}, ` +
      `the database ${cores('database')}; a call has ${round(costs.events_of_call)} events; an ` +
      `API process took ${costs.api_mb} MB at most, a worker ${costs.worker_mb} MB, a session of ` +
      `the database ${round(costs.session_mb, 1)} MB`,
  );
}
