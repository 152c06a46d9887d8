import autocannon from 'autocannon';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { end, median, option, waitUntilReady, round, say, startRival, startService } from './tools';
import { copyWorld, dropWorld, prepareWorld, waitUntilIdle, type BenchWorld } from './world';

const ROUNDS = Number(option('rounds', '5'));
const SECONDS = Number(option('seconds', '4'));
const BUYERS = Number(option('sizes', '1000000'));
const CONNECTIONS = 16;
const GRANTED = 10;

interface Load {
  world: BenchWorld;
  port: number;
  authorization: string;
  method?: 'GET' | 'PUT';
  path(n: number): string;
  body?(n: number): string;
  seconds?: number;
}

async function load({
  world,
  port,
  authorization,
  method = 'GET',
  path,
  body,
  seconds = SECONDS,
}: Load) {
  const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
  let n = Math.floor(Math.random() * 1e6);
  await waitUntilIdle(world);
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections: CONNECTIONS,
    duration: seconds,
    requests: [
      {
        setupRequest: (request) => ({
          ...request,
          method,
          path: path(++n),
          ...(body && { body: body(n) }),
          headers,
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

const basic = ({ auth }: BenchWorld) => `Basic ${Buffer.from(auth).toString('base64')}`;

interface Contender {
  name: string;
  load: Load;
}

/** Measures in turns after a warm-up; the ratio is the median of the turns. */
async function race(contenders: [Contender, Contender], key: 'req_s' | 'p99_ms'): Promise<void> {
  const runs = new Map(
    contenders.map(({ name }) => [name, [] as Awaited<ReturnType<typeof load>>[]]),
  );
  for (const contender of contenders) await load({ ...contender.load, seconds: 2 });
  for (let turn = 0; turn < ROUNDS; turn++)
    for (const contender of contenders) runs.get(contender.name)!.push(await load(contender.load));
  for (const [name, all] of runs) {
    const of = (figure: 'req_s' | 'p50_ms' | 'p99_ms') =>
      round(median(all.map((run) => run[figure])));
    const errors = all.reduce((sum, run) => sum + run.errors, 0);
    say(
      `  ${name.padEnd(34)} ${of('req_s')} req/s   p50 ${of('p50_ms')} ms   p99 ` +
        `${of('p99_ms')} ms   errors ${errors}`,
    );
  }
  const [first, second] = contenders.map(({ name }) => runs.get(name)!);
  const ratios = first!.map((run, n) =>
    key === 'req_s' ? run[key] / second![n]![key] : second![n]![key] / run[key],
  );
  say(
    `  ${key === 'req_s' ? 'cost' : 'p99'}: ${round(median(ratios))} times (turns: ` +
      `${ratios.map((ratio) => round(ratio)).join(', ')})`,
  );
}

/**
 * Measures the cost of the change log for a write, and of a list for a user with access to few of
 * many buyers.
 */
export async function benchTeams(server: EmbeddedDatabase): Promise<void> {
  const source = await prepareWorld(server, BUYERS);
  const world = await copyWorld(server, source, 'bench_teams');
  const children = [
    startRival('logged', { BENCH_URL: world.url, BENCH_PORT: '4111', BENCH_LOG: 'no' }),
    startRival('logged', { BENCH_URL: world.url, BENCH_PORT: '4112', BENCH_LOG: 'yes' }),
    startService(world.url, '4113', { RATE_LIMIT_PER_MINUTE: '0' }),
  ];
  await Promise.all([4111, 4112, 4113].map(waitUntilReady));
  const { first_id, last_id } = world;
  const change = {
    world,
    authorization: basic(world),
    method: 'PUT' as const,
    path: (n: number) => `/api/v1/buyers/${first_id + ((n * 7919) % (last_id - first_id))}`,
    body: (n: number) =>
      JSON.stringify({ name: `Changed ${n}`, tier: n % 9, attempt_daily_limit: n % 500 }),
  };
  say(`PUT /buyers/:id among ${BUYERS} buyers, ${CONNECTIONS} connections`);
  await race(
    [
      { name: 'without the change log', load: { ...change, port: 4111 } },
      { name: 'with it', load: { ...change, port: 4112 } },
    ],
    'req_s',
  );
  say(`GET /buyers, ${CONNECTIONS} connections`);
  const list = { world, port: 4113, path: () => '/api/v1/buyers' };
  await race(
    [
      { name: `company key, ${BUYERS} buyers`, load: { ...list, authorization: basic(world) } },
      {
        name: `user granted ${GRANTED} of them`,
        load: { ...list, authorization: await limitedUser(world) },
      },
    ],
    'p99_ms',
  );
  await end(children);
  await dropWorld(server, 'bench_teams');
}

async function limitedUser(world: BenchWorld): Promise<string> {
  const post = async (path: string, body: object) => {
    const headers = { Authorization: basic(world), 'Content-Type': 'application/json' };
    const response = await fetch(`http://127.0.0.1:4113/api/v1/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return (await response.json()) as { token?: string; success: boolean };
  };
  const step = Math.floor((world.last_id - world.first_id) / GRANTED);
  const buyerIds = Array.from({ length: GRANTED }, (_, n) => world.first_id + n * step);
  await post('access_control_lists', {
    name: 'Partners',
    users_emails: ['ann@example.com'],
    permissions: ['buyers:read'],
    buyer_ids: buyerIds,
  });
  const { token } = await post('access_tokens', {
    name: 'Ann',
    kind: 'user_token',
    user_email: 'ann@example.com',
  });
  return `Token ${token}`;
}
