import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { measureParts } from './parts';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { end, median, memory, option, waitUntilReady, startRival, startService } from './tools';
import { prepareWorld, waitUntilIdle, type BenchWorld } from './world';

const SECONDS = Number(option('seconds', '4'));
const ROUNDS = Number(option('rounds', '3'));
const SIZES = option('sizes', '10000,1000000').split(',').map(Number);
const ONLY = option('only', '').replace('requests', '');
const CONNECTIONS = 16;

interface Work {
  name: string;
  request: (
    world: BenchWorld,
    n: number,
  ) => { method: 'GET' | 'POST' | 'PUT'; path: string; body?: string };
  service_only?: boolean;
  /**
   * Set where the service logs the request: it is also measured without its log, and a rival with
   * one.
   */
  logged?: boolean;
}

const pickBuyerId = ({ first_id, last_id }: BenchWorld, n: number) =>
  first_id + ((n * 7919) % (last_id - first_id));
const get = (path: string) => ({ method: 'GET' as const, path: `/api/v1/buyers${path}` });
const WORKS: Work[] = [
  { name: 'no data (GET /me)', request: () => ({ method: 'GET' as const, path: '/api/v1/me' }) },
  { name: 'list, all columns', request: () => get('') },
  {
    name: 'list, columns=id,name,number,paused',
    request: () => get('?columns=id,name,number,paused'),
  },
  { name: 'show', request: (world, n) => get(`/${pickBuyerId(world, n)}`) },
  {
    name: 'create',
    logged: true,
    request: (_, n) => ({
      method: 'POST',
      path: '/api/v1/buyers',
      body: JSON.stringify({
        name: `New ${n}`,
        number: '+13105550123',
        weight: 5,
        attempt_daily_limit: 100,
      }),
    }),
  },
  {
    name: 'update',
    logged: true,
    request: (world, n) => ({
      method: 'PUT',
      path: `/api/v1/buyers/${pickBuyerId(world, n)}`,
      body: JSON.stringify({ name: `Changed ${n}`, tier: n % 9, attempt_daily_limit: n % 500 }),
    }),
  },
  { name: 'list, fulltext', request: (_, n) => get(`?fulltext=ext-${1000 + (n % 9000)}`) },
  { name: 'page 200', request: () => get('?page=200'), service_only: true },
  {
    name: 'cursor, middle',
    request: (world) => get(`?cursor=${Math.floor((world.first_id + world.last_id) / 2)}`),
    service_only: true,
  },
  {
    name: 'total_count (per_page=1)',
    request: () => get('?per_page=1&columns=id'),
    service_only: true,
  },
];

interface Figures {
  req_s: number;
  p50_ms: number;
  p99_ms: number;
  errors: number;
  rss_mb: number;
}
type Contender = 'floor' | 'fastify+prisma' | 'trunkline' | 'fastify, logging' | 'without the log';
const PORTS: Record<Contender, number> = {
  floor: 4101,
  'fastify+prisma': 4102,
  trunkline: 4103,
  'fastify, logging': 4104,
  'without the log': 4105,
};
/** Fastify and Prisma with a change log, and the service without one. */
const LOGGED_CONTENDERS: Contender[] = ['fastify, logging', 'without the log'];
const CONTENDERS: Contender[] = ['floor', 'fastify+prisma', 'trunkline'];

const FILES = {
  floor: 'floor',
  'fastify+prisma': 'fastify-prisma',
  'fastify, logging': 'fastify-prisma',
  'without the log': 'logged',
};

function start(contender: Contender, { url, company_id }: BenchWorld): ChildProcess {
  const port = String(PORTS[contender]);
  if (contender === 'trunkline') return startService(url, port);
  return startRival(FILES[contender], {
    BENCH_URL: url,
    BENCH_COMPANY: company_id,
    BENCH_PORT: port,
    BENCH_LOG: contender === 'fastify, logging' ? 'yes' : 'no',
  });
}

async function measure({
  work,
  world,
  contender,
  pid,
  seconds,
}: {
  work: Work;
  world: BenchWorld;
  contender: Contender;
  pid: number;
  seconds: number;
}): Promise<Figures> {
  const headers = {
    Authorization: `Basic ${Buffer.from(world.auth).toString('base64')}`,
    'Content-Type': 'application/json',
  };
  let n = Math.floor(Math.random() * 1e6);
  await waitUntilIdle(world);
  const result = await autocannon({
    url: `http://127.0.0.1:${PORTS[contender]}`,
    connections: CONNECTIONS,
    duration: seconds,
    requests: [
      { setupRequest: (request) => ({ ...request, ...work.request(world, n++), headers }) },
    ],
  });
  return {
    req_s: result.requests.average,
    p50_ms: result.latency.p50,
    p99_ms: result.latency.p99,
    errors: result.errors + result.non2xx,
    rss_mb: memory(pid).now_mb,
  };
}

