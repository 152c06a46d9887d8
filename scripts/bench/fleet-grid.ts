import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import autocannon from 'autocannon';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { startUsageMeter, type CpuUsage } from './cpu';
import { findFullPart, type Fleet } from './fleet-model';
import { measureSteps } from './fleet-steps';
import {
  CLIENTS,
  openFleetWorld,
  listPids,
  ROUNDS,
  SECONDS,
  startApi,
  formatTable,
  type FleetWorld,
} from './fleet-world';
import { phoneNumber } from './shop';
import { Load } from './soak-load';
import { dropSoakRun } from './soak-world';
import { end, median, percentile, round, say } from './tools';
import { waitUntilIdle } from './world';

// Servers of 1, 2 and 4 API processes, each server on one port, in turns on the same database; and
// 1 and 2 workers.

const PORTS = { 1: '4121', 2: '4122', 4: '4124' } as const;
type Processes = keyof typeof PORTS;
const PROCESSES = [1, 2, 4] as const satisfies Processes[];
const WORKERS = [1, 2];
const WARM_SECONDS = 0.5;
/** Per process of a server, until its hot code is compiled. */
const FIRST_WARM_SECONDS = 8;
const CORES = cpus().length;

interface WorkResult {
  units: number;
  p99_ms: number;
  errors: number;
}

interface Work {
  what: string;
  run(server: Server, clients: number, seconds: number): Promise<WorkResult>;
}

interface Server {
  processes: Processes;
  service: ChildProcess;
  load: Load;
}

interface Row extends Fleet {
  what: string;
  clients: number;
  done: WorkResult;
  spent: CpuUsage;
}

type Request = (n: number) => { method: 'GET' | 'POST'; path: string; body?: string };

/** Sends one kind of request, which takes less CPU to generate than a mix. */
const requests =
  (auth: string, request: Request): Work['run'] =>
  async ({ processes }, connections, duration) => {
    const headers = {
      Authorization: `Basic ${Buffer.from(auth).toString('base64')}`,
      'Content-Type': 'application/json',
    };
    let n = Math.floor(Math.random() * 1e6);
    const result = await autocannon({
      url: `http://127.0.0.1:${PORTS[processes]}`,
      connections,
      duration,
      requests: [{ setupRequest: (defaults) => ({ ...defaults, ...request(n++), headers }) }],
    });
    const errors = result.errors + result.non2xx;
    return { units: result.requests.total, p99_ms: result.latency.p99, errors };
  };

const mix: Work['run'] = async ({ load }, clients, seconds) => {
  load.times.clear();
  const failed = load.errors.length;
  await load.saturate(clients, seconds);
  const times = [...load.times.values()].flat();
  const p99Ms = round(percentile(times, 0.99), 1);
  return { units: times.length, p99_ms: p99Ms, errors: load.errors.length - failed };
};

function buildWorks({ world, large_offer_id: offerId }: FleetWorld): Work[] {
  const { auth, first_id, last_id } = world;
  const show: Request = (n) => {
    const id = first_id + ((n * 7919) % (last_id - first_id));
    return { method: 'GET', path: `/api/v1/buyers/${id}` };
  };
  const decision: Request = (n) => {
    const callerNumber = `+${phoneNumber(n % 1_000_000)}`;
    const body = JSON.stringify({
      offer_id: offerId,
      caller_number: callerNumber,
      tokens: { state: 'CA' },
    });
    return { method: 'POST', path: '/api/v1/call_sessions', body };
  };
  return [
    { what: 'shows', run: requests(auth, show) },
    { what: 'decisions, 1,000 buyers', run: requests(auth, decision) },
    { what: 'a mix of everything', run: mix },
  ];
}

const pickMedianRow = (rows: readonly Row[]): Row => {
  const rate = ({ done, spent }: Row) => done.units / spent.seconds;
  const medianRate = median(rows.map(rate));
  return rows.find((row) => rate(row) === medianRate)!;
};

