import { softswitch } from '../../support/softswitch';
import { createMember, withToken } from '../../support/teams';
import { buildApp, caller, type Api } from '../../support/world';

// Systems of buyers report their conversions, with the token of the buyer's own team.

const here = softswitch('2026-06-01T16:30:00Z');
const { ok, begin, report, later } = here;
/** The buyer pays when it says so. */
const pays = (more: object = {}) => ({
  buyer_conversions_schedule: [
    {
      buyer_conversions_attributes: [{ conversion_type: 'postback', revenue: 20, ...more }],
      schedule: [
        { day: 0, times: ['00:00..23:59'] },
        { day: 1, times: ['00:00..23:59'] },
      ],
    },
  ],
});
const REPORTS = pays();
/** Another process of the service, with its own connections. */
let elsewhere: Api;
beforeEach(() => {
  elsewhere = caller(buildApp(here.world.openProcess()), null);
});

interface Sale {
  buyer: number;
  offer: number;
  source: number;
  call: { id: number; uuid: string };
}

async function talk(fields: object = {}, { seconds = 10, isAnswered = true } = {}): Promise<Sale> {
  const buyer = await here.buyer(fields as Record<string, unknown>);
  const source = await here.world.create('traffic_sources', { name: `Ads ${buyer}` });
  const offer = await here.offer({
    buyer_ids: [buyer],
    payouts: [{ traffic_source_id: null, payout_type: 'fixed', amount: 7 }],
  });
  const call = await begin(offer, { traffic_source_id: source });
  if (isAnswered) {
    await report(call, 'answered');
    later(seconds);
    await report(call, 'completed', { duration: seconds });
  }
  return { buyer, offer, source, call };
}

/** The token of a user of the generated team. */
async function generateTeam(path: string): Promise<string> {
  const email = `desk${here.newNumber().slice(-6)}@example.com`;
  await ok('put', path, { generate_team: true, team_users_emails: [email] });
  const fields = { name: email, kind: 'user_token', user_email: email };
  return (await ok('post', 'access_tokens', fields)).token;
}
const enter = async (path: string): Promise<Api> =>
  withToken(here.world.company.api, await generateTeam(path));

const load = async ({ call }: Sale) => (await ok('get', `calls/${call.id}`)).call;
const PATHS = [
  ['get', 'calls/update_call/:uuid'],
  ['post', 'calls/update_call/:uuid'],
  ['put', 'calls/update_call/:uuid'],
  ['get', 'calls/:uuid/update_call'],
  ['post', 'calls/:uuid/update_call'],
  ['put', 'calls/:uuid/update_call'],
  ['post', 'calls/:uuid'],
] as const;

test.each(PATHS)('%s %s: the generated team of the buyer reports, once', async (method, path) => {
  const sale = await talk(REPORTS);
  const api = await enter(`buyers/${sale.buyer}`);
  const url = path.replace(':uuid', sale.call.uuid);
  expect((await api('get', `calls/${sale.call.id}`)).status).toBe(404);
  for (const time of ['first', 'again']) {
    const query = { buyer_converted: 1, data: '{"sale_id":"S1"}' };
    const res = await api(method, url, { query });
    expect([time, res.status, res.body.call?.buyer_converted]).toEqual([time, 200, true]);
    expect(res.headers['cache-control']).toBe('no-store');
    // The margin of the network is hidden.
    expect(res.body.call).toMatchObject({ revenue: 20, payout: null });
  }
  expect(await load(sale)).toMatchObject({
    buyer_converted: true,
    revenue: 20,
    payout: 7,
    token_values: { sale_id: 'S1' },
  });
  expect((await api('get', `calls/${sale.call.id}`)).status).toBe(200);
});

test('teams of groups report for their buyers', async () => {
  const sale = await talk(REPORTS);
  const group = await here.group({ buyer_ids: [sale.buyer] });
  const api = await enter(`buyer_groups/${group}`);
  const res = await api('get', `calls/update_call/${sale.call.uuid}?buyer_converted=true`);
  expect([res.status, res.body.call.buyer_converted]).toEqual([200, true]);
});

test('a token in the query string does, as CRMs send it', async () => {
  const sale = await talk(REPORTS);
  const token = await generateTeam(`buyers/${sale.buyer}`);
  const path = `calls/update_call/${sale.call.uuid}?auth_token=${token}&buyer_converted=1`;
  const { status } = await here.world.company.api('get', path, { auth: null });
  const head = await here.world.company.api('head', path, { auth: null });
  expect([status, head.status]).toEqual([200, 405]);
  expect(await load(sale)).toMatchObject({ buyer_converted: true, token_values: {} });
});

