import { writeFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { Pool } from 'pg';
import type { EmbeddedDatabase } from '../../src/db/embedded-postgres';
import { fillBuyers, fillLists, fillOffer, LISTED, LISTS } from './decisions-world';
import { phoneNumber } from './shop';
import { end, median, option, paced, percentile, ready, round, say, startService } from './tools';
import { copyWorld, dropWorld, prepareWorld, query, quiet, type BenchWorld } from './world';

// Routing decisions: an offer has 1,000 buyers in 100 groups, all with caps and business hours, and
// there are 20 suppression lists. A decision over HTTP reserves caps and writes the call, its
// attempt and the decision with the reason for every buyer. The floor does only the necessary
// writes, for a buyer chosen in advance.

const PORT = '4111';
const SECONDS = Number(option('seconds', '15'));
const RATE = 50;
const CONNECTIONS = 16;
const BUYERS = [10, 100, 1_000, 10_000];
const WARM_SECONDS = 5;

interface Figures {
  req_s: number;
  p50_ms: number;
  p99_ms: number;
  errors: number;
}

interface Load {
  connections?: number;
  /** Requests a second; without it, each connection sends as soon as it has its response. */
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
  const { times, errors } = await paced({ url, headers, body, rate, seconds });
  return {
    req_s: times.length / seconds,
    p50_ms: round(median(times), 1),
    p99_ms: round(percentile(times, 0.99), 1),
    errors,
  };
}

async function loadConnections(
  { path, headers, body }: Requests,
  connections: number,
  seconds: number,
): Promise<Figures> {
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
    req_s: result.requests.average,
    p50_ms: result.latency.p50,
    p99_ms: result.latency.p99,
    errors: result.errors + result.non2xx,
  };
}

async function load(
  world: BenchWorld,
  { connections = 1, rate, path, seconds, offer_id }: Load,
): Promise<Figures> {
  await quiet(world);
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
    ? loadConnections(requests, connections, seconds)
    : loadPaced(requests, rate, seconds);
}

/** Measures transactions that only write: one row of caps, the call, its attempt. */
async function floor(world: BenchWorld, offer_id: string): Promise<Figures> {
  const pool = new Pool({
    connectionString: world.url,
    max: CONNECTIONS,
    options: '-c timezone=UTC',
  });
  const times: number[] = [];
  const deadline = Date.now() + SECONDS * 1000;
  const lane = async () => {
    while (Date.now() < deadline) {
      const started = performance.now();
      const buyer_id = world.first_id + Math.floor(Math.random() * 1_000);
      const client = await pool.connect();
      await client.query('BEGIN');
      await client.query({
        name: 'cap',
        text: `UPDATE call_limits SET attempt_daily_used = attempt_daily_used + 1
          WHERE company_id = $1 AND buyer_id = $2`,
        values: [world.company_id, buyer_id],
      });
      const { rows } = await client.query({
        name: 'call',
        text: `INSERT INTO calls (company_id, uuid, direction, status, carrier, from_number,
          caller_number, offer_id, buyer_id)
          VALUES ($1, uuidv7(), 'inbound', 'ringing', 'softswitch', $2, $2, $3, $4)
          RETURNING id`,
        values: [world.company_id, 13105550188, offer_id, buyer_id],
      });
      await client.query({
        name: 'attempt',
        text: `INSERT INTO call_attempts (company_id, uuid, call_id, round, buyer_id, connect_to,
          status, timeout_seconds, press_one_to_accept, dial)
          VALUES ($1, uuidv7(), $2, 1, $3, '+13105550111', 'ringing', 30, false, '{}')`,
        values: [world.company_id, rows[0].id, buyer_id],
      });
      await client.query('COMMIT');
      client.release();
      times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  await pool.end();
  const sorted = times.toSorted((a, b) => a - b);
  return {
    req_s: Math.round(times.length / SECONDS),
    p50_ms: round(median(times)),
    p99_ms: round(sorted[Math.floor(sorted.length * 0.99)] ?? 0),
    errors: 0,
  };
}

type Report = (what: string, figures: Figures) => void;

async function measureAll(
  world: BenchWorld,
  offers: Map<number, string>,
  report: Report,
): Promise<void> {
  const offer_id = offers.get(1_000)!;
  const decide = { path: 'call_sessions', offer_id };
  await load(world, { ...decide, connections: CONNECTIONS, seconds: WARM_SECONDS });
  report(
    `decisions, 1,000 buyers, ${RATE} a second`,
    await load(world, { ...decide, rate: RATE, seconds: SECONDS }),
  );
  report(
    `explanations, 1,000 buyers, ${RATE} a second`,
    await load(world, { path: 'routing/explain', offer_id, rate: RATE, seconds: SECONDS }),
  );
  report(
    `decisions, 1,000 buyers, ${CONNECTIONS} connections`,
    await load(world, { ...decide, connections: CONNECTIONS, seconds: SECONDS }),
  );
  report(`floor: the writes alone, ${CONNECTIONS} connections`, await floor(world, offer_id));
  for (const buyers of BUYERS) {
    const one = { path: 'call_sessions', offer_id: offers.get(buyers)!, connections: 1 };
    await load(world, { ...one, seconds: 1 });
    report(
      `decisions one after the other, ${buyers.toLocaleString('en')} buyers`,
      await load(world, { ...one, seconds: 5 }),
    );
  }
}

export async function benchDecisions(server: EmbeddedDatabase): Promise<void> {
  const world = await copyWorld(server, await prepareWorld(server, 10_000), 'bench_decisions');
  const rows: ({ what: string } & Figures)[] = [];
  const report: Report = (what, figures) => {
    rows.push({ what, ...figures });
    const { req_s, p50_ms, p99_ms, errors } = figures;
    say(
      `${what.padEnd(62)} ${String(round(req_s, 1)).padStart(7)}/s  p50 ${p50_ms} ms  p99 ` +
        `${p99_ms} ms${errors ? `  ERRORS ${errors}` : ''}`,
    );
  };
  await fillBuyers(world);
  await fillLists(world);
  const offers = new Map<number, string>();
  for (const buyers of BUYERS) offers.set(buyers, await fillOffer(world, buyers));
  await query(world.url, 'VACUUM ANALYZE');
  const service = startService(world.url, PORT, { RUN_JOBS: 'false' });
  try {
    await ready(PORT);
    await measureAll(world, offers, report);
  } finally {
    await end([service]);
    await dropWorld(server, 'bench_decisions');
  }
  writeFileSync(
    '.bench/decisions.json',
    JSON.stringify({ seconds: SECONDS, lists: LISTS, listed: LISTED, report: rows }, null, 2),
  );
}
