import { buildBuyerRequests } from '../../support/buyers';
import { standingClock } from '../../support/clock';
import { createWorld, type World } from '../../support/world';

const clock = standingClock('2026-06-01T16:00:00Z'); // Monday noon in New York
let world: World;
beforeAll(async () => {
  world = await createWorld({ clock: clock.read });
});
afterAll(() => world.close());
beforeEach(() => clock.set('2026-06-01T16:00:00Z'));

const { createRecord, put, shown } = buildBuyerRequests(() => world);

describe('the current conversion', () => {
  test('is written and read as the one that is current now', async () => {
    const buyer = await createRecord({
      current_conversion_name: '90 s',
      current_conversion_revenue: 25.5,
      current_conversion_duration: 90,
      current_conversion_duplicate_timeframe: 7200,
      current_conversion_token_values: ['state:CA', 'age:>=18'],
      current_conversion_attribution_token_values: ['a:b'],
    });
    expect(buyer).toMatchObject({
      bid_price: 25.5,
      current_conversion_name: '90 s',
      current_conversion_revenue: 25.5,
      current_conversion_duration: 90,
      current_conversion_duplicate_timeframe: 7200,
      token_values: ['state:CA', 'age:>=18'],
      token_values_hash: { state: 'CA', age: '>=18' },
      attribution_token_values: ['a:b'],
      attribution_token_values_hash: { a: 'b' },
    });
    expect(buyer.current_conversion_token_value_ids).toHaveLength(2);
    const after = (await put(buyer.id, { current_conversion_revenue: 30 })).body.buyer;
    expect(after).toMatchObject({
      current_conversion_revenue: 30,
      current_conversion_duration: 90,
      current_conversion_token_value_ids: buyer.current_conversion_token_value_ids,
    });
  });

  test('follows the time frames of buyer_conversions_schedule in the buyer’s zone', async () => {
    const frame = (revenue: number, times: string[]) => ({
      buyer_conversions_attributes: [{ revenue, duration: 60 }],
      schedule: times.length ? [{ day: 1, times }] : [],
    });
    const { id } = await createRecord({
      time_zone: 'America/New_York',
      buyer_conversions_schedule: [
        frame(10, ['09:00..11:59']),
        frame(20, ['12:00..16:59']),
        frame(5, []),
      ],
    });
    const revenue = async (at: string) => {
      clock.set(at);
      return (await shown(id)).current_conversion_revenue;
    };
    expect(await revenue('2026-06-01T15:59:59Z')).toBe(10);
    expect(await revenue('2026-06-01T16:00:00Z')).toBe(20);
    expect(await revenue('2026-06-01T20:59:59Z')).toBe(20);
    expect(await revenue('2026-06-01T21:00:00Z')).toBe(5);
    clock.set('2026-06-01T16:00:00Z');
    await put(id, { current_conversion_revenue: 22 });
    expect(
      (await shown(id)).buyer_conversions_schedule.map(
        (f: { buyer_conversions_attributes: { revenue: number }[] }) =>
          f.buyer_conversions_attributes[0]!.revenue,
      ),
    ).toEqual([10, 22, 5]);
  });

  test('keeps to its minimum, maximum and increment', async () => {
    const { id } = await createRecord({
      current_conversion_revenue: 20,
      current_conversion_duration: 60,
      current_conversion_revenue_min: 10,
      current_conversion_revenue_max: 30,
      current_conversion_revenue_increment: 2.5,
    });
    const errors = async (body: object) => (await put(id, body)).body.errors;
    expect(await errors({ current_conversion_revenue: 9.99 })).toEqual({
      current_conversion_revenue: ['must not be below the minimum of 10'],
    });
    expect(await errors({ current_conversion_revenue: 32.5 })).toEqual({
      current_conversion_revenue: ['must not be above the maximum of 30'],
    });
    expect(await errors({ current_conversion_revenue: 21 })).toEqual({
      current_conversion_revenue: ['must change from 20 by a multiple of 2.5'],
    });
    expect(await errors({ current_conversion_revenue_min: 40 })).toEqual({
      current_conversion_revenue_min: ['must not be above the maximum of 30'],
    });
    expect(await errors({ current_conversion_revenue: 22.5 })).toEqual({});
    expect(
      await errors({ current_conversion_revenue_increment: '', current_conversion_revenue: 21.01 }),
    ).toEqual({});
    expect((await shown(id)).current_conversion_revenue).toBe(21.01);
  });

  test('a refused change changes nothing at all', async () => {
    const { id } = await createRecord({
      name: 'Before',
      current_conversion_revenue: 20,
      current_conversion_duration: 60,
      current_conversion_revenue_max: 30,
    });
    await put(id, {
      name: 'After',
      tier: 9,
      attempt_daily_limit: 1,
      current_conversion_revenue: 99,
    });
    expect(await shown(id)).toMatchObject({
      name: 'Before',
      tier: 1,
      attempt_daily_limit: null,
      current_conversion_revenue: 20,
      current_conversion_duration: 60,
    });
  });
});
