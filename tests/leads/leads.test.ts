import { standingClock } from '../support/clock';
import { NOON, openShop, ownNumber, runEngine, submit, type Shop } from '../support/leads';
import { createWorld, type Company, type World } from '../support/world';

type Fields = Record<string, unknown>;

let world: World;
let theirs: Company;
let shop: Shop;
let their_shop: Shop;
const time = standingClock(NOON);
beforeAll(async () => {
  world = await createWorld({ clock: time.read });
  theirs = await world.addCompany('Theirs');
  await ownNumber(world, theirs, '12125550177');
  shop = await openShop(world, [
    { action_type: 'sms', body: 'first' },
    { action_type: 'wait', wait_amount: 1, wait_unit: 'days' },
    { action_type: 'sms', body: 'second' },
  ]);
  their_shop = await openShop(world, [], {}, theirs);
});
beforeEach(() => time.set(NOON));
afterAll(() => world.close());

let numbers = 3_105_556_000;
const fresh = () => String(numbers++);
const api = (...args: Parameters<Company['api']>) => world.company.api(...args);
const post = (lead_token: string, fields: Fields) =>
  api('post', 'leads', { auth: null, body: { lead_token, ...fields } });
const made = async (lead_token: string, fields: Fields = {}) => {
  const res = await post(lead_token, { caller_id: fresh(), ...fields });
  expect([res.status, res.body.errors]).toEqual([201, {}]);
  return res.body.lead;
};
const scheduled = (fields: Fields = {}) => made(shop.schedule.lead_token, fields);
const shown = async ({ id }: { id: number }) => (await api('get', `leads/${id}`)).body.lead;
const change = async ({ id }: { id: number }, body: Fields) => {
  const res = await api('put', `leads/${id}`, { body });
  expect([res.status, res.body.errors]).toEqual([200, {}]);
  return res.body.lead;
};
const faults = async ({ id }: { id: number }, body: Fields) => {
  const before = await shown({ id });
  const res = await api('put', `leads/${id}`, { body });
  expect([res.status, await shown({ id })]).toEqual([422, before]);
  return Object.keys(res.body.errors);
};
const remove = ({ caller_id }: Fields, lead_token: string) =>
  api('post', `leads/${String(caller_id)}/caller_remove`, { auth: null, query: { lead_token } });
const at = async (when: string) => {
  time.set(when);
  await runEngine(world);
};
const texts = async ({ id }: { id: number }) =>
  (
    await world.sql<{ body: string }>(
      'SELECT body FROM text_messages WHERE lead_id = $1 ORDER BY id',
      [id],
    )
  ).map(({ body }) => body);
const iso = (text: string) => text.replace('Z', '.000+00:00');

