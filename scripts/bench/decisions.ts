import { writeFileSync } from 'node:fs';
import type { ChildProcess } from 'node:child_process';
import autocannon from 'autocannon';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { startCpuMeter } from './cpu';
import { measureDecisionFloor } from './decisions-floor';
import { fillBuyers, fillCalls, fillLists, fillOffer, LISTED, LISTS } from './decisions-world';
import { phoneNumber } from './shop';
import {
  end,
  median,
  option,
  sendPaced,
  percentile,
  waitUntilReady,
  round,
  say,
  startService,
} from './tools';
import { copyWorld, dropWorld, prepareWorld, query, waitUntilIdle, type BenchWorld } from './world';

// Routing decisions: an offer has 1,000 buyers in 100 groups, all with caps and business hours, and
// there are 20 suppression lists. A decision over HTTP reserves caps and writes the call, its
// attempt and the decision with the reason for every buyer. The floor does only the necessary
// writes, for a buyer chosen in advance.

const PORT = '4111';
const SECONDS = Number(option('seconds', '8'));
const ROUNDS = Number(option('rounds', '3'));
const RATE = 50;
const CONNECTIONS = 16;
const BUYERS = [10, 100, 1_000, 10_000];
/** Before the first turn, and before each measurement at a rate. */
const WARM_SECONDS = 5;
const WARM_SECONDS_AT_A_RATE = 2;

interface Figures {
  req_s: number;
  p50_ms: number;
  p99_ms: number;
  errors: number;
  cpu_service_ms?: number;
  cpu_database_ms?: number;
}

interface Load {
  connections?: number;
  /** Requests a second; without it, each connection sends its next request on response. */
  rate?: number;
  path: string;
  seconds: number;
  offer_id: string;
}

interface Requests {
  path: string;
  headers: Record<string, string>;
  body: () => string;
}

/**
 * Sends requests at even intervals. autocannon would send all requests of a second at its
 * beginning, but calls come one by one.
 */
async function loadPaced(requests: Requests, rate: number, seconds: number): Promise<Figures> {
  const { path, headers, body } = requests;
  const url = `http://127.0.0.1:${PORT}${path}`;
  const warmSeconds = WARM_SECONDS_AT_A_RATE;
  const { times, errors } = await sendPaced({
    url,
    headers,
    body,
    rate,
    seconds,
    warm_seconds: warmSeconds,
  });
  return {
    req_s: round(times.length / seconds, 1),
    p50_ms: round(median(times), 1),
    p99_ms: round(percentile(times, 0.99), 1),
    errors,
  };
}

async function loadConnections(
  { path, headers, body }: Requests,
  { connections, seconds, pid }: { connections: number; seconds: number; pid: number },
): Promise<Figures> {
  const cpu = startCpuMeter(pid);
  const result = await autocannon({
    url: `http://127.0.0.1:${PORT}`,
    connections,
    duration: seconds,
    requests: [
      {
        setupRequest: (request) => ({
          ...request,
          method: 'POST' as const,
          path,
          headers,
          body: body(),
        }),
      },
    ],
  });
  return {
    req_s: round(result.requests.total / result.duration, 1),
    p50_ms: result.latency.p50,
    p99_ms: result.latency.p99,
    errors: result.errors + result.non2xx,
    ...cpu(result.requests.total),
  };
}

async function load(
  { world, service }: Bench,
  { connections = 1, rate, path, seconds, offer_id }: Load,
): Promise<Figures> {
  await waitUntilIdle(world);
  await query(world.url, 'CHECKPOINT');
  const headers = {
    Authorization: `Basic ${Buffer.from(world.auth).toString('base64')}`,
    'Content-Type': 'application/json',
  };
  const body = () =>
    JSON.stringify({
      offer_id,
      caller_number: `+${phoneNumber(Math.floor(Math.random() * 1_000_000))}`,
      tokens: { state: 'CA' },
    });
  const requests = { path: `/api/v1/${path}`, headers, body };
  return rate === undefined
    ? loadConnections(requests, { connections, seconds, pid: service.pid! })
    : loadPaced(requests, rate, seconds);
}

interface Bench {
  world: BenchWorld;
  service: ChildProcess;
  /** Offer ids by number of buyers. */
  offers: Map<number, string>;
}

const count = (buyers: number) => buyers.toLocaleString('en');
const FLOOR = `floor: the writes alone, ${CONNECTIONS} connections`;
const SATURATED = `decisions, 1,000 buyers, ${CONNECTIONS} connections`;
const oneByOne = (buyers: number) => `decisions one after the other, ${count(buyers)} buyers`;

