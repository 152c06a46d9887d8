import autocannon from 'autocannon';
import { startCpuMeter } from './cpu';
import { phoneNumber } from './shop';
import { median, round } from './tools';
import { query, waitUntilIdle, type BenchWorld } from './world';

// Sends decisions as fast as possible over some connections, and measures their CPU cost.

export interface Figures {
  req_s: number;
  p50_ms: number;
  p99_ms: number;
  errors: number;
  cpu_service_ms: number;
  cpu_database_ms: number;
}

interface Load {
  port: string;
  /** Process id of the service. */
  pid: number;
  connections: number;
  seconds: number;
  /** Builds the next call without its caller. */
  call: () => object;
}

export async function loadDecisions(
  world: BenchWorld,
  { port, pid, connections, seconds, call }: Load,
): Promise<Figures> {
  await waitUntilIdle(world);
  await query(world.url, 'CHECKPOINT');
  const headers = {
    Authorization: `Basic ${Buffer.from(world.auth).toString('base64')}`,
    'Content-Type': 'application/json',
  };
  const body = () => {
    const callerNumber = `+${phoneNumber(Math.floor(Math.random() * 1_000_000))}`;
    return JSON.stringify({ caller_number: callerNumber, ...call() });
  };
  const cpu = startCpuMeter(pid);
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: seconds,
    requests: [
      {
        setupRequest: (request) => ({
          ...request,
          method: 'POST' as const,
          path: '/api/v1/call_sessions',
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

export function medians(all: readonly Figures[]): Figures {
  const of = (key: keyof Figures) => round(median(all.map((figures) => figures[key])));
  return {
    req_s: of('req_s'),
    p50_ms: of('p50_ms'),
    p99_ms: of('p99_ms'),
    errors: Math.max(...all.map(({ errors }) => errors)),
    cpu_service_ms: of('cpu_service_ms'),
    cpu_database_ms: of('cpu_database_ms'),
  };
}

export const formatFigures = (
  what: string,
  { req_s, p50_ms, p99_ms, errors, cpu_service_ms, cpu_database_ms }: Figures,
): string =>
  what.padEnd(56) +
  `${req_s}/s  p50 ${p50_ms} ms  p99 ${p99_ms} ms` +
  `  CPU ${cpu_service_ms} ms of the service, ${cpu_database_ms} ms of the database` +
  (errors ? `  ERRORS ${errors}` : '');