describe('a list of leads', () => {
  let own: Company;
  let names: Record<string, number | string>;
  beforeAll(async () => {
    time.set(NOON);
    own = await world.addCompany('Lister');
    await ownNumber(world, own, '12125550166');
    const { schedule, offer } = await openShop(world, [{ action_type: 'sms', body: 'x' }], {}, own);
    const record = async (path: string, body: Fields) =>
      (await own.api('post', path, { body })).body[path.slice(0, -1)];
    const source = await record('traffic_sources', {
      name: 'Radio',
      user_traffic_source_id: 'radio',
    });
    const buyer = await record('buyers', { name: 'Buyer' });
    const uuid = async (path: string, id: number) =>
      (await own.api('get', `${path}s/${id}`)).body[path].uuid;
    names = {
      offer: offer.id,
      schedule: schedule.id,
      source: source.id,
      source_uuid: source.uuid,
      buyer: buyer.id,
      buyer_uuid: buyer.uuid,
      offer_uuid: await uuid('offer', offer.id),
      schedule_uuid: await uuid('schedule', schedule.id),
    };
    const add = async (name: string, lead_token: string, fields: Fields) => {
      const res = await own.api('post', 'leads', {
        auth: null,
        body: { lead_token, sub_id: name, ...fields },
      });
      names[name] = res.body.id;
      names[`${name}_uuid`] = res.body.lead.uuid;
    };
    await add('a', offer.lead_token, {
      caller_id: '3105557001',
      email: 'ann@example.com',
      full_name: 'Ann Lee',
      lead_priority: 3,
    });
    time.set('2027-01-12T17:00:01Z');
    await add('b', schedule.lead_token, {
      caller_id: '3105557002',
      next_action_at: '2027-02-01',
      traffic_source_id: 'radio',
      lead_priority: 1,
    });
    time.set('2027-01-12T17:00:02Z');
    await add('c', schedule.lead_token, {
      caller_id: '3105557003',
      next_action_at: '2027-03-01',
      email: 'cid@example.com',
      first_name: '=1+1',
      last_name: '"C", D',
    });
    time.set('2027-01-12T17:00:03Z');
    await add('d', schedule.lead_token, { caller_id: '3105557004', lead_priority: -2.5 });
    await own.api('put', 'leads/3105557004/caller_opt_out', {
      auth: null,
      query: { lead_token: schedule.lead_token },
    });
    await add('e', schedule.lead_token, { caller_id: '3105557002', expire_existing: true });
    await world.sql(
      'UPDATE leads SET buyer_id = $2, buyer_converted = true WHERE company_id = $1 AND sub_id = $3',
      [own.id, buyer.id, 'a'],
    );
  });
  const found = async (query: Fields | string) => {
    const { status, body } = await own.api(
      'get',
      typeof query === 'string' ? `leads?${query}` : 'leads',
      typeof query === 'string' ? {} : { query },
    );
    expect([status, body.metadata.total_count]).toEqual([200, body.leads.length]);
    return body.leads.map(({ sub_id }: Fields) => sub_id).join('');
  };

  test.each<[string, string]>([
    ['', 'abcde'],
    ['offer_id={offer}', 'abcde'],
    ['offer_id={offer_uuid}', 'abcde'],
    ['schedule_id={schedule}', 'bcde'],
    ['schedule_id={schedule_uuid}', 'bcde'],
    ['traffic_source_id={source}', 'b'],
    ['traffic_source_id={source_uuid}', 'b'],
    ['buyer_id={buyer}', 'a'],
    ['buyer_id={buyer_uuid}', 'a'],
    ['offer_id=999999', ''],
    ['status=queue', 'a'],
    ['status=scheduled', 'ce'],
    ['status=expired', 'b'],
    ['status=opt_out', 'd'],
    ['status=running', ''],
    ['number=3105557002', 'be'],
    ['number=%2B13105557002', 'be'],
    ['number=(310) 555-7002', 'be'],
    ['number=3105557999', ''],
    ['email=ann@example.com', 'a'],
    ['email=ann', ''],
    ['has_next_action=true', 'ce'],
    ['has_next_action=no', 'abd'],
    ['buyer_converted=1', 'a'],
    ['buyer_converted=0', 'bcde'],
    ['opt_out=yes', 'd'],
    ['opt_out=false', 'abce'],
    ['next_action_at_from=2027-03-01 00:00:00 +0000', 'c'],
    ['next_action_at_to=2027-02-28', 'e'],
    ['next_action_at_from=2027-01-12&next_action_at_to=2027-04-01', 'ce'],
    ['created_at_from=2027-01-12 17:00:02 +0000', 'cde'],
    ['created_at_to=2027-01-12 17:00:01 +0000', 'ab'],
    ['created_at_from=2027-01-12 12:00:02&time_zone=America/New_York', 'cde'],
    ['ids={b},{d}', 'bd'],
    ['ids[]={b_uuid}&ids[]={c}', 'bc'],
    ['ids=999999', ''],
    ['fulltext=ann lee', 'a'],
    ['fulltext=cid@', 'c'],
    ['fulltext=5557002', 'be'],
    ['fulltext=%25', ''],
    ['status=scheduled&email=cid@example.com&opt_out=0', 'c'],
  ])('filtered by %j has %j', async (query, expected) => {
    expect(await found(query.replace(/\{(\w+)\}/g, (_, name: string) => String(names[name])))).toBe(
      expected,
    );
  });

  test.each([
    'status=gone',
    'number=abc',
    'offer_id=abc',
    'has_next_action=maybe',
    'next_action_at_from=soon',
    'order=name',
    'order_dir=up',
    'per_page=0',
  ])('by %j is refused', async (query) => {
    const { status, body } = await own.api('get', `leads?${query}`);
    expect([status, Object.keys(body.errors)]).toEqual([422, [query.split('=')[0]]]);
  });

  test.each([
    ['id', 'abcde'],
    ['created_at', 'abcde'],
    ['updated_at', 'acbde'],
    ['status', 'bdace'],
    ['lead_priority', 'dbace'],
    ['next_action_at', 'ecabd'],
    ['last_action_at', 'abcde'],
    ['email', 'acbde'],
  ])(
    'in the order of %s is complete and in order, page by page, by cursor and by number, up and down',
    async (order, ascending) => {
      const all = async (order_dir: string) =>
        (await own.api('get', 'leads', { query: { order, order_dir } })).body.leads.map(
          ({ sub_id }: Fields) => sub_id,
        );
      const [up, down] = [await all('asc'), await all('desc')];
      expect(up.join('')).toBe(ascending);
      expect(down.toReversed()).toEqual(up);
      for (const [order_dir, whole] of [
        ['asc', up],
        ['desc', down],
      ]) {
        const [by_cursor, by_page]: string[][] = [[], []];
        for (let cursor: unknown = -1, n = 0; cursor !== 0 && n < 5; n++) {
          const { leads, metadata } = (
            await own.api('get', 'leads', { query: { order, order_dir, per_page: 2, cursor } })
          ).body;
          by_cursor!.push(...leads.map(({ sub_id }: Fields) => sub_id));
          cursor = metadata.next_cursor;
        }
        for (const page of [1, 2, 3])
          by_page!.push(
            ...(
              await own.api('get', 'leads', { query: { order, order_dir, per_page: 2, page } })
            ).body.leads.map(({ sub_id }: Fields) => sub_id),
          );
        expect([by_cursor, by_page]).toEqual([whole, whole]);
      }
    },
  );

  test('as CSV has a header, a line a lead, and no formula', async () => {
    const { text, headers } = await own.api('get', 'leads.csv', {
      query: { columns: 'id,caller_id,full_name,has_next_action,data', status: 'scheduled' },
    });
    expect([headers['content-type'], headers['content-disposition']]).toEqual([
      expect.stringContaining('text/csv'),
      expect.stringContaining('leads.csv'),
    ]);
    const lines = text.trim().split('\n');
    expect(lines[0]).toBe('id,caller_id,full_name,has_next_action,data');
    expect(lines[1]).toBe(
      `${names.c},+13105557003,"'=1+1 ""C"", D",true,"{""last_name"": ""\\""C\\"", D"", ""first_name"": ""=1+1""}"`,
    );
    expect(lines).toHaveLength(3);
    const whole = (await own.api('get', 'leads', { query: { format: 'csv' } })).text
      .trim()
      .split('\n');
    expect([whole.length, whole[0]!.split(',').slice(0, 3), whole[0]!.split(',').at(-1)]).toEqual([
      6,
      ['id', 'legacy_id', 'type'],
      'data',
    ]);
  });

  test('has the columns that are asked for, of the serializer, and no more', async () => {
    const { leads, metadata } = (
      await own.api('get', 'leads', { query: { columns: 'id,contact_id,nonsense', per_page: 1 } })
    ).body;
    expect([leads, metadata.unknown_columns, metadata.total_count]).toEqual([
      [{ id: names.a, contact_id: null }],
      ['nonsense'],
      5,
    ]);
    const keys = async (serializer: string) =>
      Object.keys((await own.api('get', 'leads', { query: { serializer, root: false } })).body[0]);
    const [usual, grid, external] = [
      await keys('lead'),
      await keys('lead_grid'),
      await keys('lead_external'),
    ];
    expect(grid).toEqual([...usual, 'contact_id', 'next_schedule_action_id']);
    expect(usual).toEqual(expect.arrayContaining([...external, 'caller_id', 'data']));
    expect(external).not.toEqual(expect.arrayContaining(['caller_id']));
  });

  test('is of one company alone', async () => {
    expect(await found({ number: '3105557001' })).toBe('a');
    for (const query of [
      { number: '3105557001' },
      { ids: names.a },
      { offer_id: names.offer_uuid },
    ])
      expect((await api('get', 'leads', { query })).body.leads).toEqual([]);
    expect((await api('get', `leads/${names.a}`)).status).toBe(404);
    expect((await own.api('get', `leads/${names.a_uuid}`)).body.lead.id).toBe(names.a);
  });
});

