import { standingClock } from '../../support/clock';
import { createWorld, type World } from '../../support/world';

/** Monday 08:00 in New York. */
const MONDAY = '2026-06-01T12:00:00Z';
const DAY = { from: '2026-06-01T00:00:00Z', to: '2026-06-02T00:00:00Z' };

type Fields = Record<string, unknown>;
interface Row {
  buyer_id: number;
  changed: boolean;
  answer_rate: number;
  real: Fields;
  as_configured: Fields & { skip_reasons: Record<string, number> };
  as_changed: Fields & { skip_reasons: Record<string, number> };
  difference: Record<string, number>;
}

let world: World;
const time = standingClock(MONDAY);
beforeAll(async () => {
  world = await createWorld({ clock: time.read });
});
beforeEach(async () => {
  time.set(MONDAY);
  world.company = await world.addCompany();
});
afterAll(() => world.close());

const ok = async (method: 'get' | 'post' | 'put', path: string, body?: Fields) => {
  const res = await world.company.api(method, path, body ? { body } : {});
  if (res.status >= 300) throw new Error(`${path}: ${res.text}`);
  return res.body;
};
let next = 100;
const PAYS = { current_conversion_revenue: 10, current_conversion_duration: 60 };
const buyer = async (fields: Fields = {}): Promise<number> =>
  (
    await ok('post', 'buyers', {
      name: `Buyer ${next}`,
      number: `+1212555${String(next++).padStart(4, '0')}`,
      timeout_seconds: 30,
      ...PAYS,
      ...fields,
    })
  ).buyer.id;
const offer = async (fields: Fields): Promise<number> =>
  (await ok('post', 'offers', { name: 'Auto', ...fields })).offer.id;
const later = (seconds: number) =>
  time.set(new Date(time.read().getTime() + seconds * 1000).toISOString());
const tell = async (call: { id: number }, event: string) =>
  (await ok('post', `call_sessions/${call.id}/events`, { event })).call_session.instruction;
const simulate = async (body: Fields) => (await ok('post', 'routing/simulate', body)).simulation;
const refused = async (body: Fields) => {
  const res = await world.company.api('post', 'routing/simulate', { body });
  return [res.status, res.body.errors];
};
const rowsOf = ({ buyers }: { buyers: Row[] }) => new Map(buyers.map((row) => [row.buyer_id, row]));

/**
 * Calls a minute apart: every third is not answered by the first it goes to, then is; they last 30
 * and 90 seconds in turn.
 */
async function someCalls(offer_id: number, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const call = (
      await ok('post', 'call_sessions', {
        offer_id,
        caller_number: `+1310555${String(n).padStart(4, '0')}`,
        tokens: { n },
      })
    ).call_session;
    later(5);
    if (n % 3 === 0) await tell(call, 'no_answer');
    later(5);
    await tell(call, 'answered');
    later(n % 2 === 0 ? 30 : 90);
    await tell(call, 'completed');
    later(60);
  }
}

