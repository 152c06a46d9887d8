import { writeFileSync } from 'node:fs';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { repeatConcurrently, type CallClient, type CallEvent } from './call-client';
import { CONVERSION } from './events-world';
import {
  countDeadlocks,
  KINDS,
  openStormOffer,
  openStormWorld,
  timeInto,
  withClients,
  type Kind,
} from './storm-world';
import { median, option, percentile, round, say } from './tools';
import { dropWorld, waitUntilIdle, type BenchWorld } from './world';

// Calls of one offer with five buyers: half of them fail at their first buyer (busy or not
// answered) and continue with the next; all are then answered and completed. They compete for a few
// rows of caps. Side by side with an offer of 500 buyers, in turns.

const PORTS = ['4130', '4131'];
const FEW = 5;
const MANY = 500;
const ROUNDS = Number(option('rounds', '3'));
const SECONDS = Number(option('seconds', '5'));
const CONNECTIONS = Number(option('connections', '40'));
const WARM_SECONDS = 3;
const FAILURES: CallEvent[] = [{ event: 'busy' }, { event: 'no_answer' }];

interface Figures {
  calls_s: number;
  events_s: number;
  calls_p99_ms: number;
  events_p99_ms: number;
  errors: number;
  deadlocks: number;
}

interface Row {
  kind: Kind;
  processes: number;
  few: Figures;
  many: Figures;
  /** Calls and events a second, few of many. */
  ratio: number;
}

let callers = 0;

async function measure(
  world: BenchWorld,
  clients: readonly CallClient[],
  { offer_id, seconds }: { offer_id: string; seconds: number },
): Promise<Figures> {
  await waitUntilIdle(world);
  const deadlocks = await countDeadlocks(world);
  const [calls, events]: [number[], number[]] = [[], []];
  let errors = 0;
  const started = performance.now();
  await repeatConcurrently(CONNECTIONS, seconds, async () => {
    const n = callers++;
    const client = clients[n % clients.length]!;
    const reports: CallEvent[] = [
      ...(n % 2 === 0 ? [FAILURES[(n / 2) % FAILURES.length]!] : []),
      { event: 'answered' },
      { event: 'completed', duration: CONVERSION.after_seconds + 30 },
    ];
    try {
      const call = await timeInto(calls, () => client.begin(n, { offer_id }));
      for (const event of reports) await timeInto(events, () => client.report(call, event));
    } catch (error) {
      if (errors++ === 0) say(`  ${String(error).slice(0, 300)}`);
    }
  });
  const elapsed = (performance.now() - started) / 1000;
  return {
    calls_s: round(calls.length / elapsed, 1),
    events_s: round(events.length / elapsed, 1),
    calls_p99_ms: round(percentile(calls, 0.99), 1),
    events_p99_ms: round(percentile(events, 0.99), 1),
    errors,
    deadlocks: (await countDeadlocks(world)) - deadlocks,
  };
}

function summarize(all: readonly Figures[]): Figures {
  const pick = (key: keyof Figures) => median(all.map((figures) => figures[key]));
  const sum = (key: keyof Figures) => all.reduce((total, figures) => total + figures[key], 0);
  return {
    calls_s: pick('calls_s'),
    events_s: pick('events_s'),
    calls_p99_ms: pick('calls_p99_ms'),
    events_p99_ms: pick('events_p99_ms'),
    errors: sum('errors'),
    deadlocks: sum('deadlocks'),
  };
}

const formatFigures = (figures: Figures): string =>
  `${figures.calls_s} + ${figures.events_s}/s, p99 ${figures.calls_p99_ms}, ` +
  `${figures.events_p99_ms} ms, ${figures.errors} errors, ${figures.deadlocks} deadlocks`;

async function race(
  world: BenchWorld,
  clients: readonly CallClient[],
  { kind, few, many }: { kind: Kind; few: string; many: string },
): Promise<Row> {
  const figures: Record<'few' | 'many', Figures[]> = { few: [], many: [] };
  const offers = { few, many };
  for (const side of ['few', 'many'] as const)
    await measure(world, clients, { offer_id: offers[side], seconds: WARM_SECONDS });
  for (let turn = 0; turn < ROUNDS; turn++)
    for (const side of ['few', 'many'] as const)
      figures[side].push(
        await measure(world, clients, { offer_id: offers[side], seconds: SECONDS }),
      );
  const [ofFew, ofMany] = [summarize(figures.few), summarize(figures.many)];
  const total = ({ calls_s, events_s }: Figures) => calls_s + events_s;
  const ratio = round(total(ofFew) / total(ofMany), 2);
  const processes = clients.length;
  say(`${kind}, ${processes} process${processes > 1 ? 'es' : ''}: ${ratio} of ${MANY} buyers`);
  say(`  ${FEW} buyers: ${formatFigures(ofFew)}`);
  say(`  ${MANY} buyers: ${formatFigures(ofMany)}`);
  return { kind, processes, few: ofFew, many: ofMany, ratio };
}

const measureProcesses = (
  world: BenchWorld,
  offers: readonly { kind: Kind; few: string; many: string }[],
  ports: readonly string[],
): Promise<Row[]> =>
  withClients(world, ports, {
    connections: CONNECTIONS,
    work: async (clients) => {
      const rows: Row[] = [];
      for (const offer of offers) rows.push(await race(world, clients, offer));
      return rows;
    },
  });

export async function benchStorm(server: EmbeddedDatabase): Promise<void> {
  const world = await openStormWorld(server, 'bench_storm');
  try {
    const offers: { kind: Kind; few: string; many: string }[] = [];
    for (const [n, kind] of KINDS.entries()) {
      const skip = n * (FEW + MANY);
      offers.push({
        kind,
        few: await openStormOffer(world, { kind, buyers: FEW, skip }),
        many: await openStormOffer(world, { kind, buyers: MANY, skip: skip + FEW }),
      });
    }
    const report = [
      ...(await measureProcesses(world, offers, PORTS.slice(0, 1))),
      ...(await measureProcesses(world, offers, PORTS)),
    ];
    writeFileSync(
      '.bench/storm.json',
      JSON.stringify({ connections: CONNECTIONS, rounds: ROUNDS, report }, null, 2),
    );
  } finally {
    await dropWorld(server, 'bench_storm');
  }
}
