import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import type { CallClient, CallEvent } from './call-client';
import { CONVERSION } from './events-world';
import {
  countDeadlocks,
  openStormOffer,
  openStormWorld,
  timeInto,
  withClients,
} from './storm-world';
import { option, percentile, round, say } from './tools';
import { dropWorld, type BenchWorld } from './world';

// Calls to five buyers that arrive at a rate, as in life: each leg is busy or not answered with
// probability one half, after 0.2 to 1.5 seconds; else it is answered and completed.

const PORTS = ['4130', '4131'];
const BUYERS = 5;
const RATES = option('rates', '5,10,20,40,80').split(',').map(Number);
const SECONDS = Number(option('seconds', '20'));
const MAX_CONNECTIONS = 500;

interface Row {
  processes: number;
  rate: number;
  requests: number;
  calls_p99_ms: number;
  events_p99_ms: number;
  errors: number;
  deadlocks: number;
}

let callers = 0;

async function measure(
  world: BenchWorld,
  clients: readonly CallClient[],
  { offer_id, rate }: { offer_id: string; rate: number },
): Promise<Row> {
  const deadlocks = await countDeadlocks(world);
  const [calls, events]: [number[], number[]] = [[], []];
  let errors = 0;
  async function live(): Promise<void> {
    const n = callers++;
    const client = clients[n % clients.length]!;
    try {
      const call = await timeInto(calls, () => client.begin(n, { offer_id }));
      for (let leg = 0; leg < BUYERS; leg++) {
        await sleep(200 + Math.random() * 1300);
        const fails = Math.random() < 0.5;
        const event: CallEvent = { event: fails ? 'no_answer' : 'answered' };
        await timeInto(events, () => client.report(call, event));
        if (fails) continue;
        const ended: CallEvent = { event: 'completed', duration: CONVERSION.after_seconds };
        await timeInto(events, () => client.report(call, ended));
        return;
      }
    } catch (error) {
      if (errors++ === 0) say(`  ${String(error).slice(0, 300)}`);
    }
  }
  const lives: Promise<void>[] = [];
  const started = performance.now();
  for (let n = 0; n < rate * SECONDS; n++) {
    const due = started + (n * 1000) / rate;
    const wait = due - performance.now();
    if (wait > 0) await sleep(wait);
    lives.push(live());
  }
  await Promise.all(lives);
  return {
    processes: clients.length,
    rate,
    requests: calls.length + events.length,
    calls_p99_ms: round(percentile(calls, 0.99), 1),
    events_p99_ms: round(percentile(events, 0.99), 1),
    errors,
    deadlocks: (await countDeadlocks(world)) - deadlocks,
  };
}

const measureProcesses = (
  world: BenchWorld,
  offerId: string,
  ports: readonly string[],
): Promise<Row[]> =>
  withClients(world, ports, {
    connections: MAX_CONNECTIONS,
    work: async (clients) => {
      const rows: Row[] = [];
      for (const rate of [RATES[0]!, ...RATES]) {
        const row = await measure(world, clients, { offer_id: offerId, rate });
        // The first run warms up.
        if (rows.push(row) > 1) print(row);
      }
      return rows.slice(1);
    },
  });

function print({ processes, rate, calls_p99_ms, events_p99_ms, errors, deadlocks }: Row): void {
  say(
    `${processes} process${processes > 1 ? 'es' : ''}, ${rate} calls a second: p99 of calls ` +
      `${calls_p99_ms} ms, of events ${events_p99_ms} ms, ${errors} errors, ${deadlocks} deadlocks`,
  );
}

export async function benchArrivals(server: EmbeddedDatabase): Promise<void> {
  const world = await openStormWorld(server, 'bench_arrivals');
  try {
    const offerId = await openStormOffer(world, { kind: 'no caps', buyers: BUYERS, skip: 0 });
    const report = [
      ...(await measureProcesses(world, offerId, PORTS.slice(0, 1))),
      ...(await measureProcesses(world, offerId, PORTS)),
    ];
    writeFileSync('.bench/arrivals.json', JSON.stringify({ seconds: SECONDS, report }, null, 2));
  } finally {
    await dropWorld(server, 'bench_arrivals');
  }
}
