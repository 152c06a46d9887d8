import { all, sellers } from '../../support/sellers';

// Pings reserve caps: never more than there are, and what is not used is released once.

const here = sellers();
const { time, ok, later, buyer, shop, ping, sweep, used } = here;

describe('a cap', () => {
  test('of 50 is reserved 50 times by 200 simultaneous pings, and released as often', async () => {
    const id = await buyer({ attempt_daily_limit: 50 });
    const at = await shop([id]);
    const pinged = await Promise.all(
      Array.from({ length: 200 }, (_, n) => ping(at, { caller_id: `+1310555${1000 + n}` })),
    );
    expect(pinged.filter(({ success }) => success)).toHaveLength(50);
    expect(new Set(pinged.map(({ status }) => status))).toEqual(
      new Set(['accepted', 'no_buyer_available']),
    );
    expect(await used(id)).toEqual(all(50));
    later(59.999);
    expect(await sweep()).toBe(0);
    later(0.001);
    const freed = await Promise.all(Array.from({ length: 8 }, sweep));
    expect(freed.reduce((a, b) => a + b)).toBe(50);
    expect(await used(id)).toEqual(all(0));
    expect((await ping(at)).success).toBe(true);
  });

  test('of a group is reserved and released with its buyer', async () => {
    const id = await buyer();
    const { buyer_group } = await ok('buyer_groups', {
      name: 'Group',
      buyer_ids: [id],
      attempt_total_limit: 1,
    });
    const at = await shop([]);
    await ok(`offers/${at.offer}`, { buyer_group_ids: [buyer_group.id] }, 'put');
    expect([(await ping(at)).status, (await ping(at)).status]).toEqual([
      'accepted',
      'no_buyer_available',
    ]);
    later(60);
    await sweep();
    expect((await ping(at)).status).toBe('accepted');
  });

  test('is not released in a window that began, or totals that were reset, later', async () => {
    const id = await buyer({ time_zone: 'UTC' });
    const at = await shop([id]);
    time.set('2026-06-01T12:59:30Z');
    await ping(at);
    await ok(`buyers/${id}`, { reset_total_caps: true }, 'put');
    time.set('2026-06-01T13:00:10Z');
    await ping(at);
    expect(await used(id)).toEqual([1, 2, 2, 1, 2]);
    time.set('2026-06-01T13:00:30Z');
    expect(await sweep()).toBe(1);
    expect(await used(id)).toEqual([1, 1, 1, 1, 1]);
  });

  test('that was reserved does not count as a call once it is released', async () => {
    const id = await buyer();
    const at = await shop([id]);
    const before = (await here.world.company.api('get', `buyers/${id}`)).body.buyer.last_call_at;
    await ping(at);
    later(60);
    await sweep();
    expect((await here.world.company.api('get', `buyers/${id}`)).body.buyer.last_call_at).toBe(
      before,
    );
  });
});
