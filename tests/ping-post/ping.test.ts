import { expireReservations } from '../../src/routing/expire-reservations';
import { standingClock } from '../support/clock';
import { createWorld, type World } from '../support/world';

// Sellers are told the truth: what is held for them they get, nobody gets more than the caps allow, and what is not used is given back once.

const MONDAY = '2026-06-01T12:30:00Z';
const CALLER = '+13105550188';

let world: World;
let made = 0;
const time = standingClock(MONDAY);
beforeAll(async () => {
  world = await createWorld({ clock: time.read });
});
beforeEach(async () => {
  time.set(MONDAY);
  // What another test holds is not this one's to count.
  await expireReservations(world.deps.database.pool, new Date('2099-01-01'));
  world.company = await world.addCompany();
});
afterAll(() => world.close());

type Fields = Record<string, unknown>;

const ok = async (path: string, body: Fields, method: 'post' | 'put' = 'post') => {
  const res = await world.company.api(method, path, { body });
  if (res.status >= 300) throw new Error(`${path}: ${res.text}`);
  return res.body;
};
const later = (seconds: number) =>
  time.set(new Date(time.read().getTime() + seconds * 1000).toISOString());
const buyer = async (fields: Fields = {}): Promise<number> =>
  (
    await ok('buyers', {
      name: 'Buyer',
      number: `+1212555${String(1000 + made++).slice(-4)}`,
      ...fields,
    })
  ).buyer.id;

interface Shop {
  offer: number;
  at: string;
}

/** An offer of buyers with an endpoint for sellers. */
async function shop(buyer_ids: number[], fields: Fields = {}): Promise<Shop> {
  const offer = (await ok('offers', { name: 'Auto', buyer_ids })).offer.id;
  const at = `shop-${made++}`;
  await ok('inbound_webhooks', { name: 'Partner', vanity_uri: at, offer_id: offer, ...fields });
  return { offer, at };
}

const ask = async (kind: 'ping' | 'post' | 'full', { at }: Shop, body: Fields) => {
  const res = await world.company.api('post', `inbound_webhooks/${kind}/${at}`, {
    auth: null,
    body,
  });
  if (res.status !== 200) throw new Error(res.text);
  return res.body;
};
const ping = (at: Shop, fields: Fields = {}) => ask('ping', at, { caller_id: CALLER, ...fields });
const post = (at: Shop, fields: Fields) => ask('post', at, fields);
const call = async ({ offer }: Shop, caller_number = CALLER) =>
  (await ok('call_sessions', { offer_id: offer, caller_number })).call_session;
const sweep = () => expireReservations(world.deps.database.pool, time.read());
const used = async (id: number) => {
  const { buyer: found } = (await world.company.api('get', `buyers/${id}`)).body;
  const {
    attempt_total_used,
    attempt_monthly_used,
    attempt_daily_used,
    attempt_hourly_used,
    concurrency_cap_used,
  } = found;
  return [
    attempt_total_used,
    attempt_monthly_used,
    attempt_daily_used,
    attempt_hourly_used,
    concurrency_cap_used,
  ];
};
const all = (n: number) => Array(5).fill(n) as number[];
const holds = async () =>
  (
    await world.sql<{ n: number }>(
      'SELECT count(*)::int AS n FROM call_holds WHERE company_id = $1',
      [world.company.id],
    )
  )[0]!.n;