describe('a change of a lead', () => {
  test.each<[string, Fields]>([
    ['email', { email: 'new@example.com' }],
    ['contact_field_type', { contact_field_type: '17' }],
    ['sub_id', { sub_id: 's-2' }],
    ['lead_priority', { lead_priority: -1.5 }],
    ['hours_to_expire', { hours_to_expire: 48 }],
    ['max_contact_attempts', { max_contact_attempts: 7 }],
    ['external_record_id', { external_record_id: 'crm-1' }],
  ])('of %s keeps the rest, and null clears it', async (name, fields) => {
    const before = await scheduled({
      email: 'ann@example.com',
      sub_id: 's-1',
      first_name: 'Ann',
      next_action_at: '2027-02-01',
      hours_to_expire: 2000,
    });
    time.set('2027-01-12T17:00:01Z');
    const now = iso('2027-01-12T17:00:01Z');
    const expected = { ...before, ...fields, updated_at: now, user_updated_at: now };
    expect(await change(before, fields)).toEqual(expected);
    await runEngine(world);
    expect(await shown(before)).toMatchObject({ ...fields, next_action_at: before.next_action_at });
    expect((await change(before, { [name]: null }))[name]).toBe(null);
    expect((await change(before, { [name]: String(Object.values(fields)[0]) }))[name]).toBe(
      Object.values(fields)[0],
    );
  });

  test('of traffic_source_id takes number, uuid and the company’s own identifier', async () => {
    const [mine, other] = [
      await api('post', 'traffic_sources', { body: { name: 'S', user_traffic_source_id: 'tv' } }),
      await theirs.api('post', 'traffic_sources', { body: { name: 'S' } }),
    ];
    const lead = await scheduled();
    const { id, uuid } = mine.body.traffic_source;
    for (const traffic_source_id of [id, uuid, 'tv', String(id)])
      expect((await change(lead, { traffic_source_id })).traffic_source_id).toBe(id);
    expect((await change(lead, { traffic_source_id: null })).traffic_source_id).toBe(null);
    for (const traffic_source_id of [other.body.traffic_source.id, 'radio'])
      expect(await faults(lead, { traffic_source_id })).toEqual(['traffic_source_id']);
  });

  test('of data adds, replaces and, with null, removes tokens; the zone follows the ZIP code', async () => {
    const lead = await scheduled({
      first_name: 'Ann',
      last_name: 'Lee',
      address: { city: 'LA', street: null },
    });
    expect(
      (await change(lead, { data: { 'First Name': 'Eve', last_name: null, age: 7 } })).data,
    ).toEqual({ first_name: 'Eve', address: { city: 'LA', street: null }, age: 7 });
    expect((await change(lead, { data: null })).data).toEqual({
      first_name: 'Eve',
      address: { city: 'LA', street: null },
      age: 7,
    });
    expect(
      (await post(shop.schedule.lead_token, { caller_id: lead.caller_id, age: null })).body.lead
        .data,
    ).toEqual({ first_name: 'Eve', address: { city: 'LA', street: null } });
    expect([
      lead.time_zone,
      (await change(lead, { data: { zip: '10001' } })).zip_postal_code,
    ]).toEqual(['America/Los_Angeles', '10001']);
    expect(
      (await world.sql<Fields>('SELECT zones FROM leads WHERE id = $1', [lead.id]))[0]!.zones,
    ).toEqual(['America/Los_Angeles', 'America/New_York']);
    expect((await change(lead, { data: { zip: { toString: 1 } } })).data.zip).toEqual({
      toString: 1,
    });
  });

  test.each([
    ['opt_out', 'opt_out'],
    ['blocked', 'blocked'],
  ])(
    'of %s holds for all leads of the number, and stops them until it is taken back',
    async (name, status) => {
      const lead = await scheduled();
      const other = await made(shop.offer.lead_token, {
        caller_id: lead.caller_id,
        expires_in: 600,
      });
      expect(await change(lead, { [name]: true })).toMatchObject({
        [name]: true,
        status,
        has_next_action: false,
        is_live: true,
      });
      expect(await shown(other)).toMatchObject({ [name]: true, status });
      await runEngine(world);
      expect(await texts(lead)).toEqual([]);
      expect(await change(lead, { [name]: false })).toMatchObject({
        [name]: false,
        status: 'scheduled',
        has_next_action: true,
      });
      expect(await shown(other)).toMatchObject({ [name]: false, status: 'queue' });
      await runEngine(world);
      expect(await texts(lead)).toEqual(['first']);
    },
  );

  test('of next_action_at moves the next action; null has it done at once', async () => {
    const [moved, hurried] = [await scheduled(), await scheduled()];
    await runEngine(world);
    expect(
      await change(moved, { next_action_at: '2027-01-12 13:00:00', time_zone: 'America/New_York' }),
    ).toMatchObject({ next_action_at: iso('2027-01-12T18:00:00Z'), status: 'scheduled' });
    await change(hurried, { next_action_at: null });
    await runEngine(world);
    expect([await texts(moved), await texts(hurried)]).toEqual([['first'], ['first', 'second']]);
    await at('2027-01-12T18:00:00Z');
    expect(await texts(moved)).toEqual(['first', 'second']);
  });

  test.each(['offer', 'schedule'] as const)(
    'of schedule_callback_at has the lead of an %s called then; null takes the callback back',
    async (owner) => {
      const buyer = (await api('post', 'buyers', { body: { name: 'B', number: '+13105550188' } }))
        .body.buyer;
      await api('put', `offers/${shop.offer.id}`, { body: { buyer_ids: [buyer.id] } });
      const [called, canceled] = [
        await made(shop[owner].lead_token),
        await made(shop[owner].lead_token),
      ];
      for (const lead of [called, canceled])
        expect(
          await change(lead, { schedule_callback_at: '2027-01-12 18:00:00 +0000' }),
        ).toMatchObject({
          status: 'waiting',
          next_action_at: iso('2027-01-12T18:00:00Z'),
          scheduled_callback_id: expect.any(Number),
        });
      expect(await change(canceled, { schedule_callback_at: null })).toMatchObject({
        scheduled_callback_id: null,
        status: owner === 'offer' ? 'queue' : 'scheduled',
        has_next_action: owner === 'schedule',
      });
      await at('2027-01-12T18:00:00Z');
      const calls = async ({ id }: { id: number }) =>
        (await world.sql('SELECT FROM calls WHERE lead_id = $1', [id])).length;
      expect([await calls(called), await calls(canceled), (await shown(canceled)).status]).toEqual([
        1,
        0,
        owner === 'offer' ? 'queue' : 'waiting',
      ]);
    },
  );

  test('of restart_schedule begins its schedule anew, for a lead that has ended too', async () => {
    const lead = await scheduled();
    await runEngine(world);
    await change(lead, { restart_schedule: true });
    await runEngine(world);
    expect(await texts(lead)).toEqual(['first', 'first']);
    await remove(lead, shop.schedule.lead_token);
    expect(
      await change(lead, { restart_schedule: true, next_action_at: '2027-01-12 18:00:00 +0000' }),
    ).toMatchObject({ is_live: true, status: 'scheduled', schedule_ended_at: null });
    await at('2027-01-12T18:00:00Z');
    expect(await texts(lead)).toEqual(['first', 'first', 'first']);
    expect((await post(shop.schedule.lead_token, { caller_id: lead.caller_id })).body.id).toBe(
      lead.id,
    );
  });

  test('is refused where it has no sense', async () => {
    const [offered, ended, live] = [
      await made(shop.offer.lead_token),
      await scheduled(),
      await scheduled(),
    ];
    await remove(ended, shop.schedule.lead_token);
    expect(await faults(offered, { next_action_at: '2027-02-01' })).toEqual(['next_action_at']);
    expect(await faults(offered, { restart_schedule: true })).toEqual(['restart_schedule']);
    expect((await change(offered, { next_action_at: null })).has_next_action).toBe(false);
    expect(await faults(ended, { next_action_at: '2027-02-01' })).toEqual(['next_action_at']);
    expect(await faults(ended, { schedule_callback_at: '2027-02-01' })).toEqual([
      'schedule_callback_at',
    ]);
    await scheduled({ caller_id: ended.caller_id });
    expect(await faults(ended, { restart_schedule: true })).toEqual(['restart_schedule']);
    for (const [name, value] of [
      ['email', 'a@b.example\r\nBcc: c@d.example'],
      ['email', 'a@b.example,c@d.example'],
      ['caller_id', '3105550123'],
      ['status', 'queue'],
      ['data', []],
      ['sub_id', 'x\0'],
      ['hours_to_expire', 0],
      ['first_name', 'x'],
    ])
      expect(await faults(live, { [name as string]: value })).toEqual([name]);
    for (const data of [
      { '😀': 1 },
      { a: 'x'.repeat(65_536) },
      { n: Array.from({ length: 1_000 }, () => 1e300) },
    ])
      expect(await faults(live, { data })).toHaveLength(1);
  });

  test('of restart_schedule, of two ended leads of a number at once, brings one of them back', async () => {
    const first = await scheduled();
    await remove(first, shop.schedule.lead_token);
    const second = await scheduled({ caller_id: first.caller_id });
    await remove(second, shop.schedule.lead_token);
    const both = await Promise.all(
      [first, second].map(({ id }) =>
        api('put', `leads/${id}`, { body: { restart_schedule: true } }),
      ),
    );
    expect(both.map(({ status, body }) => [status, Object.keys(body.errors)]).toSorted()).toEqual([
      [200, []],
      [422, ['restart_schedule']],
    ]);
    expect([(await shown(first)).is_live, (await shown(second)).is_live].toSorted()).toEqual([
      false,
      true,
    ]);
  });

  test('of a lead whose schedule is paused comes into effect when it goes on', async () => {
    const { schedule } = await openShop(world, [{ action_type: 'sms', body: 'first' }], {
      paused: true,
    });
    const lead = await made(schedule.lead_token);
    for (const fields of [
      { restart_schedule: true },
      { hours_to_expire: 5 },
      { next_action_at: '2027-01-12 18:00:00 +0000' },
    ])
      expect(await change(lead, fields)).toMatchObject({
        status: 'disabled',
        has_next_action: false,
        is_live: true,
      });
    await runEngine(world);
    expect(await texts(lead)).toEqual([]);
  });

  test('that would make the data grow beyond 128 kB is refused', async () => {
    const lead = await scheduled();
    for (const name of ['a', 'b']) await change(lead, { data: { [name]: 'x'.repeat(60_000) } });
    expect(await faults(lead, { data: { c: 'x'.repeat(60_000) } })).toEqual(['data']);
  });
});