interface Row extends Figures {
  buyers: number;
  work: string;
  contender: Contender;
}

type Children = Map<Contender, ChildProcess>;

async function measureInTurns(
  work: Work,
  world: BenchWorld,
  children: Children,
): Promise<Map<Contender, Figures[]>> {
  const runs = new Map<Contender, Figures[]>();
  const all = [...CONTENDERS, ...(work.logged ? LOGGED_CONTENDERS : [])];
  const racing: Contender[] = work.service_only ? ['trunkline'] : all;
  const run = (contender: Contender, seconds: number) =>
    measure({ work, world, contender, pid: children.get(contender)!.pid!, seconds });
  for (const contender of racing) await run(contender, 1);
  for (let round = 0; round < ROUNDS; round++) {
    for (const contender of racing) {
      const figures = await run(contender, SECONDS);
      runs.set(contender, [...(runs.get(contender) ?? []), figures]);
    }
  }
  return runs;
}

async function measureSize(server: EmbeddedDatabase, size: number): Promise<Row[]> {
  const world = await prepareWorld(server, size);
  const all = [...CONTENDERS, ...LOGGED_CONTENDERS];
  const children: Children = new Map(all.map((contender) => [contender, start(contender, world)]));
  await Promise.all(all.map((contender) => waitUntilReady(PORTS[contender])));
  const report: Row[] = [];
  for (const work of WORKS.filter(({ name }) => name.includes(ONLY))) {
    const runs = await measureInTurns(work, world, children);
    const rows = [...runs].map(([contender, all]): Row => {
      const of = (key: keyof Figures) => median(all.map((figures) => figures[key]));
      return {
        buyers: size,
        work: work.name,
        contender,
        req_s: Math.round(of('req_s')),
        p50_ms: of('p50_ms'),
        p99_ms: of('p99_ms'),
        errors: of('errors'),
        rss_mb: of('rss_mb'),
      };
    });
    print(rows);
    report.push(...rows);
  }
  await end(children.values());
  return report;
}

/**
 * Compares requests a second of the service, the floor and a typical stack on the same database.
 */
export async function benchRequests(server: EmbeddedDatabase): Promise<void> {
  const report: Row[] = [];
  for (const size of SIZES) report.push(...(await measureSize(server, size)));
  const world = await prepareWorld(server, SIZES[0]!);
  const parts = await measureParts(world);
  console.table(parts);
  writeFileSync(
    '.bench/report.json',
    JSON.stringify(
      { seconds: SECONDS, rounds: ROUNDS, connections: CONNECTIONS, report, parts },
      null,
      2,
    ),
  );
  process.stdout.write('written: .bench/report.json\n');
}

const formatLoggedRatio = (service: number, logging: number | undefined): string =>
  logging ? `, ${(service / logging).toFixed(2)} x with a log` : '';
const formatUnloggedRatio = (
  contender: Contender,
  reqS: number,
  rival: number | undefined,
): string =>
  contender === 'without the log' && rival ? `  ${(reqS / rival).toFixed(2)} x fastify+prisma` : '';

function print(rows: Row[]): void {
  const of = (contender: Contender) => rows.find((row) => row.contender === contender)?.req_s;
  const [floor, rival, logging] = [of('floor'), of('fastify+prisma'), of('fastify, logging')];
  const service = of('trunkline') ?? 0;
  for (const { work, buyers, contender, req_s, p50_ms, p99_ms, errors, rss_mb } of rows) {
    const ratio =
      contender === 'trunkline' && floor && rival
        ? `  ${(service / floor).toFixed(2)} of the floor, ${(service / rival).toFixed(2)} x ` +
          `fastify+prisma${formatLoggedRatio(service, logging)}`
        : formatUnloggedRatio(contender, req_s, rival);
    process.stdout.write(
      `${String(buyers).padStart(8)}  ${work.padEnd(36)} ${contender.padEnd(15)} ` +
        `${String(req_s).padStart(6)} req/s  p50 ${p50_ms} ms  p99 ${p99_ms} ms  ${rss_mb} ` +
        `MB${errors ? `  ERRORS ${errors}` : ''}${ratio}\n`,
    );
  }
}
