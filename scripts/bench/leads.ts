import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import autocannon from 'autocannon';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { fillContacts, fillLeads, openShop, phoneNumber, type Shop } from './shop';
import {
  end,
  median,
  memory,
  option,
  waitUntilReady,
  round,
  say,
  startRival,
  startService,
} from './tools';
import { copyWorld, dropWorld, prepareWorld, query, waitUntilIdle, type BenchWorld } from './world';

// POST /leads by query string with ten tokens, for new leads and for a mix with repeated ones: the
// service, the floor and a typical stack in turns. Each has its own schedule in the same table,
// which already holds leads. No worker runs the actions of the schedules: scripts/bench/engine.ts
// measures those.

const SECONDS = Number(option('seconds', '4'));
const ROUNDS = Number(option('rounds', '3'));
/** Long enough for V8 to compile the hot code. */
const WARM_SECONDS = 3;
const CONNECTIONS = 16;
const KEPT_LEADS = 100_000;
/** Above the index of every submitted number, so that the leads already there do not match. */
const FIRST_KEPT = 2_000_000;
const MIXES = [
  { mix: 'new leads', repeats: 0 },
  { mix: '30% repeats', repeats: 0.3 },
];

const PORTS = { floor: '4105', 'fastify+prisma': '4106', trunkline: '4107' };
type Contender = keyof typeof PORTS;
const CONTENDERS = Object.keys(PORTS) as Contender[];

/** One contender, and how many numbers were sent to it so far. */
interface Runner {
  contender: Contender;
  child: ChildProcess;
  lead_token: string;
  numbers: number;
}

interface Figures {
  req_s: number;
  p50_ms: number;
  p99_ms: number;
  errors: number;
  /** The share of responses for an existing lead. */
  repeated: number;
  rss_mb: number;
}

function start(
  contender: Contender,
  { url, company_id }: BenchWorld,
  { id, offer_id }: { id: string; offer_id: string },
): ChildProcess {
  const port = PORTS[contender];
  if (contender === 'trunkline') return startService(url, port, { RUN_JOBS: 'false' });
  const file = contender === 'floor' ? 'leads-floor' : 'leads-fastify-prisma';
  return startRival(file, {
    BENCH_URL: url,
    BENCH_COMPANY: company_id,
    BENCH_OFFER: offer_id,
    BENCH_SCHEDULE: id,
    BENCH_PORT: port,
  });
}

/** Ten tokens; some of them change when a number is repeated. */
function path({ lead_token }: Runner, n: number): string {
  const some = Math.floor(Math.random() * 1_000);
  const tokens = {
    lead_token,
    caller_id: String(phoneNumber(n)).slice(1),
    first_name: 'Ann',
    last_name: `Lee ${n % 1_000}`,
    email: `ann.${n}@example.com`,
    address: `${n} Main Street`,
    city: 'Springfield',
    state: 'NY',
    zip: '12345',
    source: `page-${some}`,
  };
  return `/api/v1/leads?${new URLSearchParams(tokens)}`;
}

async function measure(
  runner: Runner,
  world: BenchWorld,
  { repeats, seconds }: { repeats: number; seconds: number },
): Promise<Figures> {
  await waitUntilIdle(world);
  await query(world.url, 'CHECKPOINT');
  const next = () =>
    Math.random() < repeats ? Math.floor(Math.random() * runner.numbers) : runner.numbers++;
  const result = await autocannon({
    url: `http://127.0.0.1:${PORTS[runner.contender]}`,
    connections: CONNECTIONS,
    duration: seconds,
    requests: [
      {
        setupRequest: (request) => ({
          ...request,
          method: 'POST' as const,
          path: path(runner, next()),
        }),
      },
    ],
  });
  return {
    req_s: result.requests.average,
    p50_ms: result.latency.p50,
    p99_ms: result.latency.p99,
    errors: result.errors + result.non2xx,
    repeated: round((result.statusCodeStats?.['200']?.count ?? 0) / result['2xx']),
    rss_mb: memory(runner.child.pid!).now_mb,
  };
}

export async function benchLeads(server: EmbeddedDatabase): Promise<void> {
  const world = await copyWorld(server, await prepareWorld(server, 1_000), 'bench_leads');
  const shop = await openShop(world, CONTENDERS.length + 1);
  await fillLeads(world, shop, {
    schedule_id: shop.schedules.at(-1)!.id,
    first: FIRST_KEPT,
    count: KEPT_LEADS,
    due_at: `now() + interval '1 second' * (86400 + n)`,
  });
  await fillContacts(world);
  await query(world.url, 'VACUUM ANALYZE');
  const runners = CONTENDERS.map((contender, n) => startRunner(contender, world, shop, n));
  try {
    await Promise.all(CONTENDERS.map((contender) => waitUntilReady(PORTS[contender])));
    await race(runners, world);
  } finally {
    await end(runners.map(({ child }) => child));
    await dropWorld(server, 'bench_leads');
  }
}

function startRunner(
  contender: Contender,
  world: BenchWorld,
  { offer_id, schedules }: Shop,
  n: number,
): Runner {
  const { id, lead_token } = schedules[n]!;
  return { contender, lead_token, numbers: 0, child: start(contender, world, { id, offer_id }) };
}

async function race(runners: Runner[], world: BenchWorld): Promise<void> {
  const report: ({ mix: string; contender: Contender } & Figures)[] = [];
  for (const { mix, repeats } of MIXES) {
    const runs = new Map(runners.map(({ contender }) => [contender, [] as Figures[]]));
    for (const runner of runners) await measure(runner, world, { repeats, seconds: WARM_SECONDS });
    for (let turn = 0; turn < ROUNDS; turn++) {
      for (const runner of runners)
        runs
          .get(runner.contender)!
          .push(await measure(runner, world, { repeats, seconds: SECONDS }));
    }
    for (const [contender, all] of runs) {
      const of = (key: keyof Figures) => median(all.map((figures) => figures[key]));
      const figures = {
        req_s: Math.round(of('req_s')),
        p50_ms: of('p50_ms'),
        p99_ms: of('p99_ms'),
        errors: of('errors'),
        repeated: of('repeated'),
        rss_mb: of('rss_mb'),
      };
      report.push({ mix, contender, ...figures });
    }
    print(report.filter((row) => row.mix === mix));
  }
  writeFileSync(
    '.bench/leads.json',
    JSON.stringify({ seconds: SECONDS, rounds: ROUNDS, connections: CONNECTIONS, report }, null, 2),
  );
}

function print(rows: ({ mix: string; contender: Contender } & Figures)[]): void {
  const of = (contender: Contender) => rows.find((row) => row.contender === contender)!.req_s;
  for (const { mix, contender, req_s, p50_ms, p99_ms, errors, repeated, rss_mb } of rows) {
    const ratio =
      contender === 'trunkline'
        ? `  ${(req_s / of('floor')).toFixed(2)} of the floor, ` +
          `${(req_s / of('fastify+prisma')).toFixed(2)} x fastify+prisma`
        : '';
    say(
      `POST /leads, ${mix.padEnd(12)} ${contender.padEnd(15)} ${String(req_s).padStart(6)} ` +
        `req/s  p50 ${p50_ms} ms  p99 ${p99_ms} ms  ${Math.round(repeated * 100)}% repeated  ` +
        `${rss_mb} MB${errors ? `  ERRORS ${errors}` : ''}${ratio}`,
    );
  }
}