describe('a deleted lead', () => {
  test('is gone, nothing more goes out to it, and its number is free again', async () => {
    const lead = await scheduled();
    const total = (await api('get', 'leads')).body.metadata.total_count;
    expect((await api('delete', `leads/${lead.id}`)).status).toBe(405);
    const res = await api('delete', `leads/${lead.uuid}/id`);
    expect([res.status, res.body.lead]).toMatchObject([
      200,
      { id: lead.id, is_live: false, deleted_at: expect.any(String) },
    ]);
    expect((await api('get', 'leads')).body.metadata.total_count).toBe(total - 1);
    for (const [method, path] of [
      ['get', `leads/${lead.id}`],
      ['put', `leads/${lead.id}`],
      ['delete', `leads/${lead.id}/id`],
      ['get', `leads/${lead.id}/timeline`],
    ] as const)
      expect(
        (await api(method, path, method === 'put' ? { body: { sub_id: 'x' } } : {})).status,
      ).toBe(404);
    expect(
      (
        await api('put', `leads/${lead.caller_id}/caller_opt_out`, {
          auth: null,
          query: { lead_token: shop.schedule.lead_token },
        })
      ).status,
    ).toBe(404);
    await runEngine(world);
    expect(await texts(lead)).toEqual([]);
    expect((await scheduled({ caller_id: lead.caller_id })).id).not.toBe(lead.id);
  });
});