describe('a replay of a day of calls', () => {
  test('as configured comes to what really happened, caller by caller, draw by draw', async () => {
    const [one, two, three] = [
      await buyer({ weight: 3 }),
      await buyer(),
      await buyer({ tier: 2, record_token_filter_list: ['n:>=4'] }),
    ];
    const offer_id = await offer({ buyer_ids: [one, two, three] });
    await someCalls(offer_id, 12);
    const told = await simulate({ offer_id, ...DAY, changes: [] });
    expect([told.kind, told.calls, told.totals.real]).toEqual([
      'real',
      12,
      { calls: 12, attempts: 16, connects: 12, conversions: 6, revenue: 60, payout: 0 },
    ]);
    for (const { real, as_configured, as_changed, difference } of rowsOf(told).values()) {
      expect(as_configured).toMatchObject(real);
      expect(as_changed).toEqual(as_configured);
      expect(new Set(Object.values(difference))).toEqual(new Set([0]));
    }
    expect(rowsOf(told).get(three)!.as_configured.skip_reasons).toEqual({ filter_unmet: 6 });
    // What reports count, the replay counts too.
    const report = await ok('get', 'calls/reports');
    expect(report.rows.map(({ key, skip_reasons }: Fields) => [key, skip_reasons])).toEqual(
      [...rowsOf(told).values()].map((row) => [row.buyer_id, row.as_configured.skip_reasons]),
    );
  });

  test('with a buyer paused moves its calls to the others, a cap lets through what it says, and nothing is written', async () => {
    const [one, two] = [await buyer(), await buyer({ tier: 2 })];
    const offer_id = await offer({ buyer_ids: [one, two] });
    for (let n = 0; n < 8; n++) {
      const call = (
        await ok('post', 'call_sessions', {
          offer_id,
          caller_number: `+1310555${String(n).padStart(4, '0')}`,
        })
      ).call_session;
      later(2);
      await tell(call, 'answered');
      later(90);
      await tell(call, 'completed');
    }
    const counted = () =>
      world.sql('SELECT * FROM call_limits WHERE company_id = $1 ORDER BY id', [world.company.id]);
    const before = await counted();
    const paused = rowsOf(
      await simulate({ offer_id, ...DAY, changes: [{ buyer_id: one, paused: true }] }),
    );
    expect(paused.get(one)).toMatchObject({
      changed: true,
      as_changed: { attempts: 0, skip_reasons: { paused: 8 } },
      difference: { connects: -8, revenue: -80 },
    });
    expect(paused.get(two)).toMatchObject({
      changed: false,
      as_changed: { calls: 8, attempts: 8, connects: 8, revenue: 80 },
      difference: { connects: 8, revenue: 80 },
    });
    const capped = rowsOf(
      await simulate({ offer_id, ...DAY, changes: [{ buyer_id: one, attempt_daily_limit: 5 }] }),
    );
    expect([capped.get(one)!.as_changed.attempts, capped.get(two)!.as_changed.attempts]).toEqual([
      5, 3,
    ]);
    expect(capped.get(one)!.as_changed.skip_reasons).toEqual({ cap_reached: 3 });
    const hours = [{ attempt_hourly_limit: 2, schedule: [{ day: 1, times: ['08:00..16:59'] }] }];
    expect(
      rowsOf(
        await simulate({
          offer_id,
          ...DAY,
          changes: [{ buyer_id: one, business_hours_schedule: hours }],
        }),
      ).get(one)!.as_changed.attempts,
    ).toBe(2);
    // What calls had used of a cap before the time that is replayed counts.
    const from = '2026-06-01T12:05:00Z';
    const rest = await simulate({
      offer_id,
      from,
      to: DAY.to,
      changes: [{ buyer_id: one, attempt_daily_limit: 5 }],
    });
    expect([rest.calls, rowsOf(rest).get(one)!.as_changed.attempts]).toEqual([4, 1]);
    expect(await counted()).toEqual(before);
  });

  test('of a group: its caps, its way of dialing and its pause', async () => {
    const [one, two] = [await buyer(), await buyer()];
    const { id } = (await ok('post', 'buyer_groups', { name: 'Both', buyer_ids: [one, two] }))
      .buyer_group;
    const offer_id = await offer({ buyer_group_ids: [id] });
    await someCalls(offer_id, 3);
    const total = async (change: Fields) =>
      (await simulate({ offer_id, ...DAY, changes: [{ buyer_group_id: id, ...change }] })).totals
        .as_changed;
    expect(await total({})).toMatchObject({ calls: 3, attempts: 4, connects: 3 });
    expect(await total({ paused: true })).toMatchObject({
      calls: 0,
      attempts: 0,
      skip_reasons: { group_paused: 6 },
    });
    expect(await total({ attempt_hourly_limit: 2 })).toMatchObject({ attempts: 2 });
    expect(await total({ concurrency_cap: 0 })).toMatchObject({
      attempts: 0,
      skip_reasons: { concurrency_full: 6 },
    });
    expect(await total({ dial_buyers_type: 'simultaneously' })).toMatchObject({
      attempts: 6,
      connects: 3,
    });
  });

  test('knows who may not call: blacklisted, on a list of a buyer, or on one of the offer; and who has paid for a caller before', async () => {
    const numbers = ['+13105550000', '+13105550001', '+13105550002', '+13105550003'];
    const list = async (number: string): Promise<number> => {
      const { id } = (await ok('post', 'buyer_suppressions', { name: 'List' })).buyer_suppression;
      await ok('post', `buyer_suppressions/${id}/caller_block`, { caller_ids: [number] });
      return id;
    };
    const one = await buyer({
      current_conversion_duplicate_timeframe: 86_400,
      current_conversion_duration: 20,
    });
    const offer_id = await offer({ buyer_ids: [one], skip_duplicates: true });
    for (const caller_number of [...numbers, numbers[3]!]) {
      const call = (await ok('post', 'call_sessions', { offer_id, caller_number })).call_session;
      if (call.instruction.action !== 'dial') continue;
      later(2);
      await tell(call, 'answered');
      later(30);
      await tell(call, 'completed');
    }
    await ok('post', 'contacts/caller_block', { caller_ids: [numbers[0]] });
    await ok('put', `buyers/${one}`, { buyer_suppression_ids: [await list(numbers[1]!)] });
    await ok('put', `offers/${offer_id}`, { buyer_suppression_ids: [await list(numbers[2]!)] });
    const { as_configured, real } = rowsOf(await simulate({ offer_id, ...DAY, changes: [] })).get(
      one,
    )!;
    expect(real).toMatchObject({ attempts: 4, revenue: 40 });
    expect(as_configured).toMatchObject({
      attempts: 1,
      revenue: 10,
      skip_reasons: { blacklisted: 1, suppressed: 1, offer_suppressed: 1, duplicate_caller: 1 },
    });
  });
});

