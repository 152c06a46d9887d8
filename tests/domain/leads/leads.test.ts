import { NOON, openShop, ownNumber, runEngine } from '../../support/leads';
import { type Company } from '../../support/world';
import { useLeadRecords } from '../../support/lead-records';
import type { Fields } from '../../support/records';

const { api, scheduled, shop, texts, time, world } = useLeadRecords();

describe('a list of leads', () => {
  let ownCompany: Company;
  let names: Record<string, number | string>;
  beforeAll(async () => {
    time.set(NOON);
    ownCompany = await world.addCompany('Lister');
    await ownNumber(world, ownCompany, '12125550166');
    const { schedule, offer } = await openShop(
      world,
      [{ action_type: 'sms', body: 'x' }],
      {},
      ownCompany,
    );
    const record = async (path: string, body: Fields) =>
      (await ownCompany.api('post', path, { body })).body[path.slice(0, -1)];
    const source = await record('traffic_sources', {
      name: 'Radio',
      user_traffic_source_id: 'radio',
    });
    const buyer = await record('buyers', { name: 'Buyer' });
    const uuid = async (path: string, id: number) =>
      (await ownCompany.api('get', `${path}s/${id}`)).body[path].uuid;
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
    const add = async (name: string, leadToken: string, fields: Fields) => {
      const res = await ownCompany.api('post', 'leads', {
        auth: null,
        body: { lead_token: leadToken, sub_id: name, ...fields },
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
    await ownCompany.api('put', 'leads/3105557004/caller_opt_out', {
      auth: null,
      query: { lead_token: schedule.lead_token },
    });
    await add('e', schedule.lead_token, { caller_id: '3105557002', expire_existing: true });
    await world.sql(
      'UPDATE leads SET buyer_id = $2, buyer_converted = true WHERE company_id = ' +
        '$1 AND sub_id = $3',
      [ownCompany.id, buyer.id, 'a'],
    );
  });
  const listLeads = async (query: Fields | string) => {
    const { status, body } = await ownCompany.api(
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
    ['ids=999999,{d}', 'd'],
    ['fulltext=ann lee', 'a'],
    ['fulltext=cid@', 'c'],
    ['fulltext=5557002', 'be'],
    ['fulltext=%25', ''],
    ['status=scheduled&email=cid@example.com&opt_out=0', 'c'],
  ])('filtered by %j has %j', async (query, expected) => {
    expect(
      await listLeads(query.replace(/\{(\w+)\}/g, (_, name: string) => String(names[name]))),
    ).toBe(expected);
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
    const { status, body } = await ownCompany.api('get', `leads?${query}`);
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
    'in the order of %s is complete and in order, page by page, by cursor and by ' +
      'number, up and down',
    async (order, ascending) => {
      const all = async (orderDir: string) =>
        (
          await ownCompany.api('get', 'leads', { query: { order, order_dir: orderDir } })
        ).body.leads.map(({ sub_id }: Fields) => sub_id);
      const [up, down] = [await all('asc'), await all('desc')];
      expect(up.join('')).toBe(ascending);
      expect(down.toReversed()).toEqual(up);
      for (const [orderDir, whole] of [
        ['asc', up],
        ['desc', down],
      ]) {
        const [byCursor, byPage]: string[][] = [[], []];
        for (let cursor: unknown = -1, n = 0; cursor !== 0 && n < 5; n++) {
          const { leads, metadata } = (
            await ownCompany.api('get', 'leads', {
              query: { order, order_dir: orderDir, per_page: 2, cursor },
            })
          ).body;
          byCursor!.push(...leads.map(({ sub_id }: Fields) => sub_id));
          cursor = metadata.next_cursor;
        }
        for (const page of [1, 2, 3])
          byPage!.push(
            ...(
              await ownCompany.api('get', 'leads', {
                query: { order, order_dir: orderDir, per_page: 2, page },
              })
            ).body.leads.map(({ sub_id }: Fields) => sub_id),
          );
        expect([byCursor, byPage]).toEqual([whole, whole]);
      }
    },
  );

  test('as CSV has a header, a line a lead, and no formula', async () => {
    const { text, headers } = await ownCompany.api('get', 'leads.csv', {
      query: { columns: 'id,caller_id,full_name,has_next_action,data', status: 'scheduled' },
    });
    expect([headers['content-type'], headers['content-disposition']]).toEqual([
      expect.stringContaining('text/csv'),
      expect.stringContaining('leads.csv'),
    ]);
    const lines = text.trim().split('\n');
    expect(lines[0]).toBe('id,caller_id,full_name,has_next_action,data');
    expect(lines[1]).toBe(
      `${names.c},+13105557003,"'=1+1 ""C"", D",true,"{""last_name"": ` +
        `""\\""C\\"", D"", ""first_name"": ""=1+1""}"`,
    );
    expect(lines).toHaveLength(3);
    const whole = (await ownCompany.api('get', 'leads', { query: { format: 'csv' } })).text
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
      await ownCompany.api('get', 'leads', {
        query: { columns: 'id,contact_id,nonsense', per_page: 1 },
      })
    ).body;
    expect([leads, metadata.unknown_columns, metadata.total_count]).toEqual([
      [{ id: names.a, contact_id: null }],
      ['nonsense'],
      5,
    ]);
    const keys = async (serializer: string) =>
      Object.keys(
        (await ownCompany.api('get', 'leads', { query: { serializer, root: false } })).body[0],
      );
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
    expect(await listLeads({ number: '3105557001' })).toBe('a');
    const byOffer = { query: { offer_id: names.offer_uuid } };
    expect((await api('get', 'leads', byOffer)).status).toBe(422);
    expect((await api('get', 'leads', { query: { ids: names.a } })).status).toBe(422);
    expect((await api('get', 'leads', { query: { number: '3105557001' } })).body.leads).toEqual([]);
    expect((await api('get', `leads/${names.a}`)).status).toBe(404);
    expect((await ownCompany.api('get', `leads/${names.a_uuid}`)).body.lead.id).toBe(names.a);
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
        await api('post', `leads/${lead.caller_id}/caller_remove`, {
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
