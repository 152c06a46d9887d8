import { changeLimits } from '../../../src/domain/caps/cap-limits';
import type { CapOwner } from '../../../src/domain/caps/caps';
import { recordUsage } from '../../support/record-usage';
import { standingClock } from '../../support/clock';
import { reserveForOwner } from '../../support/reserved-caps';
import { createWorld, type World } from '../../support/world';

const clock = standingClock('2026-06-01T12:00:00Z');
let world: World;
beforeAll(async () => {
  world = await createWorld({ clock: clock.read, environment: { DATABASE_POOL_SIZE: '20' } });
});
afterAll(() => world.close());

const db = () => world.deps.tenants.of(world.company.id);

async function owner(
  kind: 'buyer' | 'buyer_group',
  body: object,
): Promise<{ cap: CapOwner; read: () => Promise<Record<string, unknown>>; id: number }> {
  const path = `${kind}s`;
  const res = await world.company.api('post', path, { body: { name: 'Capped', ...body } });
  expect(res.status).toBe(201);
  const id = res.body[kind].id as number;
  const cap = kind === 'buyer' ? { buyer_id: BigInt(id) } : { buyer_group_id: BigInt(id) };
  return {
    id,
    cap,
    read: async () => (await world.company.api('get', `${path}/${id}`)).body[kind],
  };
}

/** Returns true if there was room. */
const reserve = (cap: CapOwner, usage: Parameters<typeof reserveForOwner>[2]) =>
  reserveForOwner(db(), cap, usage, clock.read());
const dial = (cap: CapOwner) => reserve(cap, {});

describe('a counter resets at the local hour, day and month of its owner', () => {
  /** Before a day; its first second; its last second; the first second of the next day. */
  test.each([
    [
      'the spring night of New York, 23 hours long',
      'America/New_York',
      '2026-03-08T04:59:00Z',
      '2026-03-08T05:00:00Z',
      '2026-03-09T03:59:59Z',
      '2026-03-09T04:00:00Z',
    ],
    [
      'the autumn night of New York, 25 hours long',
      'America/New_York',
      '2026-11-01T03:59:00Z',
      '2026-11-01T04:00:00Z',
      '2026-11-02T04:59:59Z',
      '2026-11-02T05:00:00Z',
    ],
    [
      '29 February in Los Angeles',
      'America/Los_Angeles',
      '2028-02-29T07:59:00Z',
      '2028-02-29T08:00:00Z',
      '2028-03-01T07:59:59Z',
      '2028-03-01T08:00:00Z',
    ],
    [
      'a zone whose clocks change at midnight',
      'America/Santiago',
      '2026-09-06T03:59:00Z',
      '2026-09-06T04:00:00Z',
      '2026-09-07T02:59:59Z',
      '2026-09-07T03:00:00Z',
    ],
    [
      'a zone of half an hour',
      'Asia/Kolkata',
      '2026-05-01T18:29:00Z',
      '2026-05-01T18:30:00Z',
      '2026-05-02T18:29:59Z',
      '2026-05-02T18:30:00Z',
    ],
  ])('%s: the day', async (_, timeZone, before, starts, lastSecond, ends) => {
    clock.set(before);
    const { cap, read } = await owner('buyer', { time_zone: timeZone, attempt_daily_limit: 5 });
    await dial(cap);
    expect((await read()).attempt_daily_used).toBe(1);
    clock.set(starts);
    expect((await read()).attempt_daily_used).toBe(0);
    await dial(cap);
    await dial(cap);
    clock.set(lastSecond);
    expect((await read()).attempt_daily_used).toBe(2);
    clock.set(ends);
    expect(await read()).toMatchObject({ attempt_daily_used: 0, attempt_total_used: 3 });
  });

  test('the month, at the end of a 28-day February and of a year', async () => {
    for (const [within, last, next] of [
      ['2027-02-10T12:00:00Z', '2027-03-01T04:59:59Z', '2027-03-01T05:00:00Z'],
      ['2026-12-31T12:00:00Z', '2027-01-01T04:59:59Z', '2027-01-01T05:00:00Z'],
    ] as const) {
      clock.set(within);
      const { cap, read } = await owner('buyer_group', {
        time_zone: 'America/New_York',
        attempt_monthly_limit: 9,
      });
      await dial(cap);
      clock.set(last);
      expect((await read()).attempt_monthly_used).toBe(1);
      clock.set(next);
      expect((await read()).attempt_monthly_used).toBe(0);
    }
  });

  test('the hour, and the two hours called one o’clock on the autumn night are two', async () => {
    clock.set('2026-11-01T05:30:00Z'); // 01:30 daylight time
    const { cap, read } = await owner('buyer_group', {
      time_zone: 'America/New_York',
      attempt_hourly_limit: 1,
    });
    expect(await dial(cap)).toBe(true);
    expect(await dial(cap)).toBe(false);
    expect(await read()).toMatchObject({
      maxed_out: true,
      maxed_out_by: 'attempt_hourly',
      cap_reset_at: '2026-11-01T06:00:00.000+00:00',
    });
    clock.set('2026-11-01T06:00:00Z'); // 01:00 standard time
    expect(await read()).toMatchObject({
      attempt_hourly_used: 0,
      maxed_out: false,
      maxed_out_by: null,
      cap_reset_at: null,
    });
    expect(await dial(cap)).toBe(true);
    expect(await dial(cap)).toBe(false);
  });
});

