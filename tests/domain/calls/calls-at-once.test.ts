import { Client } from 'pg';
import { setLockWait } from '../../support/lock-wait';
import { createWorld, type World } from '../../support/world';

// Calls that arrive at the same time are begun together: each ends as if it had come alone.

let world: World;
beforeAll(async () => void (world = await createWorld()));
afterAll(() => world.close());
beforeEach(async () => void (world.company = await world.addCompany()));

type Fields = Record<string, unknown>;

async function createRecord(path: string, body: Fields): Promise<number> {
  const res = await world.company.api('post', path, {
    body: { name: path, ...(path === 'buyers' && { number: '+12125550101' }), ...body },
  });
  expect([res.status, res.body.errors]).toEqual([201, {}]);
  return res.body[res.body.metadata.root].id as number;
}
const createOffer = (buyerIds: number[], more: Fields = {}) =>
  createRecord('offers', { buyer_ids: buyerIds, ...more });
const call = (body: Fields) => world.company.api('post', 'call_sessions', { body });
const PAYS = (revenue: number, duration = 60) => ({
  buyer_conversions_schedule: [
    {
      buyer_conversions_attributes: [{ name: 'Call', duration, revenue, duplicate_timeframe: 0 }],
      schedule: [],
    },
  ],
});
/** The status of each answer and what is done with the call. */
const listOutcomes = (answers: Awaited<ReturnType<typeof call>>[]) =>
  answers.map(({ status, body }) => [status, body.call_session?.instruction.action]);
const countDialed = (answers: Awaited<ReturnType<typeof call>>[]) =>
  listOutcomes(answers).filter(([, action]) => action === 'dial').length;
const DIALED = [201, 'dial'];

/** Holds the caps of a buyer for longer than a batch waits. */
async function holdCaps(buyer: number) {
  const client = new Client({ connectionString: world.url });
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT FROM call_limits WHERE buyer_id = $1 FOR UPDATE', [buyer]);
  return {
    release: async () => {
      await client.query('SELECT pg_sleep(0.3)');
      await client.query('COMMIT');
      await client.end();
    },
  };
}

test('a call waits for a locked cap, and those beside it are begun', async () => {
  const buyers = [await createRecord('buyers', {}), await createRecord('buyers', {})];
  const offers = [await createOffer(buyers.slice(0, 1)), await createOffer(buyers.slice(1))];
  const holder = await holdCaps(buyers[0]!);
  const calling = [0, 1, 1, 0].map((n) => call({ offer_id: offers[n] }));
  await Promise.all([calling[1], calling[2]]);
  await holder.release();
  expect(listOutcomes(await Promise.all(calling))).toEqual(calling.map(() => DIALED));
});

test('a call that waits for a cap for two seconds is refused, and can be sent again', async () => {
  const offerId = await createOffer([await createRecord('buyers', { attempt_total_limit: 1 })]);
  const holder = await holdCaps((await world.sql<{ id: number }>(LAST_BUYER))[0]!.id);
  await setWait('2s');
  const answer = await call({ offer_id: offerId, call_sid: 'waits' });
  await setWait('1min');
  await holder.release();
  expect([answer.status, answer.body.code]).toEqual([503, 'contended']);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(listOutcomes([await call({ offer_id: offerId, call_sid: 'waits' })])).toEqual([DIALED]);
});
const setWait = (wait: string) => setLockWait(world.sql, wait);
const LAST_BUYER = 'SELECT max(id)::float8 AS id FROM buyers';

test('a call that cannot be written does not fail those beside it', async () => {
  await world.sql(`
    CREATE FUNCTION refuse_call() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'refused' USING ERRCODE = 'check_violation';
    END $$`);
  await world.sql(`
    CREATE TRIGGER refuse_call BEFORE INSERT ON calls FOR EACH ROW
    WHEN (NEW.sub_id = 'refused') EXECUTE FUNCTION refuse_call()`);
  const offerId = await createOffer([await createRecord('buyers', { attempt_total_limit: 4 })]);
  const answers = await Promise.all(
    ['a', 'refused', 'b', 'c'].map((subId) => call({ offer_id: offerId, sub_id: subId })),
  );
  await world.sql('DROP TRIGGER refuse_call ON calls');
  expect(listOutcomes(answers)).toEqual([DIALED, [500, undefined], DIALED, DIALED]);
  // The one that failed took nothing.
  expect(
    listOutcomes([await call({ offer_id: offerId }), await call({ offer_id: offerId })])[0],
  ).toEqual(DIALED);
});

