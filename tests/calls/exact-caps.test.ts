import { INTERVALS, type Interval } from '../../src/buyers/caps';
import { endStaleCalls } from '../../src/calls/end-stale-calls';
import { eventually } from '../support/engine-process';
import { startServer, type Running } from '../support/process';
import { repetitions } from '../support/repetitions';
import { createWorld, type World } from '../support/world';

jest.setTimeout(180_000);

// Caps over two server processes: whatever comes at once, and whoever dies.

let world: World;
let servers: Running[];
const start = () => {
  const { storage_dir, data_dir } = world.deps.config;
  return startServer({
    DATABASE_URL: world.url,
    DATA_DIR: data_dir,
    STORAGE_DIR: storage_dir,
    LOG_LEVEL: 'silent',
    RUN_JOBS: 'false',
    KEY_PEPPER: 'a pepper for tests, long enough to be one',
  });
};
beforeAll(async () => {
  world = await createWorld();
  servers = await Promise.all([start(), start()]);
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.end('SIGTERM')));
  await world.close();
});

type Fields = Record<string, unknown>;
const CALLS = repetitions(100, 200);
const CAP = 50;

const ok = async (path: string, body: Fields) => {
  const res = await world.company.api('post', path, { body });
  if (res.status !== 201) throw new Error(res.text);
  return res.body[res.body.metadata.root].id as number;
};

/** Has so many calls begun at the same time, over both processes, and answers the ids of those that are dialed. */
async function callAll(offer_id: number, count = CALLS): Promise<number[]> {
  const headers = {
    Authorization: `Basic ${Buffer.from(world.company.auth).toString('base64')}`,
    'Content-Type': 'application/json',
  };
  const answers = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const body = JSON.stringify({
        offer_id,
        caller_number: `+1310555${String(n).padStart(4, '0')}`,
      });
      // A process that is killed answers not at all, or breaks off in the middle.
      const answered = fetch(`${servers[n % 2]!.url}/api/v1/call_sessions`, {
        method: 'POST',
        headers,
        body,
      }).then(async (res) => [res.status, await res.text()] as const);
      const [status, text] = await answered.catch(() => [undefined, ''] as const);
      if (status === undefined) return undefined;
      if (status !== 201) throw new Error(text);
      return (JSON.parse(text) as { call_session: { id: number; instruction: { action: string } } })
        .call_session;
    }),
  );
  return answers.flatMap((session) => (session?.instruction.action === 'dial' ? [session.id] : []));
}

const held = async () => {
  const sums = `SELECT coalesce(sum(concurrency_cap_used), 0)::int AS slots, coalesce(sum(pending_connections), 0)::int AS connections, coalesce(sum(pending_conversions), 0)::int AS conversions,
    coalesce(sum(pending_revenue), 0)::float8 AS revenue FROM call_limits WHERE company_id = $1`;
  return (
    await world.sql<Record<'slots' | 'connections' | 'conversions' | 'revenue', number>>(sums, [
      world.company.id,
    ])
  )[0]!;
};
const NOTHING = { slots: 0, connections: 0, conversions: 0, revenue: 0 };

/** $10 a call; what a call that converts at once would bring is reserved like all else. */
const PAYS = {
  buyer_conversions_schedule: [
    {
      buyer_conversions_attributes: [
        { name: 'Call', duration: 60, revenue: 10, duplicate_timeframe: 0 },
      ],
      schedule: [],
    },
  ],
};
const limitOf = (metric: string) => (metric === 'revenue' ? CAP * 10 : CAP);