test('a replay takes all calls of its time, however many, and none before or after it', async () => {
  const one = await buyer();
  const offer_id = await offer({ buyer_ids: [one] });
  await world.sql(
    `INSERT INTO calls (company_id, uuid, created_at, updated_at, ended_at, direction, status, carrier, offer_id)
      SELECT $1, gen_random_uuid(), x.at, x.at, x.at, 'inbound', 'no_answer', 'softswitch', $2 FROM (SELECT $3::timestamptz + n / 3 * interval '1 second' AS at FROM generate_series(0, 6002) n) x`,
    [world.company.id, offer_id, MONDAY],
  );
  const told = await simulate({
    offer_id,
    from: '2026-06-01T12:00:01Z',
    to: '2026-06-01T12:33:20Z',
    changes: [],
  });
  expect([told.calls, told.totals.as_configured.connects]).toEqual([5997, 5997]);
});

describe('a replay of calls that have not come', () => {
  test('is the same again with its seed, and shares calls by the weights', async () => {
    const [one, two] = [await buyer(), await buyer()];
    const offer_id = await offer({ buyer_ids: [one, two] });
    const synthetic = { calls: 2000, ...DAY, answer_rate: 1, answered_seconds: 90 };
    const body = { offer_id, synthetic, seed: 'x', changes: [{ buyer_id: one, weight: 3 }] };
    const [told, again] = [await simulate(body), await simulate(body)];
    expect(again).toEqual(told);
    const { as_configured, as_changed } = rowsOf(told).get(one)!;
    expect(Math.abs(Number(as_configured.connects) - 1000)).toBeLessThan(100);
    expect(Math.abs(Number(as_changed.connects) - 1500)).toBeLessThan(100);
    expect(told.totals).toMatchObject({
      real: null,
      as_configured: { calls: 2000, revenue: 20_000 },
      difference: { calls: 0, revenue: 0 },
    });
    expect(rowsOf(told).get(two)!.real).toBeNull();
  });

  test('loses calls nobody answers, and takes rates from the calls of the last weeks', async () => {
    const one = await buyer({
      buyer_conversions_schedule: [
        {
          buyer_conversions_attributes: [{ conversion_type: 'postback', revenue: 20 }],
          schedule: [],
        },
      ],
      current_conversion_revenue: undefined,
      current_conversion_duration: undefined,
    });
    const offer_id = await offer({ buyer_ids: [one] });
    for (let n = 0; n < 20; n++) {
      const call = (
        await ok('post', 'call_sessions', {
          offer_id,
          caller_number: `+1310555${String(n).padStart(4, '0')}`,
        })
      ).call_session;
      later(3);
      await tell(call, n < 5 ? 'no_answer' : 'answered');
      if (n < 5) continue;
      later(45);
      await tell(call, 'completed');
    }
    later(60);
    const told = await simulate({
      offer_id,
      synthetic: { calls: 1000, ...DAY, tokens: { state: 'CA' } },
      changes: [],
      seed: 'y',
    });
    const [row] = told.buyers as Row[];
    expect(row!.answer_rate).toBe(0.75);
    expect(Math.abs(Number(row!.as_configured.connects) - 750)).toBeLessThan(60);
    const given = await simulate({
      offer_id,
      synthetic: { calls: 1000, ...DAY, answer_rate: 0.5, conversion_rate: 1 },
      changes: [],
      seed: 'y',
    });
    expect(given.totals.as_configured.revenue).toBe(given.totals.as_configured.connects * 20);
    expect(Math.abs(given.totals.as_configured.connects - 500)).toBeLessThan(60);
  });
});