describe('by_caller_number', () => {
  const by = (lead_token: string, number: string, query: Fields = {}) =>
    api('get', `leads/${lead_token}/${number}/by_caller_number`, { auth: null, query });

  test('answers the live lead of a number at the owner of the token, else the last one', async () => {
    const number = fresh();
    const [old, offered] = [
      await scheduled({ caller_id: number }),
      await made(shop.offer.lead_token, { caller_id: number }),
    ];
    await remove(old, shop.schedule.lead_token);
    const { lead_token } = shop.schedule;
    for (const spelled of [
      number,
      `+1${number}`,
      encodeURIComponent(`(${number.slice(0, 3)}) ${number.slice(3)}`),
    ])
      expect((await by(lead_token, spelled)).body.lead.id).toBe(old.id);
    const live = await scheduled({ caller_id: number });
    expect([
      (await by(lead_token, number)).body.lead.id,
      (await by(shop.offer.lead_token, number)).body.lead.id,
    ]).toEqual([live.id, offered.id]);
    expect(
      (await by(lead_token, number, { serializer: 'lead_external' })).body.lead.caller_id,
    ).toBeUndefined();
    expect([
      (await by(lead_token, fresh())).status,
      (await by(their_shop.schedule.lead_token, number)).status,
      (await by('f'.repeat(32), number)).status,
    ]).toEqual([404, 404, 401]);
    expect(Object.keys((await by(lead_token, '911')).body.errors)).toEqual(['caller_number']);
  });
});

