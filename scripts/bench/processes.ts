import autocannon from 'autocannon';
import type { EmbeddedDatabase } from '../../src/db/embedded-postgres';
import { cpuMeter } from './cpu';
import { fillBuyers, fillLists, fillOffer } from './decisions-world';
import { phoneNumber } from './shop';
import { end, median, option, ready, round, say, startService } from './tools';
import { copyWorld, dropWorld, prepareWorld, quiet, type BenchWorld } from './world';

// One process that answers requests against two of WEB_CONCURRENCY, in turns on the same database:
// requests a second, and what each costs in processor time, that of the first process included.

const SECONDS = Number(option('seconds', '5'));
const ROUNDS = Number(option('rounds', '3'));
const CONNECTIONS = 16;
const PORTS = { 1: '4121', 2: '4122' } as const;
type Processes = keyof typeof PORTS;

interface Work {
  what: string;
  request(n: number): { method: 'GET' | 'POST'; path: string; body?: string };
}

interface Figures {
  req_s: number;
  p99_ms: number;
  errors: number;
  cpu_service_ms: number;
  cpu_database_ms: number;
}

interface Measured {
  world: BenchWorld;
  processes: Processes;
  pid: number;
  work: Work;
}

async function measure({ world, processes, pid, work }: Measured): Promise<Figures> {
  await quiet(world);
  const headers = {
    Authorization: `Basic ${Buffer.from(world.auth).toString('base64')}`,
    'Content-Type': 'application/json',
  };
  let n = Math.floor(Math.random() * 1e6);
  const cpu = cpuMeter(pid);
  const { requests, duration, latency, errors, non2xx } = await autocannon({
    url: `http://127.0.0.1:${PORTS[processes]}`,
    connections: CONNECTIONS,
    duration: SECONDS,
    requests: [{ setupRequest: (request) => ({ ...request, ...work.request(n++), headers }) }],
  });
  return {
    req_s: round(requests.total / duration, 1),
    p99_ms: latency.p99,
    errors: errors + non2xx,
    ...cpu(requests.total),
  };
}

const worksOf = ({ first_id, last_id }: BenchWorld, offer_id: string): Work[] => [
  {
    what: 'show',
    request: (n) => {
      const id = first_id + ((n * 7919) % (last_id - first_id));
      return { method: 'GET', path: `/api/v1/buyers/${id}` };
    },
  },
  {
    what: 'decision, 100 buyers',
    request: (n) => {
      const caller_number = `+${phoneNumber(n % 1_000_000)}`;
      const body = JSON.stringify({ offer_id, caller_number, tokens: { state: 'CA' } });
      return { method: 'POST', path: '/api/v1/call_sessions', body };
    },
  },
];

export async function benchProcesses(server: EmbeddedDatabase): Promise<void> {
  const world = await copyWorld(server, await prepareWorld(server, 10_000), 'bench_processes');
  await fillBuyers(world);
  await fillLists(world);
  const offer_id = await fillOffer(world, 100);
  const all = ([1, 2] as const).map((processes) => {
    const settings = { RUN_JOBS: 'false', WEB_CONCURRENCY: String(processes) };
    return { processes, service: startService(world.url, PORTS[processes], settings) };
  });
  try {
    await Promise.all(Object.values(PORTS).map(ready));
    for (const work of worksOf(world, offer_id)) {
      const turns = all.map((each) => ({ ...each, figures: [] as Figures[] }));
      for (let turn = 0; turn <= ROUNDS; turn++)
        for (const { processes, service, figures } of turns) {
          const figure = await measure({ world, processes, pid: service.pid!, work });
          // The first turn is a warm-up.
          if (turn > 0) figures.push(figure);
        }
      print(work, turns);
    }
  } finally {
    await end(all.map(({ service }) => service));
    await dropWorld(server, 'bench_processes');
  }
}

function print({ what }: Work, turns: { processes: Processes; figures: Figures[] }[]): void {
  for (const { processes, figures } of turns) {
    const of = (key: keyof Figures) => round(median(figures.map((each) => each[key])));
    say(
      `${what.padEnd(22)} ${processes} processes  ${of('req_s')}/s  p99 ${of('p99_ms')} ms  CPU ` +
        `${of('cpu_service_ms')} ms of the service, ${of('cpu_database_ms')} ms of the database` +
        `  errors ${of('errors')}`,
    );
  }
  const [one, two] = turns.map(({ figures }) => figures);
  const ratio = (key: 'req_s' | 'cpu_service_ms') =>
    round(median(two!.map((each, turn) => each[key] / one![turn]![key])));
  say(
    `${what}: two processes serve ${ratio('req_s')} x as many requests, and each takes ` +
      `${ratio('cpu_service_ms')} x the processor time of the service`,
  );
}
