import { Pool } from 'pg';
import pino from 'pino';
import {
  openRateLimitCounter,
  type RateLimitCounter,
} from '../../src/data/rate-limits/rate-limit-counter';
import { sqlOn } from '../../src/data/sql';
import { buildApp, caller, type Api } from '../support/world';
import { openWorld, useWorld } from '../support/use-world';

/** So long that it does not end during a test. */
const rateWindowSeconds = 100_000_000;
const environment = {
  RATE_LIMIT_PER_MINUTE: '100',
  LEAD_RATE_LIMIT_PER_MINUTE: '100',
  CORS_ORIGINS: 'https://app.example.com',
  TRUST_PROXY: '1',
};
const log = pino({ level: 'silent' });

const world = useWorld({ environment, rate_window_seconds: rateWindowSeconds });
/** Another process of the service: with its own memory and connections. */
let elsewhere: Api;
beforeAll(() => {
  elsewhere = caller(buildApp(world.openProcess(environment)), null);
});

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
const here = world.api;
/** 300 requests at once, to both. */
const flood = async (send: (api: Api, n: number) => ReturnType<Api>) =>
  Promise.all(Array.from({ length: 300 }, (_, n) => send(n % 2 ? here : elsewhere, n)));
const count = (answers: { status: number }[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

test('of 300 simultaneous requests to two processes exactly the 100 allowed succeed', async () => {
  const auth = await world.credentials(world.company, []);
  const answers = await flood((api) => api('get', 'me', { auth }));
  expect([count(answers, 200), count(answers, 429)]).toEqual([100, 200]);
  await pause(1_500);
  expect(count(await flood((api) => api('get', 'me', { auth })), 429)).toBe(300);
  const otherCredentials = await world.credentials(world.company, []);
  expect((await here('get', 'me', { auth: otherCredentials })).status).toBe(200);
});

test('the same for submissions by one lead token, from any addresses', async () => {
  const auth = await world.credentials(world.company, [], { superuser: true });
  const { lead_token } = (await here('post', 'offers', { auth, body: { name: 'O' } })).body.offer;
  const submit = (api: Api, n: number) =>
    api('post', 'leads', {
      auth: null,
      headers: { 'X-Forwarded-For': `203.0.113.${n % 10}` },
      query: { lead_token, caller_id: `+1310555${1000 + n}` },
    });
  const answers = await flood(submit);
  expect([count(answers, 201), count(answers, 429)]).toEqual([100, 200]);
  expect((await here('get', 'leads', { auth })).body.metadata.total_count).toBe(100);
});

test('every response has RateLimit headers, also for browsers; 429 has Retry-After', async () => {
  const auth = await world.credentials(world.company, []);
  const ask = (path: string) =>
    here('get', path, { auth, headers: { Origin: 'https://app.example.com' } });
  const first = await ask('me');
  expect(first.headers).toMatchObject({
    'ratelimit-policy': `"default";q=100;w=${rateWindowSeconds}`,
    ratelimit: expect.stringMatching(/^"default";r=99;t=\d+$/),
    'access-control-expose-headers': expect.stringContaining('RateLimit-Policy'),
  });
  const missing = await ask('collections/nothing');
  expect([missing.status, missing.headers.ratelimit]).toEqual([
    404,
    expect.stringContaining('r=98'),
  ]);
  for (let n = 0; n < 98; n++) expect((await ask('me')).status).toBe(200);
  const refused = await ask('me');
  expect([
    refused.status,
    refused.headers.ratelimit,
    Number(refused.headers['retry-after']) > 0,
  ]).toEqual([429, expect.stringContaining('r=0'), true]);
  expect(refused.body.detail).toContain('100 requests');
});

test('0 is no limit, without headers', async () => {
  const free = await openWorld({
    environment: { RATE_LIMIT_PER_MINUTE: '0', LEAD_RATE_LIMIT_PER_MINUTE: '0' },
  });
  const res = await free.api('get', 'me');
  expect([res.status, res.headers.ratelimit, res.headers['ratelimit-policy']]).toEqual([
    200,
    undefined,
    undefined,
  ]);
  expect(await free.sql('SELECT FROM rate_limits')).toEqual([]);
  await free.close();
});

describe('the counter', () => {
  const pools: Pool[] = [];
  const opened: RateLimitCounter[] = [];
  const open = (windowSeconds = rateWindowSeconds) => {
    const pool = new Pool({ connectionString: world.url, max: 4, options: '-c timezone=UTC' });
    const counter = openRateLimitCounter({ sql: sqlOn(pool), log, window_seconds: windowSeconds });
    pools.push(pool);
    opened.push(counter);
    return { pool, counter };
  };
  afterAll(async () => {
    await Promise.all(opened.map((counter) => counter.close()));
    await Promise.all(pools.map((pool) => pool.end()));
  });
  const subject = (name: string, limit: number) => ({ company_id: world.company.id, name, limit });
  const used = async (name: string) =>
    (
      await world.sql<{ used: number }>('SELECT used FROM rate_limits WHERE subject = $1', [name])
    )[0]!.used;

  test('allows 2,000 of 2,000 over several processes, and never more', async () => {
    const processes = [open(), open(), open()];
    let allowed = 0;
    const ask = async (n: number) => {
      const { counter } = processes[n % 3]!;
      if ((await counter.take(subject('many', 2_000))).allowed) allowed += 1;
    };
    for (let round = 0; round < 3; round++)
      await Promise.all(Array.from({ length: 600 }, (_, n) => ask(n * (round + 1))));
    // Now only one process is asked: what the others did not use is returned, and comes to it.
    for (let round = 0; allowed < 2_000 && round < 200; round++) {
      await Promise.all(Array.from({ length: 50 }, () => ask(0)));
      await pause(20);
    }
    expect(allowed).toBe(2_000);
    await Promise.all(Array.from({ length: 300 }, (_, n) => ask(n)));
    expect([allowed, await used('many')]).toEqual([2_000, 2_000]);
  });

  test('returns unused requests after a while, and at once when a process stops', async () => {
    const [a, b] = [open(), open()];
    await a.counter.take(subject('stranded', 60_000));
    expect(await used('stranded')).toBe(500);
    while ((await used('stranded')) > 1) await pause(50);
    await b.counter.take(subject('stranded', 60_000));
    await b.counter.close();
    expect(await used('stranded')).toBe(2);
  });

  test('needs no statement for most requests', async () => {
    const { pool } = open();
    let statements = 0;
    const counted = {
      query: (...query: unknown[]) => (
        (statements += 1),
        (pool.query as (...all: unknown[]) => unknown)(...query)
      ),
    };
    const counting = openRateLimitCounter({
      sql: sqlOn(counted as never),
      log,
      window_seconds: rateWindowSeconds,
    });
    for (let n = 0; n < 5_000; n++)
      expect((await counting.take(subject('busy', 60_000))).allowed).toBe(true);
    expect(statements).toBeLessThan(30);
    await counting.close();
  });

  test('allows the limit in each window, and again in the next', async () => {
    const SECONDS = 2;
    const processes = [open(SECONDS), open(SECONDS)];
    const window = async () =>
      (
        await world.sql<{ n: number }>(
          `SELECT floor(extract(epoch FROM clock_timestamp()) / ${SECONDS})::int AS n`,
        )
      )[0]!.n;
    const first = await window();
    let [allowed, refused, last] = [0, 0, first];
    while (last < first + 3) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, async (_, n) =>
          processes[n % 2]!.counter.take(subject('windows', 300)),
        ),
      );
      allowed += answers.filter((answer) => answer.allowed).length;
      refused += answers.filter((answer) => !answer.allowed).length;
      last = await window();
      // Unused requests do not carry over: each window has its own limit.
      expect(allowed).toBeLessThanOrEqual(300 * (last - first + 1));
      await pause(5);
    }
    expect(refused).toBeGreaterThan(0);
    expect(allowed).toBeGreaterThan(300);
  });
});
