import { useWorld } from '../../support/use-world';

const world = useWorld();
const { api, createRecord } = world;

const create = (body: object) => api('post', 'buyers', { body });
const createBuyer = (body: object) => createRecord('buyers', body);

describe('booleans', () => {
  test.each(['1', 'true', 'yes', 'on', 'YES', 'True', 1, true])('%p is true', async (paused) =>
    expect((await createBuyer({ paused })).paused).toBe(true),
  );
  test.each(['0', 'false', 'no', 'off', 'OFF', 0, false])('%p is false', async (paused) =>
    expect((await createBuyer({ paused })).paused).toBe(false),
  );
  test.each(['maybe', '2', 'y', 2, [], {}])('%p is refused on its field', async (paused) => {
    const res = await create({ paused });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['paused']]);
  });
});

describe('numbers', () => {
  test.each([
    ['30', 30],
    [30, 30],
    [' 30 ', 30],
    ['', 120],
  ])('%p is %p', async (timeoutSeconds, value) =>
    expect((await createBuyer({ timeout_seconds: timeoutSeconds })).timeout_seconds).toBe(value),
  );
  test.each(['Infinity', '1e999', '0x10', '1e2', '12.5', 'NaN', '12 s', null, true, [30]])(
    'timeout_seconds %p is refused',
    async (timeoutSeconds) => {
      const res = await create({ timeout_seconds: timeoutSeconds });
      expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['timeout_seconds']]);
    },
  );
  test.each(['Infinity', '1e9', '0x10', '1e999', '-1', '0', '1001', '1.5', 'ten'])(
    'per_page=%p is refused',
    async (perPage) => {
      const res = await api('get', `buyers?per_page=${perPage}`);
      expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['per_page']]);
    },
  );
  test('dollars have steps of 0.01, also where binary fractions are inexact', async () => {
    for (const amount of [0.29, 0.57, 1.13, 4.35, 1.1, 8.2])
      expect(
        await createBuyer({ current_conversion_revenue: amount, current_conversion_duration: 60 }),
      ).toMatchObject({ current_conversion_revenue: amount });
    expect((await create({ current_conversion_revenue: 0.001 })).status).toBe(422);
  });
});

describe('blanks', () => {
  test.each(['', null])(
    '%p clears a field that may be blank, and puts a default back',
    async (blank) => {
      const { id } = await createBuyer({
        dtmf_tones: '1w2',
        tier: 7,
        concurrency_cap_limit: 3,
        press_one_to_accept: true,
        record_token_filter_list: ['a:b'],
        user_buyer_id: `u${String(blank)}`,
      });
      const res = await api('put', `buyers/${id}`, {
        body: {
          dtmf_tones: blank,
          tier: blank,
          concurrency_cap_limit: blank,
          press_one_to_accept: blank,
          record_token_filter_list: blank,
          user_buyer_id: blank,
        },
      });
      expect(res.body.buyer).toMatchObject({
        dtmf_tones: null,
        tier: 1,
        concurrency_cap_limit: null,
        press_one_to_accept: false,
        record_token_filter_data: [],
        user_buyer_id: null,
      });
    },
  );
});

describe('lists', () => {
  test('as JSON, as one string, as repeated keys and with brackets are the same list', async () => {
    const ids = [(await createBuyer({})).id, (await createBuyer({})).id];
    const group = async (send: { body: unknown; headers?: Record<string, string> }) => {
      const res = await api('post', 'buyer_groups', send);
      expect([res.status, res.body.errors]).toEqual([201, {}]);
      return res.body.buyer_group.buyer_ids;
    };
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    expect(await group({ body: { name: 'g', buyer_ids: ids } })).toEqual(ids);
    expect(await group({ body: { name: 'g', buyer_ids: ids.join(',') } })).toEqual(ids);
    expect(await group({ body: { name: 'g', buyer_ids: ids.map(String) } })).toEqual(ids);
    expect(
      await group({ body: `name=g&buyer_ids[]=${ids[0]}&buyer_ids[]=${ids[1]}`, headers: form }),
    ).toEqual(ids);
    expect(
      await group({ body: `name=g&buyer_ids=${ids[0]}&buyer_ids=${ids[1]}`, headers: form }),
    ).toEqual(ids);
    expect(await group({ body: `name=g&buyer_ids=${ids.join(',')}`, headers: form })).toEqual(ids);
    for (const query of [
      `ids=${ids.join(',')}`,
      `ids[]=${ids[0]}&ids[]=${ids[1]}`,
      `ids=${ids[0]}&ids=${ids[1]}`,
      `ids%5B%5D=${ids[0]}&ids%5B%5D=${ids[1]}`,
    ]) {
      expect(
        (await api('get', `buyers?${query}`)).body.buyers.map(({ id }: { id: number }) => id),
      ).toEqual(ids);
    }
  });

  test('more than twenty with brackets are still a list', async () => {
    const query = Array.from({ length: 60 }, (_, n) => `ids[]=${n + 1}`).join('&');
    expect((await api('get', `buyers?${query}`)).status).toBe(200);
  });

  test('token filters may hold commas in their values', async () => {
    const buyer = await createBuyer({
      record_token_filter_list: 'state:in CA,NV,age:>=18',
      record_token_additional_list: 'source:a,b,kind:x',
    });
    expect([buyer.record_token_filter_data, buyer.record_token_additional_data]).toEqual([
      ['state:in CA,NV', 'age:>=18'],
      ['source:a,b', 'kind:x'],
    ]);
  });
});