describe(`of ${CALLS} calls at once, over two processes, a cap of ${CAP} lets exactly ${CAP} through`, () => {
  beforeEach(async () => void (world.company = await world.addCompany()));

  const metrics = ['attempt', 'connection', 'buyer_conversion', 'revenue'];
  test.each(
    metrics.flatMap((metric) =>
      INTERVALS.map((interval): [string, Interval] => [metric, interval]),
    ),
  )('%s, %s, of a group and of its buyers together', async (metric, interval) => {
    // The group has the cap, and one of its buyers a smaller one.
    const one = await ok('buyers', {
      number: '+12125550101',
      ...PAYS,
      ...(interval !== 'hourly' && { [`${metric}_${interval}_limit`]: limitOf(metric) / 5 }),
    });
    const two = await ok('buyers', { number: '+12125550102', ...PAYS });
    const group = await ok('buyer_groups', {
      name: 'Both',
      buyer_ids: [one, two],
      [`${metric}_${interval}_limit`]: limitOf(metric),
    });
    expect(
      await callAll(await ok('offers', { name: 'Auto', buyer_group_ids: [group] })),
    ).toHaveLength(CAP);
    const by_buyer = await world.sql<{ buyer_id: string; n: number }>(
      'SELECT buyer_id, count(*)::int AS n FROM call_attempts WHERE company_id = $1 GROUP BY 1',
      [world.company.id],
    );
    expect(by_buyer.reduce((sum, { n }) => sum + n, 0)).toBe(CAP);
    if (interval !== 'hourly')
      expect(by_buyer.find(({ buyer_id }) => buyer_id === String(one))!.n).toBeLessThanOrEqual(
        CAP / 5,
      );
    // Every call has a decision, and in it every buyer has a reason or is dialed, or stands behind the one that is.
    const [odd] = await world.sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM calls c WHERE c.company_id = $1 AND NOT EXISTS (SELECT FROM call_decisions d WHERE d.company_id = c.company_id AND d.call_id = c.id
          AND (SELECT coalesce(sum((s->>1)::int), 0) FROM json_array_elements(d.decision->'open'->'steps') s) + (SELECT count(*) FROM json_array_elements(d.decision->'faults') f, json_array_elements(f->'ids')) = 2)`,
      [world.company.id],
    );
    expect(odd!.n).toBe(0);
  });

  test('concurrency; each that ends lets one more in', async () => {
    const buyer = await ok('buyers', {
      number: '+12125550101',
      concurrency_cap_limit: CAP,
      ...PAYS,
    });
    const offer = await ok('offers', { name: 'Auto', buyer_ids: [buyer] });
    const dialed = await callAll(offer);
    expect(dialed).toHaveLength(CAP);
    expect(await held()).toEqual({
      slots: CAP,
      connections: CAP,
      conversions: CAP,
      revenue: CAP * 10,
    });
    const [answered, left] = [dialed.slice(0, 20), dialed.slice(20, 30)];
    const tell = (call: number, event: string, more: Fields = {}) =>
      world.company.api('post', `call_sessions/${call}/events`, { body: { event, ...more } });
    // Twice each, at the same time: what happens once counts once.
    await Promise.all(answered.flatMap((call) => [tell(call, 'answered'), tell(call, 'answered')]));
    await Promise.all(
      answered.flatMap((call) => [
        tell(call, 'completed', { duration: 90 }),
        tell(call, 'completed', { duration: 90 }),
      ]),
    );
    await Promise.all(left.flatMap((call) => [tell(call, 'completed'), tell(call, 'busy')]));
    expect(await held()).toEqual({ slots: 20, connections: 20, conversions: 20, revenue: 200 });
    const { body } = await world.company.api('get', `buyers/${buyer}`);
    expect(body.buyer).toMatchObject({
      concurrency_cap_used: 20,
      attempt_total_used: 50,
      connection_total_used: 20,
      buyer_conversion_total_used: 20,
      revenue_total_used: 200,
    });
    expect(await callAll(offer, 60)).toHaveLength(30);
  });

  test('and a process that is killed in between loses no slot for good: what dies with it is free once its lease is over', async () => {
    const buyer = await ok('buyers', {
      number: '+12125550101',
      concurrency_cap_limit: CAP,
      ...PAYS,
    });
    const offer = await ok('offers', { name: 'Auto', buyer_ids: [buyer] });
    const calling = callAll(offer, 300);
    await eventually(async () => (await held()).slots >= 10, 2);
    await servers[1]!.end('SIGKILL');
    const dialed = await calling;
    servers[1] = await start();
    const [attempts] = await world.sql<{ n: number }>(
      'SELECT count(*)::int AS n FROM call_attempts WHERE company_id = $1',
      [world.company.id],
    );
    // Some were dialed whose answer nobody has seen; none beyond the cap.
    expect(attempts!.n).toBe(CAP);
    expect(dialed.length).toBeLessThanOrEqual(CAP);
    expect((await held()).slots).toBe(CAP);
    await world.sql(
      `UPDATE call_slots SET lease_until = now() - interval '1 second' WHERE company_id = $1`,
      [world.company.id],
    );
    const ended = await Promise.all(Array.from({ length: 4 }, () => endStaleCalls(world.deps)));
    expect(ended.reduce((sum, n) => sum + n, 0)).toBe(CAP);
    expect(await held()).toEqual(NOTHING);
    expect(await callAll(offer, 60)).toHaveLength(CAP);
  });
});

test('whatever is changed through one process is seen by the next call of the other', async () => {
  world.company = await world.addCompany();
  const [one, two] = [
    await ok('buyers', { number: '+12125550101', tier: 1 }),
    await ok('buyers', { number: '+12125550102', tier: 2 }),
  ];
  const group = await ok('buyer_groups', { name: 'Group', buyer_ids: [two] });
  const offer = await ok('offers', { name: 'Auto', buyer_ids: [one], buyer_group_ids: [group] });
  const list = await ok('buyer_suppressions', { name: 'DNC' });
  const headers = {
    Authorization: `Basic ${Buffer.from(world.company.auth).toString('base64')}`,
    'Content-Type': 'application/json',
  };
  const ask = async (server: number, method: string, path: string, body: Fields) => {
    const res = await fetch(`${servers[server]!.url}/api/v1/${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    if (res.status >= 300) throw new Error(await res.text());
    return (await res.json()) as {
      decision: {
        candidates: {
          buyer_id: number;
          reason: string | null;
          tier: number;
          buyer_group_id: number | null;
        }[];
        buyer_ids: number[];
      };
    };
  };
  const reasons = async (server: number) => {
    const { decision } = await ask(server, 'POST', 'routing/explain', {
      offer_id: offer,
      caller_number: '+13105550188',
      tokens: { state: 'CA' },
      at: '2026-06-01T12:30:00Z',
    });
    return Object.fromEntries(
      decision.candidates.map(({ buyer_id, reason }) => [buyer_id === one ? 'one' : 'two', reason]),
    );
  };
  const open = { one: null, two: null };
  const changes: [method: string, path: string, body: Fields, seen: Fields][] = [
    ['PUT', `buyers/${one}`, { paused: true }, { one: 'paused', two: null }],
    [
      'PUT',
      `buyers/${one}`,
      { paused: false, record_token_filter_list: ['state:TX'] },
      { one: 'filter_unmet', two: null },
    ],
    [
      'PUT',
      `buyers/${one}`,
      {
        record_token_filter_list: [],
        business_hours_schedule: [{ schedule: [{ day: 2, times: ['09:00..10:00'] }] }],
      },
      { one: 'closed', two: null },
    ],
    [
      'PUT',
      `buyers/${one}`,
      { business_hours_schedule: [], attempt_daily_limit: 0 },
      { one: 'cap_reached', two: null },
    ],
    ['PUT', `buyers/${one}`, { attempt_daily_limit: null, buyer_suppression_ids: [list] }, open],
    [
      'POST',
      `buyer_suppressions/${list}/caller_block`,
      { caller_ids: ['+13105550188'] },
      { one: 'suppressed', two: null },
    ],
    ['PUT', `buyer_suppressions/${list}`, { buyer_ids: [two] }, { one: null, two: 'suppressed' }],
    ['DELETE', `buyer_suppressions/${list}`, {}, open],
    ['PUT', `buyer_groups/${group}`, { paused: true }, { one: null, two: 'group_paused' }],
    [
      'PUT',
      `buyer_groups/${group}`,
      { paused: false, concurrency_cap: 0 },
      { one: null, two: 'concurrency_full' },
    ],
    [
      'PUT',
      `buyer_groups/${group}`,
      { concurrency_cap: null, remove_buyer_ids: [two] },
      { one: null },
    ],
    ['PUT', `buyer_groups/${group}`, { add_buyer_ids: [two] }, open],
    ['PUT', `offers/${offer}`, { remove_buyer_ids: [one] }, { two: null }],
    ['PUT', `offers/${offer}`, { add_buyer_ids: [one], buyer_group_ids: [] }, { one: null }],
    [
      'PUT',
      `offers/${offer}`,
      { buyer_group_ids: [group], paused: true },
      { one: 'offer_paused', two: 'offer_paused' },
    ],
    ['PUT', `offers/${offer}`, { paused: false }, open],
    ['DELETE', `buyers/${two}`, {}, { one: null }],
  ];
  for (const [n, [method, path, body, seen]] of changes.entries()) {
    await ask(n % 2, method, path, body);
    expect([path, body, await reasons((n + 1) % 2), await reasons(n % 2)]).toEqual([
      path,
      body,
      seen,
      seen,
    ]);
  }
});