describe('caps are exact', () => {
  test.each([
    ['attempt', {}],
    ['connection', { connections: 1 }],
    ['buyer_conversion', { conversions: 1 }],
  ] as const)('200 simultaneous calls on a %s cap of 50 take 50', async (metric, usage) => {
    clock.set('2026-06-01T12:00:00Z');
    const { cap, read } = await owner('buyer', { [`${metric}_daily_limit`]: 50 });
    const calls = await Promise.all(Array.from({ length: 200 }, () => reserve(cap, usage)));
    expect(calls.filter(Boolean)).toHaveLength(50);
    expect(await read()).toMatchObject({
      attempt_daily_used: 50,
      attempt_total_used: 50,
      maxed_out_by: `${metric}_daily`,
    });
  });

  test('concurrency: slots are taken while there are any and come back', async () => {
    const { cap, read } = await owner('buyer', { concurrency_cap_limit: 7 });
    const take = () => reserve(cap, { slots: 1 });
    expect((await Promise.all(Array.from({ length: 40 }, take))).filter(Boolean)).toHaveLength(7);
    expect(await read()).toMatchObject({ concurrency_cap_used: 7, maxed_out_by: 'concurrency' });
    await recordUsage(db(), { owner: cap, usage: {}, concurrency: -1, now: clock.read() });
    expect([await take(), await take()]).toEqual([true, false]);
  });

  test('a refused reservation changes none of the counters', async () => {
    const { cap, read } = await owner('buyer', {
      attempt_monthly_limit: 1,
      connection_total_limit: 10,
    });
    expect(await reserve(cap, { connections: 1, slots: 1 })).toBe(true);
    expect(await reserve(cap, { connections: 1, slots: 1 })).toBe(false);
    expect(await read()).toMatchObject({ attempt_total_used: 1, concurrency_cap_used: 1 });
  });

  test('an owner with a cap used up gets no call, even if it would not count for it', async () => {
    clock.set('2026-06-01T12:00:00Z');
    const { cap } = await owner('buyer', { connection_daily_limit: 1, revenue_total_limit: 50 });
    expect(await dial(cap)).toBe(true);
    await recordUsage(db(), {
      owner: cap,
      usage: { connection: 1, revenue: 20 },
      now: clock.read(),
    });
    expect(await dial(cap)).toBe(false);
    clock.set('2026-06-02T12:00:00Z');
    expect(await dial(cap)).toBe(true);
    await recordUsage(db(), { owner: cap, usage: { revenue: 30 }, now: clock.read() });
    expect(await dial(cap)).toBe(false);
  });

  test('revenue is counted in dollars and cents and stops at its cap', async () => {
    const { cap, read } = await owner('buyer', { revenue_daily_limit: 100 });
    const earn = () => reserve(cap, { revenue: 33.33 });
    expect([await earn(), await earn(), await earn(), await earn()]).toEqual([
      true,
      true,
      true,
      false,
    ]);
    const hold = { connections: 0, conversions: 0, revenue: -99.99 };
    await recordUsage(db(), { owner: cap, usage: { revenue: 99.99 }, hold, now: clock.read() });
    expect((await read()).revenue_daily_used).toBe(99.99);
    expect(await earn()).toBe(false);
  });

  test('the hourly limit of a buyer is that of its first open business hours', async () => {
    clock.set('2026-06-01T12:30:00Z'); // Monday 08:30 in New York
    const { cap, read } = await owner('buyer', {
      time_zone: 'America/New_York',
      business_hours_schedule: [
        { attempt_hourly_limit: 1, schedule: [{ day: 1, times: ['09:00..09:59'] }] },
        { attempt_hourly_limit: 3, schedule: [{ day: 1, times: ['08:00..16:59'] }] },
      ],
    });
    expect((await read()).attempt_hourly_limit).toBe(3);
    expect([await dial(cap), await dial(cap), await dial(cap), await dial(cap)]).toEqual([
      true,
      true,
      true,
      false,
    ]);
    clock.set('2026-06-01T13:30:00Z');
    expect(await read()).toMatchObject({ attempt_hourly_limit: 1, attempt_hourly_used: 0 });
    expect([await dial(cap), await dial(cap)]).toEqual([true, false]);
    clock.set('2026-06-01T22:00:00Z');
    expect((await read()).attempt_hourly_limit).toBe(null);
  });
});