test('what cannot be replayed is refused by name', async () => {
  const [one, stranger] = [await buyer(), await buyer()];
  const { id: group_id } = (await ok('post', 'buyer_groups', { name: 'None' })).buyer_group;
  const offer_id = await offer({ buyer_ids: [one] });
  const day = { offer_id, ...DAY };
  const synthetic = { calls: 10, ...DAY };
  const changes: Fields[] = [];
  expect(await refused({ offer_id, changes })).toEqual([
    422,
    { from: ['must be given, or synthetic'] },
  ]);
  expect(await refused({ ...day, synthetic, changes })).toEqual([
    422,
    { synthetic: ['must not be given together with from or to'] },
  ]);
  expect(await refused({ ...day, to: DAY.from, changes })).toEqual([
    422,
    { to: ['must be later than from'] },
  ]);
  expect(await refused({ ...day, from: '2026-04-01T00:00:00Z', changes })).toEqual([
    422,
    { to: ['must be at most 31 days after from'] },
  ]);
  expect(await refused({ ...day, offer_id: 999_999, changes })).toEqual([
    422,
    { offer_id: ['names no record of yours: 999999'] },
  ]);
  expect(await refused({ ...day, changes: [{}] })).toEqual([
    422,
    { 'changes.0': ['must have either buyer_id or buyer_group_id'] },
  ]);
  expect(await refused({ ...day, changes: [{ buyer_id: one, attempt_hourly_limit: 1 }] })).toEqual([
    422,
    { 'changes.0.attempt_hourly_limit': ['is not a field of a buyer here'] },
  ]);
  expect(
    await refused({ ...day, changes: [{ buyer_group_id: group_id, timeout_seconds: 20 }] }),
  ).toEqual([422, { 'changes.0.timeout_seconds': ['is not a field of a group here'] }]);
  expect(await refused({ ...day, changes: [{ buyer_id: one }, { buyer_id: one }] })).toEqual([
    422,
    { 'changes.1.buyer_id': [`is changed twice: ${one}`] },
  ]);
  expect(await refused({ ...day, changes: [{ buyer_id: 999_999 }] })).toEqual([
    422,
    { 'changes.0.buyer_id': ['names no record of yours: 999999'] },
  ]);
  expect(await refused({ ...day, changes: [{ buyer_id: stranger }] })).toEqual([
    422,
    { 'changes.0.buyer_id': [`is no buyer of the offer: ${stranger}`] },
  ]);
  expect(await refused({ ...day, changes: [{ buyer_group_id: group_id }] })).toEqual([
    422,
    { 'changes.0.buyer_group_id': [`is no group of the offer that has buyers: ${group_id}`] },
  ]);
  const many = await Promise.all(Array.from({ length: 11 }, () => buyer()));
  const wide = await offer({ buyer_ids: many });
  expect(
    await refused({ offer_id: wide, synthetic: { ...synthetic, calls: 100_000 }, changes }),
  ).toEqual([
    422,
    {
      'synthetic.calls': [
        'must leave at most 90909 calls to replay, as the offer has 11 buyers: there are 100000',
      ],
    },
  ]);
});