test('a call that is reported twice at once is one, also when it is begun in two ways', async () => {
  const plain = await createOffer([await createRecord('buyers', {})]);
  const paidAtDial = await createOffer([await createRecord('buyers', PAYS(3, 0))]);
  for (let n = 0; n < 10; n++) {
    const answers = await Promise.all(
      [plain, paidAtDial, paidAtDial, plain].map((offerId) =>
        call({ offer_id: offerId, call_sid: `sid ${n}` }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201]);
    expect(new Set(answers.map(({ body }) => body.call_session.id)).size).toBe(1);
  }
});

test('a call that waits for its caps while it is reported again is one call', async () => {
  const buyer = await createRecord('buyers', PAYS(3, 0));
  const [waiting, plain] = [
    await createOffer([buyer]),
    await createOffer([await createRecord('buyers', {})]),
  ];
  const holder = await holdCaps(buyer);
  const first = call({ offer_id: waiting, call_sid: 'again' }).then((answer) => answer);
  await waitForLocks(1);
  const repeatedCall = call({ offer_id: plain, call_sid: 'again' }).then((answer) => answer);
  await waitForLocks(2);
  await holder.release();
  const [firstResponse, repeatedResponse] = [await first, await repeatedCall];
  expect([firstResponse.status, repeatedResponse.status]).toEqual([201, 200]);
  expect(firstResponse.body.call_session.id).toBe(repeatedResponse.body.call_session.id);
});

/** Waits until calls wait for locks, each alone: a batch waits a short time only. */
async function waitForLocks(count: number): Promise<void> {
  const waiting = `
    SELECT FROM pg_stat_activity
    WHERE datname = current_database()
      AND wait_event_type = 'Lock'
      AND query LIKE '%try_begin_call%'`;
  while ((await world.sql(waiting)).length < count)
    await new Promise((done) => setTimeout(done, 5));
}

test('decisions show the caps as they were before each call, in the order of the calls', async () => {
  const buyer = await createRecord('buyers', {
    attempt_total_limit: 7,
    concurrency_cap_limit: 9,
    revenue_daily_limit: 1000,
    ...PAYS(10),
  });
  const offerId = await createOffer([buyer]);
  const answers = await Promise.all(Array.from({ length: 30 }, () => call({ offer_id: offerId })));
  expect(countDialed(answers)).toBe(7);
  const ids = answers
    .filter(({ body }) => body.call_session.instruction.action === 'dial')
    .map(({ body }) => body.call_session.id as number)
    .sort((a, b) => a - b);
  const shown = await Promise.all(
    ids.map(async (id) => {
      const { body } = await world.company.api('get', `calls/${id}/decision`);
      const caps = body.decisions[0].caps as { cap: string; used: number }[];
      return Object.fromEntries(caps.map(({ cap, used }) => [cap, used]));
    }),
  );
  expect(shown).toEqual(
    ids.map((_, n) => ({ attempt_total: n, concurrency: n, revenue_daily: 10 * n })),
  );
});

test.each([
  ['revenue_total_limit', 35, 3],
  ['revenue_total_limit', 30, 3],
  ['earned_revenue_hourly_limit', 39.99, 3],
  ['buyer_conversion_monthly_limit', 7, 7],
])('%s of %d lets %d of a hundred calls through', async (limit, value, expected) => {
  const buyer = await createRecord('buyers', {
    ...PAYS(10),
    ...(limit.includes('hourly')
      ? { business_hours_schedule: [{ schedule: [], [limit]: value }] }
      : { [limit]: value }),
  });
  const offerId = await createOffer([buyer]);
  const otherOffer = await createOffer([await createRecord('buyers', {})]);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => call({ offer_id: n % 5 === 0 ? otherOffer : offerId })),
  );
  expect(answers.every(({ status }) => status === 201)).toBe(true);
  expect(countDialed(answers)).toBe(20 + expected);
});

test('a spacing holds between calls that arrive together, also over two offers', async () => {
  const buyers = [await createRecord('buyers', {}), await createRecord('buyers', {})];
  const spaced = await createOffer(buyers, { spacing_seconds: 60 });
  expect(
    countDialed(await Promise.all(Array.from({ length: 12 }, () => call({ offer_id: spaced })))),
  ).toBe(2);
  const third = await createRecord('buyers', {});
  const [firstOffer, secondOffer] = [
    await createOffer([third], { spacing_seconds: 60 }),
    await createOffer([third], { spacing_seconds: 90 }),
  ];
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => call({ offer_id: n % 2 ? firstOffer : secondOffer })),
  );
  expect(countDialed(answers)).toBe(1);
});