function measurements(bench: Bench): Map<string, () => Promise<Figures>> {
  const offerId = bench.offers.get(1_000)!;
  const decide = { path: 'call_sessions', offer_id: offerId, seconds: SECONDS };
  const works = new Map([
    [`decisions, 1,000 buyers, ${RATE} a second`, () => load(bench, { ...decide, rate: RATE })],
    [
      `explanations, 1,000 buyers, ${RATE} a second`,
      () => load(bench, { ...decide, path: 'routing/explain', rate: RATE }),
    ],
    [SATURATED, () => load(bench, { ...decide, connections: CONNECTIONS })],
    [FLOOR, () => floor(bench, offerId)],
  ]);
  for (const buyers of BUYERS) {
    const singleDecision = { ...decide, offer_id: bench.offers.get(buyers)!, connections: 1 };
    works.set(oneByOne(buyers), () =>
      load(bench, { ...singleDecision, seconds: Math.min(3, SECONDS) }),
    );
  }
  return works;
}

async function floor({ world }: Bench, offerId: string): Promise<Figures> {
  await waitUntilIdle(world);
  await query(world.url, 'CHECKPOINT');
  return measureDecisionFloor(world, {
    offer_id: offerId,
    connections: CONNECTIONS,
    seconds: SECONDS,
  });
}

type Row = { what: string } & Figures;

async function measureAll(bench: Bench): Promise<Row[]> {
  const path = 'call_sessions';
  for (const offerId of bench.offers.values())
    await load(bench, { path, offer_id: offerId, connections: 1, seconds: 1 });
  const offerId = bench.offers.get(1_000)!;
  await load(bench, { path, offer_id: offerId, connections: CONNECTIONS, seconds: WARM_SECONDS });
  const works = measurements(bench);
  const turns = new Map([...works.keys()].map((what) => [what, [] as Figures[]]));
  for (let turn = 0; turn < ROUNDS; turn++)
    for (const [what, measure] of works) turns.get(what)!.push(await measure());
  return [...turns].map(([what, all]) => ({ what, ...medians(all) }));
}

function medians(all: Figures[]): Figures {
  const of = (key: keyof Figures) => median(all.map((figures) => figures[key] ?? 0));
  const cpu = { cpu_service_ms: of('cpu_service_ms'), cpu_database_ms: of('cpu_database_ms') };
  return {
    req_s: of('req_s'),
    p50_ms: of('p50_ms'),
    p99_ms: of('p99_ms'),
    errors: Math.max(...all.map(({ errors }) => errors)),
    ...(cpu.cpu_service_ms > 0 && cpu),
  };
}

function print(rows: Row[]): { of_floor: number; large_of_small: number } {
  for (const { what, req_s, p50_ms, p99_ms, errors, cpu_service_ms, cpu_database_ms } of rows)
    say(
      `${what.padEnd(52)} ${String(req_s).padStart(7)}/s  p50 ${p50_ms} ms  p99 ${p99_ms} ms` +
        (cpu_service_ms === undefined
          ? ''
          : `  CPU ${cpu_service_ms} ms of the service, ${cpu_database_ms} ms of the database`) +
        (errors ? `  ERRORS ${errors}` : ''),
    );
  const of = (what: string) => rows.find((row) => row.what === what)!.req_s;
  const ofFloor = round(of(SATURATED) / of(FLOOR), 3);
  const largeOfSmall = round(of(oneByOne(10)) / of(oneByOne(10_000)));
  say(`decisions, ${CONNECTIONS} connections: ${ofFloor} of the floor`);
  say(`decisions one after the other, 10,000 buyers against 10: ${largeOfSmall} x as long`);
  return { of_floor: ofFloor, large_of_small: largeOfSmall };
}

export async function benchDecisions(server: EmbeddedDatabase): Promise<void> {
  const world = await copyWorld(server, await prepareWorld(server, 10_000), 'bench_decisions');
  await fillBuyers(world);
  await fillLists(world);
  const offers = new Map<number, string>();
  for (const buyers of BUYERS) offers.set(buyers, await fillOffer(world, buyers));
  await fillCalls(world, offers.get(1_000)!);
  await query(world.url, 'VACUUM ANALYZE');
  const service = startService(world.url, PORT, { RUN_JOBS: 'false' });
  try {
    await waitUntilReady(PORT);
    const report = await measureAll({ world, service, offers });
    const ratios = print(report);
    writeFileSync(
      '.bench/decisions.json',
      JSON.stringify(
        { seconds: SECONDS, rounds: ROUNDS, lists: LISTS, listed: LISTED, report, ...ratios },
        null,
        2,
      ),
    );
  } finally {
    await end([service]);
    await dropWorld(server, 'bench_decisions');
  }
}
