import { recordUsage } from '../../support/record-usage';
import { candidateWorld, loadCandidates } from '../../support/candidate-world';
import { cap, MONDAY, NEW_YORK } from '../../support/candidates';

let setup: Awaited<ReturnType<typeof candidateWorld>>;
beforeAll(async () => void (setup = await candidateWorld()));
afterAll(() => setup.world.close());
beforeEach(() => setup.clock.set(MONDAY));

test('a cap is used up until its window ends in the owner’s zone', async () => {
  const limits = {
    attempt_daily_limit: 2,
    attempt_monthly_limit: 3,
    revenue_total_limit: 50,
    concurrency_cap_limit: 1,
  };
  const id = await setup.create('buyers', { name: 'x', time_zone: NEW_YORK, ...limits });
  const offer = await setup.createOffer(id);
  await setup.use(id, {}, 1);
  expect([await setup.used(offer), await setup.reasons(offer)]).toEqual([
    cap('concurrency', 1, 1).used_up,
    { x: 'concurrency_full' },
  ]);
  await setup.use(id, {}, -1);
  expect(await setup.reasons(offer)).toEqual({ x: null });
  await setup.use(id, { attempt: 2 });
  expect(await setup.used(offer)).toEqual(
    cap('attempt_daily', 2, 2, '2026-06-02T04:00:00Z').used_up,
  );
  expect((await setup.world.company.api('get', `buyers/${id}`)).body.buyer.maxed_out_by).toBe(
    'attempt_daily',
  );
  expect(await setup.at('2026-06-02T03:59:59Z', offer)).toEqual({ x: 'cap_reached' });
  expect(await setup.at('2026-06-02T04:00:00Z', offer)).toEqual({ x: null });
  await setup.use(id, { attempt: 2, revenue: 33.33 });
  expect(await setup.used(offer)).toEqual(
    cap('attempt_monthly', 4, 3, '2026-07-01T04:00:00Z').used_up,
  );
  await setup.use(id, { revenue: 33.33 });
  expect(await setup.used(offer)).toEqual(cap('revenue_total', 66.66, 50).used_up);
});

test('cached caps equal those of the database, however changes and reads overlap', async () => {
  const ids = await Promise.all(
    Array.from({ length: 6 }, (_, n) =>
      setup.create('buyers', { name: `${n}`, concurrency_cap_limit: 1, attempt_total_limit: 9 }),
    ),
  );
  const offer = await setup.createOffer(...ids);
  const look = () => loadCandidates({ db: setup.db(), offer, now: setup.clock.read() });
  for (let round = 0; round < 15; round++) {
    const moves = ids.flatMap((id, n) => [
      setup.use(id, { attempt: (round + n) % 3 === 0 ? 1 : 0 }, (round + n) % 2 === 0 ? 1 : -1),
      look(),
    ]);
    // A transaction that began before all of them and ends after some.
    const slow = setup
      .db()
      .transaction(async (tx) => {
        await recordUsage(tx, {
          owner: { buyer_id: BigInt(ids[round % 6]!) },
          usage: {},
          concurrency: round % 2 === 0 ? 1 : -1,
          now: setup.clock.read(),
        });
        await look();
        await look();
      })
      .catch(() => undefined);
    await Promise.all([...moves, slow, look()]);
    await setup.load(offer);
  }
  const changed = await setup.world.company.api('put', `buyers/${ids[0]}`, {
    body: { concurrency_cap_limit: 0 },
  });
  expect(changed.status).toBe(200);
  expect((await setup.load(offer))[0]!.used_up).toMatchObject({ cap: 'concurrency', limit: 0 });
});

test('a group’s caps keep members from calls, but not those on the offer itself', async () => {
  const buyerIds = [
    await setup.create('buyers', { name: 'direct' }),
    await setup.create('buyers', { name: 'member' }),
  ];
  const id = await setup.create('buyer_groups', {
    buyer_ids: buyerIds,
    attempt_hourly_limit: 1,
    concurrency_cap: 1,
    time_zone: 'Tokyo',
  });
  const offer = await setup.create('offers', {
    buyer_ids: buyerIds.slice(0, 1),
    buyer_group_ids: [id],
  });
  await recordUsage(setup.db(), {
    owner: { buyer_group_id: BigInt(id) },
    usage: { attempt: 1 },
    concurrency: 1,
    now: setup.clock.read(),
  });
  expect((await setup.load(offer))[1]!.groups).toMatchObject([
    cap('attempt_hourly', 1, 1, '2026-06-01T13:00:00Z'),
  ]);
  expect(await setup.reasons(offer)).toEqual({ direct: null, member: 'cap_reached' });
  expect(await setup.at('2026-06-01T13:00:00Z', offer)).toEqual({
    direct: null,
    member: 'concurrency_full',
  });
});