test('each call of a mixed batch ends as it would alone', async () => {
  const [buyer, cheap] = [
    await createRecord('buyers', { tier: 1, attempt_total_limit: 1 }),
    await createRecord('buyers', { tier: 2, ...PAYS(2, 0) }),
  ];
  const both = await createOffer([buyer, cheap]);
  const none = await createOffer([]);
  const ownOffer = await createOffer([await createRecord('buyers', {})], {
    user_offer_id: '987654',
  });
  const otherCompany = await world.addCompany();
  const foreign = await otherCompany.api('post', 'offers', { body: { name: 'foreign' } });
  const requests: Fields[] = [
    { offer_id: both },
    { offer_id: '987654' },
    { offer_id: 987654 },
    { offer_id: 999_999_999 },
    { offer_id: foreign.body.offer.id },
    { offer_id: both },
    { offer_id: none },
    { offer_id: ownOffer, caller_number: 'call me' },
    { offer_id: ownOffer, tokens: { a: 'x\u0000' } },
    { offer_id: ownOffer, tokens: { a: '\ud800' } },
    { offer_id: ownOffer, tokens: { a: 1e308, b: 123456789012345680000 } },
    { offer_id: ownOffer, tokens: { a: 'x'.repeat(70_000) } },
    { offer_id: ownOffer, traffic_source_id: 12345 },
    { offer_id: both },
  ];
  const answers = await Promise.all(requests.map(call));
  expect(listOutcomes(answers)).toEqual([
    DIALED,
    DIALED,
    DIALED,
    [422, undefined],
    [422, undefined],
    DIALED,
    [201, 'hang_up'],
    DIALED,
    [422, undefined],
    [422, undefined],
    DIALED,
    [422, undefined],
    [422, undefined],
    DIALED,
  ]);
  expect(answers[3]!.body.errors).toEqual((await call(requests[3]!)).body.errors);
  const { body } = await world.company.api('get', `buyers/${buyer}`);
  expect(body.buyer.attempt_total_used).toBe(1);
});

test('reservations, groups, keys and limited users go with calls that arrive with them', async () => {
  const members = [
    await createRecord('buyers', { tier: 1 }),
    await createRecord('buyers', { tier: 2 }),
  ];
  const together = await createRecord('buyer_groups', {
    buyer_ids: members,
    dial_buyers_type: 'simultaneously',
    attempt_total_limit: 3,
  });
  const inTurn = await createRecord('buyer_groups', { buyer_ids: members, attempt_total_limit: 2 });
  const offers = [
    await createOffer([], { buyer_group_ids: [together] }),
    await createOffer([], { buyer_group_ids: [inTurn] }),
    await createOffer(members),
  ];
  const limited = await world.credentials(world.company, ['calls:create', 'offers:read']);
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      world.company.api('post', 'call_sessions', {
        body: { offer_id: offers[n % 3], call_sid: `${n}` },
        ...(n % 4 === 0 && { headers: { 'Idempotency-Key': `key ${n}` } }),
        ...(n === 7 && { auth: limited }),
      }),
    ),
  );
  const byOffer = offers.map(
    (_, index) =>
      answers.filter(
        ({ body }, n) => n % 3 === index && body.call_session?.instruction.action === 'dial',
      ).length,
  );
  const refused = answers.flatMap(({ status }, n) => (status === 201 ? [] : [[n, status]]));
  expect([byOffer, refused]).toEqual([[3, 2, 10], []]);
  const [sums] = await world.sql(
    `SELECT sum(concurrency_cap_used)::int AS slots, sum(attempt_total_used)::int AS attempts
    FROM call_limits WHERE company_id = $1 AND buyer_id IS NOT NULL`,
    [world.company.id],
  );
  expect(sums).toEqual({ slots: 2 * 3 + 2 + 10, attempts: 2 * 3 + 2 + 10 });
});

test('calls of two hours at once keep to the cap of each', async () => {
  let n = 0;
  const ownWorld = await createWorld({
    clock: () => new Date(Date.parse((n++ * 7919) % 13 < 6 ? LAST_SECOND : NEXT_HOUR)),
  });
  const ok = async (path: string, body: Fields) => {
    const res = await ownWorld.company.api('post', path, { body });
    expect(res.status).toBe(201);
    return res.body[res.body.metadata.root];
  };
  const buyer = await ok('buyers', {
    number: '+12125550101',
    business_hours_schedule: [{ schedule: [], attempt_hourly_limit: 3 }],
  });
  const { id: offerId } = await ok('offers', { name: 'x', buyer_ids: [buyer.id] });
  await Promise.all(Array.from({ length: 40 }, () => ok('call_sessions', { offer_id: offerId })));
  const rows = await ownWorld.sql<{ hour: string; n: number }>(
    `SELECT to_char(created_at AT TIME ZONE 'UTC', 'HH24') AS hour, count(*)::int AS n
    FROM call_attempts GROUP BY 1 ORDER BY 1`,
  );
  await ownWorld.close();
  expect(rows.reduce((sum, row) => sum + row.n, 0)).toBeGreaterThanOrEqual(3);
  for (const row of rows) expect(row.n).toBeLessThanOrEqual(3);
});

const [LAST_SECOND, NEXT_HOUR] = ['2026-06-01T11:59:59Z', '2026-06-01T12:00:00Z'];
