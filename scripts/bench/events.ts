import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Pool } from 'pg';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { CallClient, runConcurrently, type StartedCall, type CallEvent } from './call-client';
import { startCpuMeter } from './cpu';
import { FIND_PREPARED_CALLS, writeEvent, type PreparedCall } from './events-floor';
import { CONVERSION, openEventsWorld, type EventsWorld } from './events-world';
import { end, median, option, percentile, waitUntilReady, round, say, startService } from './tools';
import { dropWorld, query, waitUntilIdle } from './world';

// The events of a call: a buyer answers, presses 1, and the call ends with a conversion and a
// payout. The calls are started beforehand, unmeasured. The floor writes the same rows.

const PORT = '4114';
const ROUNDS = Number(option('rounds', '3'));
const CALLS = Number(option('calls-a-turn', '800'));
const WARM_CALLS = 500;
const CONNECTIONS = 16;
const EVENTS = [
  { event: 'answered' },
  { event: 'key_press', key: '1' },
  { event: 'completed', duration: CONVERSION.after_seconds + 30 },
] as const satisfies CallEvent[];

interface Figures {
  events_s: number;
  p50_ms: number;
  p99_ms: number;
  cpu_service_ms: number;
  cpu_database_ms: number;
}

interface Bench extends EventsWorld {
  service: ChildProcess;
  client: CallClient;
  pool: Pool;
  startedCalls: number;
}

type Report<T> = (call: T, event: (typeof EVENTS)[number]) => Promise<unknown>;

async function begin(bench: Bench, count: number): Promise<StartedCall[]> {
  const { client, offer_id, traffic_source_id } = bench;
  const calls: StartedCall[] = [];
  const numbers = Array.from({ length: count }, () => bench.startedCalls++);
  await runConcurrently(numbers, CONNECTIONS, async (n) =>
    calls.push(await client.begin(n, { offer_id, traffic_source_id })),
  );
  const missed = calls.find(({ is_dialed }) => !is_dialed);
  if (missed) throw new Error(`no buyer was found for call ${missed.id}`);
  return calls;
}

async function measure<T>(
  bench: Bench,
  calls: readonly T[],
  { report, pid }: { report: Report<T>; pid: number | undefined },
): Promise<Figures> {
  await waitUntilIdle(bench.world);
  await query(bench.world.url, 'CHECKPOINT');
  const times: number[] = [];
  const cpu = startCpuMeter(pid);
  const started = performance.now();
  await runConcurrently(calls, CONNECTIONS, async (call) => {
    for (const event of EVENTS) {
      const startedAt = performance.now();
      await report(call, event);
      times.push(performance.now() - startedAt);
    }
  });
  const seconds = (performance.now() - started) / 1000;
  return {
    events_s: Math.round(times.length / seconds),
    p50_ms: round(median(times), 1),
    p99_ms: round(percentile(times, 0.99), 1),
    ...cpu(times.length),
  };
}

async function measureService(bench: Bench, count: number): Promise<Figures> {
  const calls = await begin(bench, count);
  const report: Report<StartedCall> = (call, event) => bench.client.report(call, event);
  const figures = await measure(bench, calls, { report, pid: bench.service.pid });
  await check(bench, calls);
  return figures;
}

async function measureFloor(bench: Bench, count: number): Promise<Figures> {
  const { world, pool } = bench;
  const ids = (await begin(bench, count)).map(({ id }) => id);
  const calls = (await query(world.url, FIND_PREPARED_CALLS, [
    world.company_id,
    ids,
  ])) as unknown as PreparedCall[];
  const report: Report<PreparedCall> = (call, { event }) =>
    writeEvent(pool, world, { call, name: event });
  const figures = await measure(bench, calls, { report, pid: undefined });
  await check(
    bench,
    ids.map((id) => ({ id })),
  );
  return figures;
}

async function check({ world }: Bench, calls: readonly { id: number }[]): Promise<void> {
  const [row] = await query(
    world.url,
    `SELECT count(*) FILTER (WHERE c.ended_at IS NOT NULL AND c.revenue = $3 AND c.payout = $4)
        ::int AS ended,
      (SELECT count(*) FROM conversions v WHERE v.company_id = $1 AND v.call_id = ANY($2)
        AND v.revenue = $3 AND v.payout = $4)::int AS converted,
      (SELECT count(*) FROM call_events e WHERE e.company_id = $1 AND e.call_id = ANY($2)
        AND e.event IN ('answered', 'key_press', 'completed', 'converted', 'payout'))::int / 5
        AS events
    FROM calls c WHERE c.company_id = $1 AND c.id = ANY($2)`,
    [world.company_id, calls.map(({ id }) => id), CONVERSION.revenue, CONVERSION.payout],
  );
  if (Object.values(row!).some((n) => n !== calls.length))
    throw new Error(`wrong counts for ${calls.length} calls: ${JSON.stringify(row)}`);
}

function print(what: string, all: Figures[]): { what: string } & Figures {
  const of = (key: keyof Figures) => median(all.map((figures) => figures[key]));
  const row = {
    what,
    events_s: of('events_s'),
    p50_ms: of('p50_ms'),
    p99_ms: of('p99_ms'),
    cpu_service_ms: of('cpu_service_ms'),
    cpu_database_ms: of('cpu_database_ms'),
  };
  say(
    `${what.padEnd(62)} ${String(row.events_s).padStart(6)}/s  p50 ${row.p50_ms} ms  p99 ` +
      `${row.p99_ms} ms  CPU ${row.cpu_service_ms} ms of the service, ${row.cpu_database_ms} ms ` +
      'of the database',
  );
  return row;
}

async function race(bench: Bench): Promise<void> {
  const [service, floor]: [Figures[], Figures[]] = [[], []];
  await measureService(bench, WARM_CALLS);
  await measureFloor(bench, WARM_CALLS / 5);
  for (let turn = 0; turn < ROUNDS; turn++) {
    service.push(await measureService(bench, CALLS));
    floor.push(await measureFloor(bench, CALLS));
  }
  const what = `events of a call (answered, key, completed with conversion)`;
  const report = [print(what, service), print('floor: the writes alone', floor)];
  const ofFloor = round(report[0]!.events_s / report[1]!.events_s, 3);
  say(`events, ${CONNECTIONS} connections: ${ofFloor} of the floor`);
  writeFileSync(
    '.bench/events.json',
    JSON.stringify({ calls: CALLS, rounds: ROUNDS, report, of_floor: ofFloor }, null, 2),
  );
}

export async function benchEvents(server: EmbeddedDatabase): Promise<void> {
  const opened = await openEventsWorld(server, 'bench_events', 1_000);
  const service = startService(opened.world.url, PORT, { RUN_JOBS: 'false' });
  const client = new CallClient(opened.world, PORT, CONNECTIONS);
  const pool = new Pool({
    connectionString: opened.world.url,
    max: CONNECTIONS,
    options: '-c timezone=UTC',
  });
  try {
    await waitUntilReady(PORT);
    await race({ ...opened, service, client, pool, startedCalls: 0 });
  } finally {
    await client.close();
    await pool.end();
    await end([service]);
    await dropWorld(server, 'bench_events');
  }
}
