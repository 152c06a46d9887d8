import { standingClock } from '../../support/clock';
import { createWorld, type World } from '../../support/world';

// Conversions that buyers report, repeatedly and at any moment: caps, the call, its lead and the
// reports agree to the cent.

const NOON = '2026-06-01T16:00:00Z';
const CALLER = '+13105550188';

let world: World;
const time = standingClock(NOON);
beforeAll(async () => {
  world = await createWorld({ clock: time.read });
});
beforeEach(async () => {
  time.set(NOON);
  world.company = await world.addCompany();
});
afterAll(() => world.close());

type Fields = Record<string, unknown>;
const ok = async (method: 'get' | 'post', path: string, body?: Fields) => {
  const res = await world.company.api(method, path, body ? { body } : {});
  if (res.status >= 300) throw new Error(`${path}: ${res.text}`);
  return res.body;
};
const later = (seconds: number) =>
  time.set(new Date(time.read().getTime() + seconds * 1000).toISOString());
const runMany = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

interface Talk {
  id: number;
  uuid: string;
  buyer: number;
  group: number;
  lead: number;
  offer: number;
}

/** A call of a lead that is connected to a buyer through a group. */
async function talk(
  conversion: Fields = {
    name: 'Call',
    conversion_type: 'duration',
    duration: 60,
    revenue: 10,
    duplicate_timeframe: 0,
  },
  more: Fields = {},
): Promise<Talk> {
  const pays = {
    buyer_conversions_schedule: [{ buyer_conversions_attributes: [conversion], schedule: [] }],
  };
  const buyer = (await ok('post', 'buyers', { number: '+12125550101', ...pays, ...more })).buyer.id;
  const group = (await ok('post', 'buyer_groups', { name: 'Group', buyer_ids: [buyer] }))
    .buyer_group.id;
  const source = (await ok('post', 'traffic_sources', { name: 'Ads' })).traffic_source.id;
  const payouts = [{ payout_type: 'fixed', amount: 3, paid_for: 'buyer_conversion' }];
  const createdOffer = (
    await ok('post', 'offers', { name: 'Auto', buyer_group_ids: [group], payouts })
  ).offer;
  const lead = (
    await world.company.api('post', 'leads', {
      auth: null,
      query: { lead_token: createdOffer.lead_token, caller_id: CALLER },
    })
  ).body.id;
  const call = (
    await ok('post', 'call_sessions', {
      offer_id: createdOffer.id,
      caller_number: CALLER,
      traffic_source_id: source,
    })
  ).call_session;
  await ok('post', `call_sessions/${call.id}/events`, { event: 'answered' });
  return { id: call.id, uuid: call.uuid, buyer, group, lead, offer: createdOffer.id };
}

/** The results of a call in all places that have them. */
async function loadSums({ id, buyer, group, lead }: Talk) {
  const { call } = await ok('get', `calls/${id}`);
  const used = (owner: Fields) => [
    owner.buyer_conversion_total_used,
    owner.revenue_total_used,
    owner.revenue_daily_used,
    owner.earned_revenue_total_used,
  ];
  const { leads } = await ok('get', `leads?ids=${lead}`);
  const { rows } = await ok('get', 'calls/reports?category=buyer');
  const conversions = await world.sql<{ revenue: string; payout: string }>(
    'SELECT revenue, payout FROM conversions WHERE call_id = $1',
    [id],
  );
  return {
    call: [call.buyer_converted, call.revenue, call.buyer_revenue, call.payout],
    buyer: used((await ok('get', `buyers/${buyer}`)).buyer),
    group: used((await ok('get', `buyer_groups/${group}`)).buyer_group),
    lead: [leads[0].buyer_converted, leads[0].revenue, leads[0].payout],
    report: rows.map(({ conversions: n, revenue, payout }: Fields) => [n, revenue, payout]),
    conversions: conversions.map(({ revenue, payout }) => [Number(revenue), Number(payout)]),
  };
}

/** Expected result for a call that converted once with these dollars. */
const buildExpectedSums = (revenue: number, payout: number) => {
  const used = [1, revenue, revenue, Math.round((revenue - payout) * 100) / 100];
  return {
    call: [true, revenue, revenue, payout],
    buyer: used,
    group: used,
    lead: [true, revenue, payout],
    report: [[1, revenue, payout]],
    conversions: [[revenue, payout]],
  };
};
const listHeldCaps = () =>
  world.sql(
    `SELECT FROM call_limits
    WHERE company_id = $1
      AND (pending_conversions <> 0 OR pending_revenue <> 0 OR pending_connections <> 0)`,
    [world.company.id],
  );

test('twenty postbacks at the same time are one conversion, counted once', async () => {
  const call = await talk();
  const answers = await runMany(20, (n) =>
    n % 2
      ? ok('post', `calls/update_call/${call.uuid}?buyer_converted=true`)
      : ok('post', `calls/${call.id}`, { buyer_converted: 'true' }),
  );
  expect(
    answers.every(({ call: { buyer_converted, revenue } }) => buyer_converted && revenue === 10),
  ).toBe(true);
  expect(await loadSums(call)).toEqual(buildExpectedSums(10, 3));
  expect(await listHeldCaps()).toEqual([]);
  later(90);
  await ok('post', `call_sessions/${call.id}/events`, { event: 'completed' });
  expect(await loadSums(call)).toEqual(buildExpectedSums(10, 3));
});

