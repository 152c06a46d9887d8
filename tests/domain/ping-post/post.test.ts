import { expireReservations } from '../../../src/domain/routing/expire-reservations';
import { all, sellers } from '../../support/sellers';

const here = sellers();
const { time, later, buyer, shop, ping, post, call, sweep, used, holds, buyNumber } = here;

describe('a post', () => {
  test('in time gets its reservation, although other calls have reached the cap', async () => {
    const id = await buyer({ attempt_total_limit: 2 });
    const at = await shop([id]);
    const pinged = await ping(at);
    await call(at, '+13105550101');
    expect((await ping(at, { caller_id: '+13105550102' })).status).toBe('no_buyer_available');
    later(59);
    for (const pingId of [pinged.buyers[0].ping_id, pinged.try_all_buyers_ping_id]) {
      expect(await post(at, { ping_id: pingId })).toMatchObject({
        success: true,
        status: 'accepted',
        late: false,
        warnings: [],
        buyer_id: id,
      });
    }
    expect(await used(id)).toEqual([2, 2, 2, 2, 2]);
  });

  test('reserves for the same time again, and no longer', async () => {
    const id = await buyer({ attempt_total_limit: 1 });
    const at = await shop([id]);
    await buyNumber(at);
    const { try_all_buyers_ping_id: pingId } = await ping(at);
    later(59);
    const answer = await post(at, { ping_id: pingId });
    expect(answer.expires_at).toBe('2026-06-01T12:31:59.000Z');
    later(59);
    expect(await sweep()).toBe(0);
    expect(await post(at, { ping_id: pingId })).toEqual(answer);
    later(1);
    expect(await sweep()).toBe(1);
    expect(await used(id)).toEqual(all(0));
  });

  test('sent twenty times at once gets the same answer and one reservation', async () => {
    const [first, second] = [await buyer({ tier: 1 }), await buyer({ tier: 2 })];
    const at = await shop([first, second]);
    const { buyers } = await ping(at);
    expect(buyers.map(({ held }: { held: boolean }) => held)).toEqual([true, false]);
    for (const { ping_id, buyer_id } of buyers) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => post(at, { ping_id })));
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      expect(answers[0]).toMatchObject({ status: 'accepted', buyer_id });
    }
    await sweep();
    expect([await used(first), await used(second)]).toEqual([all(0), all(1)]);
    expect(await holds()).toBe(1);
  });

  test('that is too late chooses again among the allowed buyers, and says so', async () => {
    const [first, second] = [
      await buyer({ tier: 1, attempt_total_limit: 1 }),
      await buyer({ tier: 2 }),
    ];
    const at = await shop([first, second]);
    const { buyers, try_all_buyers_ping_id } = await ping(at);
    later(60);
    await sweep();
    await ping(at, { caller_id: '+13105550102' });
    expect(await post(at, { ping_id: buyers[0].ping_id })).toMatchObject({
      success: false,
      status: 'no_buyer_available',
      errors: [expect.any(String)],
    });
    expect(await post(at, { ping_id: try_all_buyers_ping_id })).toMatchObject({
      success: true,
      late: true,
      buyer_id: second,
      warnings: [expect.stringContaining('expired')],
    });
  });

  test.each([0, 1, 2, 3, 4])(
    'at the moment its reservation ends has it or not, never half (%s)',
    async (n) => {
      const id = await buyer({ attempt_total_limit: 1 });
      const at = await shop([id]);
      const { buyers } = await ping(at);
      later(59.999);
      const answers = [post(at, { ping_id: buyers[0].ping_id })];
      const sweeping = Array.from({ length: n }, () =>
        expireReservations(here.world.deps.database.pool, new Date(time.read().getTime() + 1)),
      );
      const [answer] = await Promise.all(answers);
      await Promise.all(sweeping);
      // It was in time, or a buyer was chosen again: there is one reservation in any case.
      expect(answer).toMatchObject({ success: true, buyer_id: id });
      expect([await used(id), await holds()]).toEqual([all(1), 1]);
    },
  );

  test('for another buyer than the reserved one releases that one', async () => {
    const [first, second] = [await buyer({ tier: 1 }), await buyer({ tier: 2 })];
    const at = await shop([first, second]);
    const { buyers } = await ping(at);
    expect((await post(at, { ping_id: buyers[1].ping_id })).buyer_id).toBe(second);
    await sweep();
    expect([await used(first), await used(second)]).toEqual([all(0), all(1)]);
  });
});