describe('a cap', () => {
  test('of 50 is held 50 times by 200 simultaneous pings, and given back as often, by many at once', async () => {
    const id = await buyer({ attempt_daily_limit: 50 });
    const at = await shop([id]);
    const told = await Promise.all(
      Array.from({ length: 200 }, (_, n) => ping(at, { caller_id: `+1310555${1000 + n}` })),
    );
    expect(told.filter(({ success }) => success)).toHaveLength(50);
    expect(new Set(told.map(({ status }) => status))).toEqual(
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

  test('of a group is held with its buyer, and given back with it', async () => {
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

  test('is not given back in a window that has begun since, nor in totals that were reset since', async () => {
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

  test('that is held does not count as a call once it is given back', async () => {
    const id = await buyer();
    const at = await shop([id]);
    const before = (await world.company.api('get', `buyers/${id}`)).body.buyer.last_call_at;
    await ping(at);
    later(60);
    await sweep();
    expect((await world.company.api('get', `buyers/${id}`)).body.buyer.last_call_at).toBe(before);
  });
});

describe('a post', () => {
  test('in time gets what is held, though others have reached the cap', async () => {
    const id = await buyer({ attempt_total_limit: 2 });
    const at = await shop([id]);
    const told = await ping(at);
    await call(at, '+13105550101');
    expect((await ping(at, { caller_id: '+13105550102' })).status).toBe('no_buyer_available');
    later(59);
    for (const ping_id of [told.buyers[0].ping_id, told.try_all_buyers_ping_id]) {
      expect(await post(at, { ping_id })).toMatchObject({
        success: true,
        status: 'accepted',
        late: false,
        warnings: [],
        buyer_id: id,
      });
    }
    expect(await used(id)).toEqual([2, 2, 2, 2, 2]);
  });

  test('holds for as long again, and no longer', async () => {
    const id = await buyer({ attempt_total_limit: 1 });
    const at = await shop([id]);
    await numberOf(at);
    const { try_all_buyers_ping_id: ping_id } = await ping(at);
    later(59);
    const answer = await post(at, { ping_id });
    expect(answer.expires_at).toBe('2026-06-01T12:31:59.000Z');
    later(59);
    expect(await sweep()).toBe(0);
    expect(await post(at, { ping_id })).toEqual(answer);
    later(1);
    expect(await sweep()).toBe(1);
    expect(await used(id)).toEqual(all(0));
  });

  test('sent twenty times at once, with or without a hold, is answered the same and holds once', async () => {
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

  test('too late chooses anew among those it may, and says so', async () => {
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
    'that races the end of its hold has it or does not, never half (%s)',
    async (n) => {
      const id = await buyer({ attempt_total_limit: 1 });
      const at = await shop([id]);
      const { buyers } = await ping(at);
      later(59.999);
      const answers = [post(at, { ping_id: buyers[0].ping_id })];
      const sweeping = Array.from({ length: n }, () =>
        expireReservations(world.deps.database.pool, new Date(time.read().getTime() + 1)),
      );
      const [answer] = await Promise.all(answers);
      await Promise.all(sweeping);
      // Either it was in time, or it was swept a moment before and chosen anew: held once in any case.
      expect(answer).toMatchObject({ success: true, buyer_id: id });
      expect([await used(id), await holds()]).toEqual([all(1), 1]);
    },
  );

  test('of another buyer than the one that is held gives that one back', async () => {
    const [first, second] = [await buyer({ tier: 1 }), await buyer({ tier: 2 })];
    const at = await shop([first, second]);
    const { buyers } = await ping(at);
    expect((await post(at, { ping_id: buyers[1].ping_id })).buyer_id).toBe(second);
    await sweep();
    expect([await used(first), await used(second)]).toEqual([all(0), all(1)]);
  });
});

describe('the call that comes', () => {
  test('takes the hold over: caps are not taken up a second time, and come back when it ends', async () => {
    const id = await buyer({
      tier: 1,
      attempt_total_limit: 1,
      concurrency_cap_limit: 1,
      record_token_filter_list: ['state:CA'],
    });
    const at = await shop([id]);
    await numberOf(at);
    const { buyers } = await ping(at, { data: { state: 'CA' }, sub_id: 'ad-7' });
    const { forwarding_number } = await post(at, { ping_id: buyers[0].ping_id, zip: '90012' });
    const begun = (
      await ok('call_sessions', { number_called: forwarding_number, caller_number: CALLER })
    ).call_session;
    expect(begun.instruction).toMatchObject({ action: 'dial', dial: [{ buyer_id: id }] });
    expect([await used(id), await holds()]).toEqual([all(1), 0]);
    const [row] = await world.sql('SELECT sub_id, token_values FROM calls WHERE id = $1', [
      begun.id,
    ]);
    expect(row).toEqual({ sub_id: 'ad-7', token_values: { state: 'CA', zip: '90012' } });
    expect((await post(at, { ping_id: buyers[0].ping_id, zip: '90012' })).call_uuid).toBe(
      begun.uuid,
    );
    later(600);
    expect(await sweep()).toBe(0);
    await ok(`call_sessions/${begun.id}/events`, { event: 'completed' });
    expect(await used(id)).toEqual([1, 1, 1, 1, 0]);
    const { decisions } = (await world.company.api('get', `calls/${begun.id}/decision`)).body;
    expect(decisions[0].candidates).toMatchObject([
      { buyer_id: id, chosen: true, rank: 1, reason: null },
    ]);
    expect(decisions[0].caps).toContainEqual(
      expect.objectContaining({ cap: 'attempt_total', used: 0, limit: 1, buyer_id: id }),
    );
  });

  test('of each of two pings is one hold, however many come at once', async () => {
    const id = await buyer({ attempt_total_limit: 2 });
    const at = await shop([id]);
    await numberOf(at);
    await ping(at);
    await ping(at);
    const calls = await Promise.all(Array.from({ length: 6 }, () => call(at)));
    expect(calls.filter(({ instruction }) => instruction.action === 'dial')).toHaveLength(2);
    expect([await used(id), await holds()]).toEqual([all(2), 0]);
  });

  test('of somebody else, or after the time, has nothing held', async () => {
    const id = await buyer({ attempt_total_limit: 1 });
    const at = await shop([id]);
    await numberOf(at);
    await ping(at);
    expect((await call(at, '+13105550102')).instruction.action).not.toBe('dial');
    later(60);
    expect((await call(at)).instruction.action).not.toBe('dial');
    await sweep();
    expect((await call(at)).instruction.action).toBe('dial');
  });

  test('of a caller who was blacklisted meanwhile is not put through', async () => {
    const id = await buyer();
    const at = await shop([id]);
    await numberOf(at);
    await ping(at);
    await ok('contacts/caller_block', { caller_ids: [CALLER] });
    expect((await call(at)).instruction.action).toBe('hang_up');
    later(60);
    await sweep();
    expect(await used(id)).toEqual(all(0));
  });

  test('goes past us when there is no number of ours: it counts, and the slot comes back', async () => {
    const id = await buyer({ number: '+12125550177' });
    const at = await shop([id]);
    const { forwarding_number } = await ask('full', at, { caller_id: CALLER });
    expect(forwarding_number).toBe('+12125550177');
    later(60);
    await sweep();
    expect(await used(id)).toEqual([1, 1, 1, 1, 0]);
  });
});

/** A number of the offer, for calls to be forwarded to. */
async function numberOf({ offer }: Shop): Promise<void> {
  await ok('phone_numbers', { prefix: '212', offer_id: offer });
}