test('a repeat caller is not paid for, and the answer says so', async () => {
  const first = await talk(pays({ duplicate_timeframe: 3_600 }));
  const api = await enter(`buyers/${first.buyer}`);
  await api('get', `calls/update_call/${first.call.uuid}?buyer_converted=1`);
  const call = await begin(first.offer, {});
  await report(call, 'answered');
  later(10);
  await report(call, 'completed', { duration: 10 });
  const res = await api('get', `calls/update_call/${call.uuid}?buyer_converted=1`);
  expect([res.status, res.body.warnings, res.body.call.revenue]).toEqual([
    200,
    { buyer_converted: [expect.stringContaining('paid for this caller')] },
    0,
  ]);
});

describe('nothing else is open to the team', () => {
  const reports = async (api: Api, sale: Sale, query: object) => {
    const res = await api('post', `calls/update_call/${sale.call.uuid}`, { query });
    return [res.status, Object.keys(res.body.errors ?? {})];
  };

  test('no return, no amounts, no other fields of a call that it has not paid for', async () => {
    const sale = await talk(REPORTS);
    const api = await enter(`buyers/${sale.buyer}`);
    for (const query of [{}, { buyer_converted: false }, { hang_up: true }, { description: 'x' }])
      expect([query, ...(await reports(api, sale, query))]).toEqual([query, 404, []]);
    for (const field of ['revenue', 'add_revenue', 'payout', 'add_payout'])
      expect(await reports(api, sale, { buyer_converted: true, [field]: 1 })).toEqual([
        422,
        [field],
      ]);
    expect(await reports(api, sale, { buyer_converted: true, offer_converted: true })).toEqual([
      422,
      ['offer_converted'],
    ]);
    expect(await load(sale)).toMatchObject({ buyer_converted: false, revenue: 0, payout: 0 });
    await reports(api, sale, { buyer_converted: true });
    expect(await reports(api, sale, { buyer_converted: false })).toEqual([
      422,
      ['buyer_converted'],
    ]);
    expect(await load(sale)).toMatchObject({ buyer_converted: true, revenue: 20 });
  });

  test('no call of another buyer, none that was not connected, none of a source', async () => {
    const [sale, foreign] = [await talk(REPORTS), await talk(REPORTS)];
    const missed = await talk(REPORTS, { isAnswered: false });
    const api = await enter(`buyers/${sale.buyer}`);
    expect(await reports(api, foreign, { buyer_converted: 1 })).toEqual([404, []]);
    const itsOwn = await enter(`buyers/${missed.buyer}`);
    expect(await reports(itsOwn, missed, { buyer_converted: 1 })).toEqual([404, []]);
    const publisher = await createMember(here.world.company, 'pub@example.com', {
      permissions: ['calls:read', 'calls:update'],
      traffic_source_ids: [sale.source],
    });
    expect(await reports(publisher.api, sale, { buyer_converted: 1 })).toEqual([
      422,
      ['buyer_converted'],
    ]);
    const reader = await createMember(here.world.company, 'reader@example.com', {
      permissions: ['calls:read'],
      buyer_ids: [sale.buyer],
    });
    expect(await reports(reader.api, sale, { buyer_converted: 1 })).toEqual([403, []]);
    expect(await load(sale)).toMatchObject({ buyer_converted: false });
  });

  test('a key pair of the company still needs calls:money', async () => {
    const sale = await talk(REPORTS);
    const auth = await here.world.credentials(here.world.company, ['calls:update']);
    const { status, body } = await here.world.company.api(
      'get',
      `calls/update_call/${sale.call.uuid}?buyer_converted=1`,
      { auth },
    );
    expect([status, Object.keys(body.errors)]).toEqual([422, ['buyer_converted']]);
  });
});

test('a postback sent twenty times at once, over two connections, is one conversion', async () => {
  const sale = await talk({ ...REPORTS, prepaid: true, credit_limit: 1000 });
  const token = await generateTeam(`buyers/${sale.buyer}`);
  const processes = [here.world.company.api, elsewhere].map((api) => withToken(api, token));
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => {
      const [method, path] = PATHS[n % PATHS.length]!;
      const url = path.replace(':uuid', sale.call.uuid);
      return processes[n % 2]!(method, url, { query: { buyer_converted: 1 } });
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  const { buyer } = await ok('get', `buyers/${sale.buyer}`);
  expect(buyer).toMatchObject({ buyer_conversion_total_used: 1, revenue_total_used: 20 });
  const entries = (await ok('get', `account_entries?buyer_id=${sale.buyer}`)).account_entries;
  expect(entries.map(({ amount }: { amount: number }) => amount)).toEqual([-20]);
  const events = await here.loadEvents(sale.call);
  expect(events.filter((event) => event === 'converted')).toHaveLength(1);
  expect((await ok('get', 'calls/reports')).totals).toMatchObject({ conversions: 1, revenue: 20 });
});
