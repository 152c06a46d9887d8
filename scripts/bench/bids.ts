import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Agent, request } from 'undici';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { fillBuyers, fillOffer } from './decisions-world';
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

// Real-time bidding: an offer has 1,000 buyers, of which 20 are bidders on their own addresses that
// answer after 100 ms. Each call has another caller, so that it asks all bidders.

const PORT = '4117';
const SECONDS = Number(option('seconds', '8'));
const ROUNDS = Number(option('rounds', '3'));
const RATES = [5, 20];
const BUYERS = 1_000;
const BIDDERS = 20;
const ANSWER_MS = 100;
const WARM_SECONDS = 2;
/** Calls a second of the warm-up: a running service has compiled its code. */
const WARM_RATE = 40;

/** Runs the bidders in their own thread, so that the measuring client does not wait for them. */
async function startBidders() {
  const requestCounter = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(join(__dirname, 'bidders.js'), {
    workerData: { count: BIDDERS, answer_ms: ANSWER_MS, request_counter: requestCounter },
  });
  const [ports] = (await once(worker, 'message')) as [number[]];
  return {
    urls: ports.map((port) => `http://127.0.0.1:${port}/bid`),
    request_counter: requestCounter,
    worker,
  };
}

interface Figures {
  calls_s: number;
  p50_ms: number;
  p99_ms: number;
  errors: number;
}

const toFigures = (times: number[], errors: number): Figures => ({
  calls_s: round(times.length / SECONDS, 1),
  p50_ms: round(median(times), 1),
  p99_ms: round(percentile(times, 0.99), 1),
  errors,
});

/** The floor: asks all bidders at once and does nothing else. */
async function askDirectly(urls: readonly string[], rate: number): Promise<Figures> {
  const agent = new Agent({ connections: 200 });
  const ask = async (url: string) => {
    const { body } = await request(url, { method: 'POST', body: '{}', dispatcher: agent });
    await body.text();
  };
  const times: number[] = [];
  const calls: Promise<unknown>[] = [];
  const total = rate * (WARM_SECONDS + SECONDS);
  for (let n = 0; n < total; n++) {
    const started = performance.now();
    calls.push(
      Promise.all(urls.map(ask)).then(() => {
        if (n >= rate * WARM_SECONDS) times.push(performance.now() - started);
      }),
    );
    await setTimeout(1000 / rate);
  }
  await Promise.all(calls);
  await agent.close();
  return toFigures(times, 0);
}

async function setBidders({ url, company_id }: BenchWorld, urls: readonly string[]): Promise<void> {
  await query(
    url,
    `WITH chosen AS (
        SELECT b.id, u.url
        FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM buyers WHERE company_id = $1) b
        JOIN unnest($2::text[]) WITH ORDINALITY AS u(url, n) ON u.n * 7 = b.n
      ),
      changed AS (
        INSERT INTO routing_changes (company_id, slot, n) VALUES ($1, 0, 1)
        ON CONFLICT (company_id, slot) DO UPDATE SET n = routing_changes.n + 1
      )
      UPDATE buyers b
      SET buyer_type = 'rtb', route_by_type = 'revenue', ping_timeout_ms = 1000,
        bid_request = jsonb_build_object('url', chosen.url)
      FROM chosen
      WHERE b.company_id = $1 AND b.id = chosen.id`,
    [company_id, urls],
  );
}

async function load(world: BenchWorld, offerId: string, rate: number): Promise<Figures> {
  await waitUntilIdle(world);
  const headers = {
    Authorization: `Basic ${Buffer.from(world.auth).toString('base64')}`,
    'Content-Type': 'application/json',
  };
  const body = () =>
    JSON.stringify({
      offer_id: offerId,
      caller_number: `+${phoneNumber(Math.floor(Math.random() * 1_000_000))}`,
      tokens: { state: 'CA' },
    });
  const { times, errors } = await sendPaced({
    url: `http://127.0.0.1:${PORT}/api/v1/call_sessions`,
    headers,
    body,
    rate,
    seconds: SECONDS,
    warm_seconds: WARM_SECONDS,
  });
  return toFigures(times, errors);
}

const medians = (all: readonly Figures[]): Figures => ({
  calls_s: median(all.map(({ calls_s }) => calls_s)),
  p50_ms: median(all.map(({ p50_ms }) => p50_ms)),
  p99_ms: median(all.map(({ p99_ms }) => p99_ms)),
  errors: Math.max(...all.map(({ errors }) => errors)),
});

export async function benchBids(server: EmbeddedDatabase): Promise<void> {
  const world = await copyWorld(server, await prepareWorld(server, 10_000), 'bench_bids');
  await fillBuyers(world);
  const offerId = await fillOffer(world, BUYERS);
  await query(world.url, 'VACUUM ANALYZE');
  const bidders = await startBidders();
  const service = startService(world.url, PORT, {
    RUN_JOBS: 'false',
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.1/32',
  });
  const report: ({ what: string } & Figures)[] = [];
  const calls = (rate: number) => load(world, offerId, rate);
  const measure = async (what: string, rate: number, run = calls) => {
    const all: Figures[] = [];
    for (let n = 0; n < ROUNDS; n++) all.push(await run(rate));
    const figures = medians(all);
    report.push({ what: `${what}, ${rate} calls a second`, ...figures });
    say(
      `${what}, ${rate} a second: p50 ${figures.p50_ms} ms  p99 ${figures.p99_ms} ms` +
        (figures.errors ? `  ERRORS ${figures.errors}` : ''),
    );
  };
  try {
    await waitUntilReady(PORT);
    await calls(WARM_RATE);
    for (const rate of RATES) await measure('without bidders', rate);
    await setBidders(world, bidders.urls);
    await calls(WARM_RATE);
    const asking = (rate: number) => askDirectly(bidders.urls, rate);
    for (const rate of RATES) {
      await measure(`floor: ${BIDDERS} bidders are asked, and nothing else`, rate, asking);
      Atomics.store(bidders.request_counter, 0, 0);
      await measure(`${BIDDERS} bidders of ${BUYERS} buyers, ${ANSWER_MS} ms each`, rate);
    }
    const askedEach = round(Atomics.load(bidders.request_counter, 0) / BIDDERS);
    say(`each bidder was asked ${askedEach} times at ${RATES.at(-1)!} calls a second`);
    writeFileSync(
      '.bench/bids.json',
      JSON.stringify({ seconds: SECONDS, rounds: ROUNDS, report, asked_each: askedEach }, null, 2),
    );
  } finally {
    await end([service]);
    await bidders.worker.terminate();
    await dropWorld(server, 'bench_bids');
  }
}