describe('capture', () => {
  const capture = (body: Fields, sent: Fields = {}) =>
    api('post', 'leads/capture', { body: { caller_id: fresh(), ...body }, ...sent });

  test('submits a lead with the credentials of the company, to the offer or schedule that is named', async () => {
    const { uuid } = (await api('get', `schedules/${shop.schedule.id}`)).body.schedule;
    const other = await openShop(world, []);
    for (const [named, schedule_id, offer_id] of [
      [{ schedule_id: shop.schedule.id }, shop.schedule.id, shop.offer.id],
      [{ schedule_id: uuid }, shop.schedule.id, shop.offer.id],
      [{ offer_id: String(shop.offer.id) }, null, shop.offer.id],
      [
        { schedule_id: shop.schedule.id, offer_id: other.offer.id },
        shop.schedule.id,
        other.offer.id,
      ],
    ] as const) {
      const { status, body } = await capture({
        ...named,
        first_name: 'Ann',
        lead_token: 'x',
        data: { zip: '90210' },
      });
      expect([status, body.lead]).toMatchObject([
        201,
        { schedule_id, offer_id, data: { first_name: 'Ann', zip: '90210' } },
      ]);
      expect(Object.keys(body.lead.data)).toHaveLength(2);
    }
    const by_query = await api('post', 'leads/capture', {
      query: { caller_id: fresh(), offer_id: shop.offer.id, first_name: 'Ann' },
    });
    expect([by_query.status, by_query.body.lead.data]).toEqual([201, { first_name: 'Ann' }]);
    const again = await capture({
      caller_id: by_query.body.lead.caller_id,
      offer_id: shop.offer.id,
    });
    expect([again.status, again.body.id]).toEqual([200, by_query.body.id]);
  });

  test('refuses owners that are none, are deleted or are another company’s, and callers without leads:create', async () => {
    const { schedule } = await openShop(world, []);
    await api('delete', `schedules/${schedule.id}`);
    for (const [named, field] of [
      [{}, 'schedule_id'],
      [{ offer_id: null }, 'schedule_id'],
      [{ schedule_id: schedule.id }, 'schedule_id'],
      [{ schedule_id: their_shop.schedule.id }, 'schedule_id'],
      [{ offer_id: their_shop.offer.id }, 'offer_id'],
      [{ offer_id: 'x' }, 'offer_id'],
    ] as const) {
      const { status, body } = await capture(named);
      expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
    }
    const auth = await world.credentials(world.company, ['leads:read', 'leads:update']);
    expect((await capture({ offer_id: shop.offer.id }, { auth })).status).toBe(403);
    const creator = await world.credentials(world.company, ['leads:create']);
    expect((await capture({ offer_id: shop.offer.id }, { auth: creator })).status).toBe(201);
    expect(
      (await capture({ offer_id: shop.offer.id, unblock_contact: true }, { auth: creator })).status,
    ).toBe(403);
    expect((await capture({ offer_id: shop.offer.id, unblock_contact: true })).status).toBe(201);
    expect((await capture({ lead_token: shop.offer.lead_token }, { auth: null })).status).toBe(401);
  });
});