test('maxed_out_by names the cap that resets last; a total never resets by itself', async () => {
  clock.set('2026-06-15T12:00:00Z');
  const { cap, read, id } = await owner('buyer_group', {
    time_zone: 'UTC',
    attempt_hourly_limit: 1,
    attempt_daily_limit: 1,
    attempt_monthly_limit: 1,
  });
  await dial(cap);
  expect(await read()).toMatchObject({
    maxed_out_by: 'attempt_monthly',
    cap_reset_at: '2026-07-01T00:00:00.000+00:00',
  });
  await world.company.api('put', `buyer_groups/${id}`, { body: { attempt_total_limit: 1 } });
  expect(await read()).toMatchObject({ maxed_out_by: 'attempt_total', cap_reset_at: null });
  await world.company.api('put', `buyer_groups/${id}`, { body: { reset_total_caps: true } });
  expect(await read()).toMatchObject({
    maxed_out_by: 'attempt_monthly',
    attempt_total_used: 0,
    attempt_daily_used: 1,
  });
});

test('moving an owner to another time zone keeps what is used', async () => {
  clock.set('2026-06-15T12:00:00Z');
  const { cap, read, id } = await owner('buyer', {
    time_zone: 'America/New_York',
    attempt_daily_limit: 1,
  });
  await dial(cap);
  await world.company.api('put', `buyers/${id}`, { body: { time_zone: 'Tokyo' } });
  expect(await read()).toMatchObject({
    attempt_daily_used: 1,
    cap_reset_at: '2026-06-15T15:00:00.000+00:00',
  });
  expect(await dial(cap)).toBe(false);
  clock.set('2026-06-15T15:00:00Z');
  expect((await read()).attempt_daily_used).toBe(0);
});

test('a blank value removes a limit; an unknown limit is refused', async () => {
  const { cap, read, id } = await owner('buyer', { attempt_daily_limit: 1 });
  await dial(cap);
  await world.company.api('put', `buyers/${id}`, { body: { attempt_daily_limit: '' } });
  expect(await read()).toMatchObject({ attempt_daily_limit: null, maxed_out_by: null });
  await expect(
    changeLimits(db(), cap, {
      may_raise: true,
      limits: { 'nonsense = 1; --': 1 } as never,
      now: clock.read(),
    }),
  ).rejects.toThrow(/no limit/);
});
