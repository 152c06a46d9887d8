import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { CallClient, repeatConcurrently, type CallEvent } from './call-client';
import { CONVERSION } from './events-world';
import { end, median, option, percentile, waitUntilReady, round, say, startService } from './tools';
import { copyWorld, dropWorld, prepareWorld, query, waitUntilIdle, type BenchWorld } from './world';

// Calls of one offer with few buyers, through two processes: every other call fails at its first
// buyer (busy or not answered) and continues with the next. All calls compete for the same few rows
// of caps.

const PORTS = ['4130', '4131'];
const BUYERS = 5;
const ROUNDS = Number(option('rounds', '3'));
const SECONDS = Number(option('seconds', '10'));
const CONNECTIONS = Number(option('connections', '40'));
const WARM_SECONDS = 3;
const FAILURES: CallEvent[] = [{ event: 'busy' }, { event: 'no_answer' }];

interface Figures {
  calls_s: number;
  events_s: number;
  calls_p95_ms: number;
  events_p95_ms: number;
  errors: number;
  deadlocks: number;
}

interface Bench {
  world: BenchWorld;
  offer_id: string;
  clients: CallClient[];
  callers: number;
}

/**
 * Creates an offer of buyers without groups, with caps that are never reached, who pay after 90
 * seconds.
 */
async function openOffer({ url, company_id }: BenchWorld): Promise<string> {
  const [offer] = await query(
    url,
    `INSERT INTO offers (company_id, uuid, name, time_zone, lead_token)
      VALUES ($1, uuidv7(), 'Few buyers', 'America/New_York', md5(random()::text))
      RETURNING id`,
    [company_id],
  );
  const offerId = String(offer!.id);
  await query(
    url,
    `INSERT INTO offer_buyers (company_id, offer_id, buyer_id)
      SELECT company_id, $2, id FROM buyers WHERE company_id = $1 ORDER BY id LIMIT $3::int`,
    [company_id, offerId, BUYERS],
  );
  const buyers = `(SELECT buyer_id FROM offer_buyers WHERE company_id = $1 AND offer_id = $2)`;
  const values = [company_id, offerId];
  await query(
    url,
    `UPDATE buyers SET paused = false, tier = 1, weight = 1, record_token_filter_data = '{}'
      WHERE company_id = $1 AND id IN ${buyers}`,
    values,
  );
  await query(
    url,
    `UPDATE call_limits SET attempt_daily_limit = 1000000, connection_monthly_limit = 10000000,
      revenue_total_limit = 1000000000, concurrency_cap_limit = 100000
      WHERE company_id = $1 AND buyer_id IN ${buyers}`,
    values,
  );
  await query(
    url,
    `DELETE FROM buyer_business_hours WHERE company_id = $1 AND buyer_id IN ${buyers}`,
    values,
  );
  await query(
    url,
    `UPDATE buyer_conversions SET revenue = $3, duration = $4, duplicate_timeframe = 0
      WHERE company_id = $1 AND buyer_id IN ${buyers}`,
    [...values, CONVERSION.revenue, CONVERSION.after_seconds],
  );
  return offerId;
}

async function measure(bench: Bench, share: number, seconds: number): Promise<Figures> {
  const { world, clients, offer_id } = bench;
  await waitUntilIdle(world);
  const deadlocks = await countDeadlocks(world);
  const [calls, events]: [number[], number[]] = [[], []];
  let errors = 0;
  const timed = async <T>(times: number[], work: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const result = await work();
    times.push(performance.now() - startedAt);
    return result;
  };
  const started = performance.now();
  await repeatConcurrently(CONNECTIONS, seconds, async () => {
    const n = bench.callers++;
    const client = clients[n % clients.length]!;
    const fails = n % 100 < share * 100;
    const reports: CallEvent[] = [
      ...(fails ? [FAILURES[n % FAILURES.length]!] : []),
      { event: 'answered' },
      { event: 'completed', duration: CONVERSION.after_seconds + 30 },
    ];
    try {
      const call = await timed(calls, () => client.begin(n, { offer_id }));
      for (const event of reports) await timed(events, () => client.report(call, event));
    } catch (error) {
      if (errors++ === 0) say(`  ${String(error).slice(0, 300)}`);
    }
  });
  const elapsed = (performance.now() - started) / 1000;
  return {
    calls_s: round(calls.length / elapsed, 1),
    events_s: round(events.length / elapsed, 1),
    calls_p95_ms: round(percentile(calls, 0.95), 1),
    events_p95_ms: round(percentile(events, 0.95), 1),
    errors,
    deadlocks: (await countDeadlocks(world)) - deadlocks,
  };
}

/** A session reports its counts to pg_stat_database within a second. */
async function countDeadlocks({ url }: BenchWorld): Promise<number> {
  await new Promise((done) => setTimeout(done, 1_500));
  const counts = 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()';
  return Number((await query(url, counts))[0]!.deadlocks);
}

function print(label: string, all: Figures[]): { label: string } & Figures {
  const pick = (key: keyof Figures) => median(all.map((figures) => figures[key]));
  const sum = (key: keyof Figures) => all.reduce((total, figures) => total + figures[key], 0);
  const row = {
    label,
    calls_s: pick('calls_s'),
    events_s: pick('events_s'),
    calls_p95_ms: pick('calls_p95_ms'),
    events_p95_ms: pick('events_p95_ms'),
    errors: sum('errors'),
    deadlocks: sum('deadlocks'),
  };
  say(
    `${label.padEnd(30)} ${row.calls_s} calls/s (p95 ${row.calls_p95_ms} ms), ${row.events_s} ` +
      `events/s (p95 ${row.events_p95_ms} ms), ${row.errors} errors, ${row.deadlocks} deadlocks`,
  );
  return row;
}

async function race(bench: Bench): Promise<void> {
  const [without, half]: [Figures[], Figures[]] = [[], []];
  await measure(bench, 0, WARM_SECONDS);
  await measure(bench, 0.5, WARM_SECONDS);
  for (let turn = 0; turn < ROUNDS; turn++) {
    without.push(await measure(bench, 0, SECONDS));
    half.push(await measure(bench, 0.5, SECONDS));
  }
  const report = [print('every first buyer answers', without), print('half fail over', half)];
  const ofUsual = round(report[1]!.calls_s / report[0]!.calls_s, 2);
  say(`failover, ${BUYERS} buyers, ${CONNECTIONS} connections: ${ofUsual} of the calls without`);
  writeFileSync(
    '.bench/failover.json',
    JSON.stringify(
      { connections: CONNECTIONS, rounds: ROUNDS, report, of_usual: ofUsual },
      null,
      2,
    ),
  );
}

export async function benchFailover(server: EmbeddedDatabase): Promise<void> {
  const world = await copyWorld(server, await prepareWorld(server, 10_000), 'bench_failover');
  const offerId = await openOffer(world);
  await query(world.url, 'VACUUM ANALYZE');
  const settings = { RUN_JOBS: 'false', WEB_CONCURRENCY: '1' };
  const services: ChildProcess[] = PORTS.map((port) => startService(world.url, port, settings));
  const clients = PORTS.map((port) => new CallClient(world, port, CONNECTIONS));
  try {
    await Promise.all(PORTS.map(waitUntilReady));
    await race({ world, offer_id: offerId, clients, callers: 0 });
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await end(services);
    await dropWorld(server, 'bench_failover');
  }
}
