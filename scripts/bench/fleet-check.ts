import { writeFileSync } from 'node:fs';
import type { ChildProcess } from 'node:child_process';
import { cpus } from 'node:os';
import { Client } from 'pg';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { startUsageMeter, type CpuUsage } from './cpu';
import { countReceived, RECEIVER_PORT, startReceiver } from './deliveries';
import { readCosts } from './fleet-costs';
import { printPlan } from './fleet-plan';
import {
  findFullPart,
  PARTS,
  predict,
  type Costs,
  type Counts,
  type Fleet,
  type Parts,
} from './fleet-model';
import {
  CLIENTS,
  openFleetWorld,
  listPids,
  startApi,
  startWorkers,
  formatTable,
  type FleetWorld,
} from './fleet-world';
import { ImportClient } from './import-client';
import { makeFile } from './import-file';
import { settle } from './soak';
import { Load, USUAL_RATE } from './soak-load';
import { dropSoakRun } from './soak-world';
import { end, option, waitUntilReady, round, say } from './tools';
import { query, waitUntilIdle } from './world';

// Checks the model of the hardware that a day's work takes: compares the usage of each part under a
// mixed load of three sizes with the prediction from the costs of single operations.

const PORT = '4132';
const SECONDS = Number(option('check-seconds', '12'));
const SATURATED_SECONDS = Number(option('saturated-seconds', '6'));
/** Shares of the rate that this machine can do. */
const SIZES = [0.25, 0.5, 0.75];
/** Requests a second that SIZES are shares of; 0 for the measured maximum. */
const MAX_RATE = Number(option('most', '0'));
const NUMBERS = 200_000;
const CORES = cpus().length;
const FLEET: Fleet = {
  api: Number(option('processes', String(Math.max(1, Math.floor(CORES / 2))))),
  workers: 1,
};
interface Bench {
  soak: FleetWorld;
  load: Load;
  api: ChildProcess;
  workers: ChildProcess[];
}

interface CheckedLoad {
  /** Requests a second. */
  rate: number;
  counts: Counts;
  spent: CpuUsage;
  predicted: Parts;
}

async function countWork({ url }: FleetWorld['world']): Promise<Counts> {
  const [row] = await query(
    url,
    `SELECT coalesce(sum(n), 0)::int AS n FROM record_counts WHERE resource = 'text_messages'`,
  );
  return { 'text a lead': Number(row!.n), 'deliver a webhook': await countReceived() };
}

async function measure(
  { soak, load, api, workers }: Bench,
  costs: Costs,
  work: () => Promise<Counts>,
): Promise<CheckedLoad> {
  await settle(soak);
  await waitUntilIdle(soak.world);
  load.takeCounts();
  const before = await countWork(soak.world);
  const meter = startUsageMeter(listPids([api], workers));
  const done = await work();
  const spent = meter();
  const requests = load.takeCounts();
  const after = await countWork(soak.world);
  const counts: Counts = { ...done, ...requests };
  for (const [operation, n] of Object.entries(after)) counts[operation] = n - before[operation]!;
  const answered = Object.values(requests).reduce((sum, n) => sum + n, 0);
  const predicted = predict(costs, counts, { seconds: spent.seconds, fleet: FLEET });
  return { rate: answered / spent.seconds, counts, spent, predicted };
}

async function importNumbers({ world }: FleetWorld): Promise<Counts> {
  const client = new Client({ connectionString: world.url });
  await client.connect();
  try {
    const imports = new ImportClient(world, client, PORT);
    const { csv } = await makeFile(NUMBERS);
    await imports.wait((await imports.upload(await imports.createList(), csv, 'block')).id);
    return { 'import a number': NUMBERS };
  } finally {
    await client.end();
  }
}

async function check(bench: Bench, costs: Costs): Promise<CheckedLoad[]> {
  const { load, soak } = bench;
  // Warm-up: a new process compiles for a while.
  await load.saturate(CLIENTS[0]!, SATURATED_SECONDS);
  const most = await measure(bench, costs, async () => {
    await load.saturate(CLIENTS[0]!, SATURATED_SECONDS);
    return {};
  });
  const checked = [most];
  for (const size of SIZES)
    checked.push(
      await measure(bench, costs, async () => {
        const times = (size * (MAX_RATE || most.rate)) / USUAL_RATE;
        const [numbers] = await Promise.all([importNumbers(soak), load.run(SECONDS, times)]);
        return numbers;
      }),
    );
  if (load.errors.length > 0) throw new Error(load.errors[0]);
  return checked;
}

const NAMES = { api: 'API', workers: 'workers', database: 'database' };
const LOAD_NAMES = [`${CLIENTS[0]} clients`, ...SIZES.map((size) => `${size * 100}%`)];

function print(checked: readonly CheckedLoad[]): void {
  say(
    `\nThe model, API processes: ${FLEET.api}, workers: ${FLEET.workers}, on ${CORES} cores; ` +
      'cores: predicted → measured\n',
  );
  const rows = checked.map(({ rate, spent, predicted }, n) => {
    const cores = (seconds: number) => round(seconds / spent.seconds).toFixed(2);
    return [
      LOAD_NAMES[n]!,
      Math.round(rate),
      ...PARTS.map((part) => `${cores(predicted[part])} → ${cores(spent[part])}`),
      ...PARTS.map((part) => (spent[part] / predicted[part]).toFixed(2)),
      cores(spent.load),
      cores(spent.machine),
      findFullPart(spent, { cores: CORES, fleet: FLEET }),
    ];
  });
  const ratios = PARTS.map((part) => `${NAMES[part]}, measured ÷ predicted`);
  const head = ['load', 'requests/s', ...PARTS.map((part) => `${NAMES[part]}, cores`), ...ratios];
  say(formatTable([...head, 'load, cores', 'machine, cores', 'full'], rows));
}

export async function benchModel(server: EmbeddedDatabase): Promise<void> {
  const costs = readCosts();
  const receiver = startReceiver();
  const soak = await openFleetWorld(server);
  const load = new Load(soak, PORT);
  const api = await startApi(soak.world.url, PORT, FLEET.api);
  const workers = await startWorkers(soak.world.url, FLEET.workers);
  try {
    await waitUntilReady(RECEIVER_PORT);
    const checked = await check({ soak, load, api, workers }, costs);
    print(checked);
    writeFileSync('.bench/fleet-model.json', JSON.stringify({ fleet: FLEET, checked }, null, 2));
  } finally {
    await load.close();
    await end([api, ...workers, receiver]);
    await dropSoakRun(server);
  }
  printPlan(costs);
}