test('hourly limits are those of the first open entry of the business hours', async () => {
  const entry = (attemptHourlyLimit: number, times: string) => ({
    attempt_hourly_limit: attemptHourlyLimit,
    schedule: [{ day: 1, times: [times] }],
  });
  const id = await setup.create('buyers', {
    name: 'x',
    time_zone: NEW_YORK,
    business_hours_schedule: [entry(1, '09:00..09:59'), entry(2, '08:00..16:59')],
  });
  const offer = await setup.createOffer(id);
  await setup.use(id, { attempt: 1 });
  expect(await setup.reasons(offer)).toEqual({ x: null });
  await setup.use(id, { attempt: 1 });
  expect(await setup.used(offer)).toEqual(
    cap('attempt_hourly', 2, 2, '2026-06-01T13:00:00Z').used_up,
  );
  expect(await setup.at('2026-06-01T13:00:00Z', offer)).toEqual({ x: null });
  await setup.use(id, { attempt: 1 });
  expect(await setup.used(offer)).toEqual(
    cap('attempt_hourly', 1, 1, '2026-06-01T14:00:00Z').used_up,
  );
  expect(await setup.at('2026-06-01T21:00:00Z', offer)).toEqual({ x: 'closed' });
});

test('what a transaction that is rolled back has read of its own writes is forgotten', async () => {
  const id = await setup.create('buyers', { name: 'x', attempt_total_limit: 1 });
  const offer = await setup.createOffer(id);
  expect(await setup.reasons(offer)).toEqual({ x: null });
  const rolledBack = setup.db().transaction(async (tx) => {
    await recordUsage(tx, {
      owner: { buyer_id: BigInt(id) },
      usage: { attempt: 1 },
      concurrency: 0,
      now: setup.clock.read(),
    });
    const [candidate] = await loadCandidates({ db: tx, offer, now: setup.clock.read() });
    expect(candidate!.used_up).toMatchObject({ cap: 'attempt_total' });
    throw new Error('rolled back');
  });
  await expect(rolledBack).rejects.toThrow('rolled back');
  expect(await setup.reasons(offer)).toEqual({ x: null });
});

test('a cap is open again when what is set up of the buyer no longer uses it up', async () => {
  const pays = (revenue: number) => ({
    buyer_conversions_schedule: [
      {
        buyer_conversions_attributes: [
          { name: 'Call', duration: 60, revenue, duplicate_timeframe: 0 },
        ],
        schedule: [],
      },
    ],
  });
  const hourly = (attemptHourlyLimit: number) => ({
    business_hours_schedule: [{ schedule: [], attempt_hourly_limit: attemptHourlyLimit }],
  });
  const id = await setup.create('buyers', {
    name: 'x',
    revenue_daily_limit: 5,
    ...hourly(1),
    ...pays(1),
  });
  const offer = await setup.createOffer(id);
  const change = async (body: object) => {
    const res = await setup.world.company.api('put', `buyers/${id}`, { body });
    expect(res.status).toBe(200);
    return (await setup.used(offer))?.cap;
  };
  await setup.use(id, { attempt: 1 });
  expect((await setup.used(offer))?.cap).toBe('attempt_hourly');
  expect(await change(hourly(2))).toBeUndefined();
  expect(await change(pays(9))).toBe('revenue_daily');
  expect(await change(pays(2))).toBeUndefined();
});

test('caps that a dump brought from another cluster are not read again for every call', async () => {
  const id = await setup.create('buyers', { name: 'x', attempt_total_limit: 1 });
  const offer = await setup.createOffer(id);
  await setup.world.sql(`UPDATE call_limits SET changed_by = '9000000000' WHERE buyer_id = $1`, [
    id,
  ]);
  const look = () => loadCandidates({ db: setup.db(), offer, now: setup.clock.read() });
  const first = await look();
  expect(await look()).toBe(first);
  await setup.use(id, { attempt: 1 });
  expect((await setup.used(offer))?.cap).toBe('attempt_total');
});