describe('times', () => {
  const at = '2026-03-05T12:34:56.000Z';
  test.each([
    ['2026-03-05 12:34:56 +0000', at],
    ['2026-03-05 07:34:56 -0500', at],
    ['2026-03-05 12:34:56 UTC', at],
    ['2026-03-05T12:34:56Z', at],
    ['2026-03-05T12:34:56.000Z', at],
    ['2026-03-05T14:34:56+02:00', at],
    ['2026-03-05 12:34:56', at],
    ['2026-03-05', '2026-03-05T00:00:00.000Z'],
  ])('%s', async (text, instant) => {
    const res = await api('post', 'access_tokens', {
      body: { name: 'k', kind: 'key_pair', expires_at: text },
    });
    expect([res.status, new Date(res.body.access_token?.expires_at).toISOString()]).toEqual([
      201,
      instant,
    ]);
  });

  test.each([
    'yesterday',
    '2026-02-30',
    '2026-13-01',
    '2026-03-05 25:00:00',
    '2026-03-05 12:34:56 +9900',
    '12/31/2026',
  ])('%p is refused', async (text) => {
    const res = await api('get', 'buyers', { query: { created_at_from: text } });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['created_at_from']]);
  });

  test('without an offset time_zone decides; a plus sign may arrive as a space', async () => {
    const { id } = await createBuyer({ name: 'Timed' });
    await world.sql("UPDATE buyers SET created_at = '2026-03-08T07:30:00Z' WHERE id = $1", [id]);
    const countBuyers = async (query: string) =>
      (await api('get', `buyers?ids=${id}&${query}`)).body.buyers.length;
    const zone = 'time_zone=America%2FNew_York';
    expect(
      await countBuyers(
        `created_at_from=2026-03-08 02:30:00&created_at_to=2026-03-08 02:30:00&${zone}`,
      ),
    ).toBe(1); // an hour that does not exist there
    expect(await countBuyers(`created_at_from=2026-03-08 03:31:00&${zone}`)).toBe(0);
    expect(
      await countBuyers(
        'created_at_from=2026-03-08 09:30:00 +0200&created_at_to=2026-03-08 09:30:00 +0200',
      ),
    ).toBe(1);
    expect(await countBuyers('created_at_from=2026-03-08%2009:30:00%20%2B0200')).toBe(1);
    const shown = await api(
      'get',
      `buyers?ids=${id}&columns=created_at&time_zone=Eastern Time (US %26 Canada)`,
    );
    expect(shown.body.buyers).toEqual([{ created_at: '2026-03-08T03:30:00.000-04:00' }]);
    const kolkata = await api('get', `buyers?ids=${id}&columns=created_at&time_zone=Asia/Kolkata`);
    expect(kolkata.body.buyers).toEqual([{ created_at: '2026-03-08T13:00:00.000+05:30' }]);
  });
});

describe('references', () => {
  test('take the number or the uuid, as text or number', async () => {
    const buyer = await createBuyer({});
    for (const name of [buyer.id, String(buyer.id), buyer.uuid, buyer.uuid.toUpperCase()]) {
      expect((await api('get', `buyers/${name}`)).body.buyer.id).toBe(buyer.id);
      const group = await api('post', 'buyer_groups', {
        body: { name: 'g', buyer_ids: [name] },
      });
      expect(group.body.buyer_group.buyer_ids).toEqual([buyer.id]);
    }
  });
});

describe('text that PostgreSQL cannot store', () => {
  test.each([
    ['U+0000', 'a\u0000b'],
    ['an unpaired surrogate', 'a\ud800b'],
  ])('%s is refused in a body, a key and a query', async (_, text) => {
    expect((await create({ name: text })).body.errors).toEqual({ name: [expect.any(String)] });
    expect(
      (await create({ business_hours_schedule: [{ schedule: [{ day: 1, times: [text] }] }] }))
        .status,
    ).toBe(422);
    expect((await create({ [text]: 1 })).status).toBe(422);
    if (text.includes('\u0000'))
      expect((await api('get', 'buyers?fulltext=a%00b')).status).toBe(422);
  });
});