async function measureWork(
  { world }: FleetWorld,
  servers: readonly Server[],
  { work, clients }: { work: Work; clients: number },
): Promise<Row[][]> {
  const turns = servers.map(() => [] as Row[]);
  for (const server of servers)
    await work.run(server, clients, FIRST_WARM_SECONDS * server.processes);
  for (let turn = 0; turn < ROUNDS; turn++)
    for (const [n, server] of servers.entries()) {
      await waitUntilIdle(world);
      await work.run(server, clients, WARM_SECONDS);
      const { processes, service } = server;
      const meter = startUsageMeter(listPids([service]));
      const done = await work.run(server, clients, SECONDS);
      const row = { what: work.what, clients, api: processes, workers: 0, done, spent: meter() };
      turns[n]!.push(row);
    }
  return turns;
}

async function measureApi(server: EmbeddedDatabase): Promise<Row[]> {
  const world = await openFleetWorld(server);
  const servers: Server[] = [];
  const rows: Row[] = [];
  try {
    for (const processes of PROCESSES) {
      const service = await startApi(world.world.url, PORTS[processes], processes);
      servers.push({ processes, service, load: new Load(world, PORTS[processes]) });
    }
    for (const work of buildWorks(world))
      for (const clients of CLIENTS) {
        const turns = await measureWork(world, servers, { work, clients });
        rows.push(...turns.map(pickMedianRow));
        printRatio(work.what, clients, turns);
      }
    return rows;
  } finally {
    for (const { load } of servers) await load.close();
    await end(servers.map(({ service }) => service));
    await dropSoakRun(server);
  }
}

function printRatio(what: string, clients: number, [single, two]: Row[][]): void {
  const ratio = (of: (row: Row) => number) =>
    round(median(two!.map((row, turn) => of(row) / of(single![turn]!))));
  say(
    `${what}, ${clients} clients: two processes serve ` +
      `${ratio(({ done, spent }) => done.units / spent.seconds)} x as many as one, ` +
      `and each takes ${ratio(({ done, spent }) => spent.api / done.units)} x the processor ` +
      'time of the API',
  );
}

async function measureWorkers(server: EmbeddedDatabase): Promise<Row[]> {
  const rows: Row[] = [];
  for (const workers of WORKERS) {
    const { steps: units, spent } = await measureSteps(server, workers);
    const done = { units, p99_ms: 0, errors: 0 };
    rows.push({ what: 'steps of outreach', clients: 0, api: 0, workers, done, spent });
  }
  return rows;
}

function print(rows: readonly Row[]): void {
  const cells = rows.map(({ what, clients, api, workers, done, spent }) => {
    const rate = done.units / spent.seconds;
    const ms = (seconds: number) => ((seconds * 1_000) / done.units).toFixed(2);
    const cores = (seconds: number) => (seconds / spent.seconds).toFixed(2);
    const otherSeconds = spent.machine - spent.api - spent.workers - spent.database - spent.load;
    return [
      clients > 0 ? `${what}, ${clients} clients` : what,
      api > 0 ? `${api} API` : `${workers} worker${workers > 1 ? 's' : ''}`,
      Math.round(rate).toLocaleString('en'),
      Math.round(rate / (api + workers)).toLocaleString('en'),
      `${ms(spent.api + spent.workers)} + ${ms(spent.database)}`,
      ...[spent.api + spent.workers, spent.database, spent.load, otherSeconds].map(cores),
      findFullPart(spent, { cores: CORES, fleet: { api, workers } }),
      done.p99_ms || '',
      done.errors || '',
    ];
  });
  const cpu = ['ms of CPU, Trunkline + database', 'Trunkline, cores', 'database', 'load', 'others'];
  const head = ['work', 'processes', 'a second', 'of each', ...cpu, 'full', 'p99, ms', 'errors'];
  say(`\nOn ${CORES} cores, the turn with the median rate of ${ROUNDS}; steps: one turn\n`);
  say(formatTable(head, cells));
}

export async function benchGrid(server: EmbeddedDatabase): Promise<void> {
  const rows = [...(await measureApi(server)), ...(await measureWorkers(server))];
  print(rows);
  writeFileSync('.bench/fleet-grid.json', JSON.stringify({ cores: CORES, rows }, null, 2));
}