test('numbers without country code are those of the country of the company', async () => {
  const british = await world.addCompany('British');
  await world.sql(`UPDATE companies SET country = 'GB' WHERE id = $1`, [british.id]);
  const { id, lead_token } = (await british.api('post', 'offers', { body: { name: 'Offer' } })).body
    .offer;
  const { lead } = (
    await british.api('post', 'leads', {
      auth: null,
      body: { lead_token, caller_id: '07700 900123' },
    })
  ).body;
  expect(lead.caller_id).toBe('+447700900123');
  expect(
    (
      await british.api('post', 'leads/capture', {
        body: { offer_id: id, caller_id: '07700900123' },
      })
    ).body.id,
  ).toBe(lead.id);
  expect(
    (
      await british.api('get', `leads/${lead_token}/07700%20900123/by_caller_number`, {
        auth: null,
      })
    ).body.lead.id,
  ).toBe(lead.id);
  expect(
    (
      await british.api('put', 'leads/07700900123/caller_opt_out', {
        auth: null,
        query: { lead_token },
      })
    ).body.lead.id,
  ).toBe(lead.id);
});

describe.each(['offer', 'schedule'] as const)('a submission to an %s with', (owner) => {
  test('update_all_matching_leads applies the data to all leads of the offer or schedule and caller_id, ended ones too, and to no other', async () => {
    const { lead_token } = shop[owner];
    const ended = await made(lead_token, { first_name: 'Ann', last_name: 'Lee', sub_id: 's' });
    await remove(ended, lead_token);
    const live = await made(lead_token, { caller_id: ended.caller_id, first_name: 'Bea' });
    const others = [
      await made(shop[owner === 'offer' ? 'schedule' : 'offer'].lead_token, {
        caller_id: ended.caller_id,
      }),
      await made(lead_token),
    ];
    const res = await post(lead_token, {
      caller_id: ended.caller_id,
      update_all_matching_leads: true,
      email: 'ann@example.com',
      first_name: 'Eve',
      last_name: null,
    });
    expect([res.status, res.body.id, res.body.lead.data]).toEqual([
      200,
      live.id,
      { first_name: 'Eve' },
    ]);
    expect(await shown(ended)).toMatchObject({
      email: 'ann@example.com',
      data: { first_name: 'Eve' },
      sub_id: 's',
      status: 'disabled',
      is_live: false,
    });
    expect(Object.keys((await shown(ended)).data)).toEqual(['first_name']);
    for (const other of others) expect(await shown(other)).toEqual(other);
    await post(lead_token, { caller_id: ended.caller_id, first_name: 'Zoe' });
    expect([(await shown(ended)).data, (await shown(live)).data]).toEqual([
      { first_name: 'Eve' },
      { first_name: 'Zoe' },
    ]);
  });

  test("apply_to=calls applies the data to the lead's calls too, and with update_all_matching_leads to those of all", async () => {
    const { lead_token } = shop[owner];
    const ended = await made(lead_token);
    await remove(ended, lead_token);
    const [live, other] = [
      await made(lead_token, { caller_id: ended.caller_id }),
      await made(lead_token),
    ];
    const call = async ({ id }: { id: number }) =>
      (
        await world.sql<{ id: string }>(
          `INSERT INTO calls (company_id, uuid, direction, from_number, to_number, status, carrier, lead_id, token_values) VALUES ($1, gen_random_uuid(), 'outbound', 1, 2, 'completed', 'sandbox', $2, '{"a":"1","b":"2"}') RETURNING id`,
          [world.company.id, id],
        )
      )[0]!.id;
    const ids = [await call(ended), await call(live), await call(other)];
    const tokens = async () =>
      (
        await world.sql<Fields>(
          'SELECT token_values FROM calls WHERE id = ANY($1::bigint[]) ORDER BY id',
          [ids],
        )
      ).map(({ token_values }) => token_values);
    const before = { a: '1', b: '2' };
    await post(lead_token, { caller_id: live.caller_id, a: '3' });
    expect(await tokens()).toEqual([before, before, before]);
    await post(lead_token, { caller_id: live.caller_id, a: '3', b: null, apply_to: 'calls' });
    expect(await tokens()).toEqual([before, { a: '3' }, before]);
    await post(lead_token, {
      caller_id: live.caller_id,
      a: '4',
      apply_to: 'calls',
      update_all_matching_leads: 'true',
    });
    expect(await tokens()).toEqual([{ a: '4', b: '2' }, { a: '4' }, before]);
  });
});

test('of the callbacks of a lead at most one is to come: the others were replaced, made or called off', async () => {
  const shop = await openShop(world, []);
  const submitted = await submit(world, shop.offer.lead_token, {
    caller_id: '3105550171',
    schedule_callback_in_seconds: 3600,
  });
  const { id } = submitted.body;
  const statuses = async () =>
    (
      await world.sql<{ status: string }>(
        'SELECT status FROM scheduled_callbacks WHERE lead_id = $1 ORDER BY id',
        [id],
      )
    ).map(({ status }) => status);
  await submit(world, shop.offer.lead_token, {
    caller_id: '3105550171',
    schedule_callback_in_seconds: 7200,
  });
  expect(await statuses()).toEqual(['replaced', 'pending']);
  await world.company.api('put', `leads/${id}`, {
    body: { schedule_callback_at: '2027-02-01 10:00:00 -0800' },
  });
  expect(await statuses()).toEqual(['replaced', 'replaced', 'pending']);
  await world.company.api('delete', `leads/${id}/id`);
  expect(await statuses()).toEqual(['replaced', 'replaced', 'canceled']);
});