test.each([1, 2, 3, 4, 5])(
  'a postback at the end of a call that converts by its duration is the same conversion (%d)',
  async () => {
    const call = await talk();
    later(90);
    await Promise.all([
      ok('post', `call_sessions/${call.id}/events`, { event: 'completed' }),
      ok('post', `calls/${call.id}`, { buyer_converted: true }),
      ok('post', `calls/${call.id}`, { buyer_converted: true }),
    ]);
    expect(await loadSums(call)).toEqual(buildExpectedSums(10, 3));
    expect(await listHeldCaps()).toEqual([]);
  },
);

test('twenty additions of a dollar at the same time are twenty dollars everywhere', async () => {
  const call = await talk();
  await ok('post', `calls/${call.id}`, { buyer_converted: true, revenue: 5 });
  await runMany(20, () => ok('post', `calls/${call.id}`, { add_revenue: '1.00' }));
  expect(await loadSums(call)).toEqual(buildExpectedSums(25, 3));
});

test('revenue that is set repeatedly at the same time counts once', async () => {
  const call = await talk();
  later(90);
  await ok('post', `call_sessions/${call.id}/events`, { event: 'completed' });
  await runMany(10, () => ok('post', `calls/${call.id}`, { revenue: 42.5, payout: 7.25 }));
  expect(await loadSums(call)).toEqual(buildExpectedSums(42.5, 7.25));
  await ok('post', `calls/${call.id}`, { revenue: 0, payout: 0 });
  expect(await loadSums(call)).toEqual(buildExpectedSums(0, 0));
});

test('revenue that is set during the call is what its conversion then pays', async () => {
  const call = await talk();
  await ok('post', `calls/${call.id}`, { revenue: 33 });
  expect((await loadSums(call)).conversions).toEqual([]);
  later(90);
  await ok('post', `call_sessions/${call.id}/events`, { event: 'completed' });
  expect(await loadSums(call)).toEqual(buildExpectedSums(33, 3));
  expect(await listHeldCaps()).toEqual([]);
});

test('revenue that is taken off the next day leaves its caps at 0, not below', async () => {
  const call = await talk();
  await ok('post', `calls/${call.id}`, { buyer_converted: true, revenue: 50 });
  later(86_400);
  await ok('post', `calls/${call.id}`, { revenue: 20 });
  const { buyer, group, call: callSums } = await loadSums(call);
  expect([callSums, buyer, group]).toEqual([
    [true, 20, 20, 3],
    [1, 20, 0, 17],
    [1, 20, 0, 17],
  ]);
});

test('two calls of a caller within the time frame are paid once; one has a warning', async () => {
  const conversion = {
    name: 'Sale',
    conversion_type: 'postback',
    duration: 0,
    revenue: 10,
    duplicate_timeframe: 3_600,
  };
  const firstCall = await talk(conversion);
  const secondCall = (
    await ok('post', 'call_sessions', { offer_id: firstCall.offer, caller_number: CALLER })
  ).call_session;
  await ok('post', `call_sessions/${secondCall.id}/events`, { event: 'answered' });
  const answers = await Promise.all(
    [firstCall, secondCall].map(({ id }) =>
      ok('post', `calls/${id}`, { buyer_converted: true, revenue: 12 }),
    ),
  );
  expect(answers.map(({ call }) => call.revenue).sort((a, b) => a - b)).toEqual([0, 12]);
  const refused = answers.find(({ call }) => !call.buyer_converted)!;
  expect([refused.call.buyer_repeat_caller, Object.keys(refused.warnings)]).toEqual([
    true,
    ['buyer_converted'],
  ]);
  const { call_events } = await ok('get', `calls/${refused.call.id}/events`);
  expect(call_events.at(-1)).toMatchObject({
    event: 'not_converted',
    message: expect.stringContaining('3600 seconds'),
  });
  const { buyer } = await ok('get', `buyers/${firstCall.buyer}`);
  expect([buyer.buyer_conversion_total_used, buyer.revenue_total_used]).toEqual([1, 12]);
});

test('a conversion beyond a cap is counted: the cap is reached', async () => {
  const call = await talk(undefined, { buyer_conversion_total_limit: 1 });
  await ok('post', `call_sessions/${call.id}/events`, { event: 'completed' });
  const secondCall = (
    await ok('post', 'call_sessions', { offer_id: call.offer, caller_number: '+13105550189' })
  ).call_session;
  await ok('post', `calls/${call.id}`, { buyer_converted: true });
  await ok('post', `calls/${secondCall.id}`, { buyer_converted: true });
  const { buyer } = await ok('get', `buyers/${call.buyer}`);
  expect([buyer.buyer_conversion_total_used, buyer.maxed_out_by]).toEqual([
    2,
    'buyer_conversion_total',
  ]);
});
