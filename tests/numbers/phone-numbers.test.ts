import { ownNumber } from '../support/leads';
import { DOWN, openMarket, type Market } from '../support/numbers';
import type { Api, Company } from '../support/world';

let market: Market;
beforeAll(async () => {
  market = await openMarket();
});
afterAll(() => market.world.close());
beforeEach(() => market.carrier.quiet());

const api: Api = (...args) => market.api(...args);
const other: Api = (...args) => market.other(...args);
const bought = (...args: Parameters<Market['bought']>) => market.bought(...args);
const made = (...args: Parameters<Market['made']>) => market.made(...args);
const search = (...args: Parameters<Market['search']>) => market.search(...args);
const lookups = (...args: Parameters<Market['lookups']>) => market.lookups(...args);
const show = (...args: Parameters<Market['show']>) => market.show(...args);

describe('a search', () => {
  test('answers numbers by number, in pages, by number of page and by cursor', async () => {
    const first = await api('get', 'phone_numbers/search', {
      query: { prefix: '808', per_page: 40 },
    });
    expect(first.body).toMatchObject({ status: 200, success: true });
    expect(first.body.phone_number_search_results[0]).toEqual({
      id: '+18085550110',
      legacy_id: '+18085550110',
      type: 'PhoneNumberSearchResult',
      phone_number: '+18085550110',
      country: 'US',
    });
    expect(first.body.metadata).toEqual({
      root: 'phone_number_search_results',
      page: 1,
      total_pages: 3,
      per_page: 40,
      total_count: 90,
      next_cursor: '40',
    });
    const third = await api('get', 'phone_numbers/search', {
      query: { prefix: '808', per_page: 40, page: 3 },
    });
    expect([
      third.body.phone_number_search_results.length,
      third.body.metadata.next_cursor,
    ]).toEqual([10, 0]);
    const next = await api('get', 'phone_numbers/search', {
      query: { prefix: '808', per_page: 40, cursor: '40' },
    });
    expect([next.body.phone_number_search_results[0].id, next.body.metadata.page]).toEqual([
      '+18085550150',
      null,
    ]);
    expect(
      (await api('get', 'phone_numbers/search', { query: { prefix: '808', cursor: '0' } })).body
        .phone_number_search_results,
    ).toEqual([]);
    expect(
      (
        await api('get', 'phone_numbers/search.json', {
          query: { prefix: '808', root: false, per_page: 1 },
        })
      ).body,
    ).toHaveLength(1);
  });

  test.each([
    [{}, /^\+1/],
    [{ country: 'GB' }, /^\+44/],
    [{ country: 'AU', toll_free: 'yes' }, /^\+611800/],
    [{ country: 'GB', prefix: ' 44161' }, /^\+44161/],
    [{ query: '(808) 555-01**' }, /^\+180855501/],
    [{ query: '+18085550177' }, /^\+18085550177$/],
    [{ query: 'lll0177' }, /5550177$/],
  ])('by %p finds numbers like %p', async (query, pattern) => {
    const numbers = await search(query);
    expect(numbers.length).toBeGreaterThan(0);
    for (const number of numbers) expect(number).toMatch(pattern);
  });

  test.each([
    { country: 'DE' },
    { prefix: 'abc' },
    { query: '#' },
    { cursor: 'x' },
    { toll_free: 'maybe' },
  ])('refuses %p by name', async (query) => {
    const res = await api('get', 'phone_numbers/search', { query });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, Object.keys(query)]);
  });

  test('does not offer what anybody of the installation owns, and says when the carrier is down', async () => {
    const { phone_number } = await bought({ prefix: '808' }, other);
    expect(await search({ prefix: '808' })).not.toContain(phone_number);
    expect(await search({ prefix: '808' })).toHaveLength(89);
    market.carrier.trouble.search = DOWN;
    const res = await api('get', 'phone_numbers/search');
    expect([res.status, res.headers['retry-after']]).toEqual([503, '5']);
  });
});

describe('a number', () => {
  test('is shown by id, uuid and every spelling of its telephone number, to its company alone', async () => {
    const number = await bought({ requested_number: '+12125550160' });
    for (const name of [
      number.id,
      number.uuid,
      '+12125550160',
      '12125550160',
      '%2B12125550160',
      '%2b12125550160',
      '%2012125550160',
    ]) {
      const res = await show(name);
      expect([name, res.status, res.body.number?.id]).toEqual([name, 200, number.id]);
      const foreign = [
        await show(name, other),
        await other('put', `phone_numbers/${name}`, { body: {} }),
        await other('delete', `phone_numbers/${name}`),
      ];
      expect(foreign.map(({ status }) => status)).toEqual([404, 404, 404]);
    }
    for (const name of ['+12125550161', '12125550199', 'x', '0'])
      expect((await show(name)).status).toBe(404);
    const same = await api('get', 'phone_numbers/+12125550160', {
      headers: { 'If-None-Match': (await show(number.id)).headers.etag! },
    });
    expect(same.status).toBe(304);
  });

  test('is changed, and its blank fields cleared', async () => {
    const [offer, buyer, source] = [
      await made('offers', { name: 'O' }),
      await made('buyers', { name: 'B' }),
      await made('traffic_sources', { name: 'S' }),
    ];
    const { id } = await bought({ requested_number: '+12125550162', name: 'old' });
    const put = (body: object, more: object = {}) =>
      api('put', `phone_numbers/${id}`, { body, ...more });
    const all = {
      name: 'new',
      offer_id: offer.id,
      traffic_source_id: source.uuid,
      forward_type: 'buyer_id',
      buyer_id: buyer.id,
      external_record_id: 'e',
    };
    const changed = await put(all);
    expect(changed.body.number).toMatchObject({
      name: 'new',
      offer: 'O',
      buyer: 'B',
      traffic_source: 'S',
      forward_type: 'buyer_id',
      external_record_id: 'e',
    });
    expect((await put({ buyer_id: '' })).body.errors).toEqual({ buyer_id: [expect.any(String)] });
    expect((await put({ phone_number: '+12125550163' })).body.errors).toEqual({
      phone_number: [expect.any(String)],
    });
    expect(
      (await put({ name: 'x' }, { headers: { 'If-Match': '"00000000000000000000000000000000"' } }))
        .status,
    ).toBe(412);
    const cleared = await put({
      name: '',
      offer_id: null,
      traffic_source_id: '',
      forward_type: 'offer_id',
      buyer_id: null,
      external_record_id: '',
    });
    expect(cleared.body.number).toMatchObject({
      name: null,
      offer_id: null,
      offer: null,
      traffic_source_id: null,
      buyer_id: null,
      buyer: null,
      external_record_id: null,
    });
  });

  test('loses the offer, buyer or traffic source that is deleted, and no longer goes to that buyer', async () => {
    const [offer, buyer, source] = [
      await made('offers', { name: 'O' }),
      await made('buyers', { name: 'B' }),
      await made('traffic_sources', { name: 'S' }),
    ];
    const { id } = await bought({
      forward_type: 'buyer_id',
      offer_id: offer.id,
      buyer_id: buyer.id,
      traffic_source_id: source.id,
    });
    await api('delete', `buyers/${buyer.id}`);
    expect((await show(id)).body.number).toMatchObject({
      forward_type: 'offer_id',
      buyer_id: null,
      buyer: null,
      offer_id: offer.id,
    });
    await api('delete', `offers/${offer.id}`);
    await api('delete', `traffic_sources/${source.id}`);
    expect((await show(id)).body.number).toMatchObject({
      offer_id: null,
      offer: null,
      traffic_source_id: null,
      traffic_source: null,
    });
  });

  test('cannot get a buyer or an offer that is deleted at the same time', async () => {
    for (let n = 0; n < 5; n++) {
      const [offer, buyer] = [
        await made('offers', { name: 'O' }),
        await made('buyers', { name: 'B' }),
      ];
      const { id } = await bought();
      const put = api('put', `phone_numbers/${id}`, {
        body: { offer_id: offer.id, buyer_id: buyer.id, forward_type: 'buyer_id' },
      });
      const [changed, ...gone] = await Promise.all([
        put,
        api('delete', `buyers/${buyer.id}`),
        api('delete', `offers/${offer.id}`),
      ]);
      expect([[200, 422].includes(changed.status), ...gone.map(({ status }) => status)]).toEqual([
        true,
        200,
        200,
      ]);
      expect((await show(id)).body.number).toMatchObject({
        forward_type: 'offer_id',
        buyer_id: null,
        offer_id: null,
      });
    }
  });

  test('is given by `new` with its defaults', async () => {
    const res = await api('get', 'phone_numbers/new');
    expect(res.body.number).toMatchObject({
      id: null,
      phone_number: null,
      country: 'US',
      toll_free: false,
      forward_type: 'offer_id',
      carrier: 'sandbox',
      sandbox: true,
    });
  });
});

describe('a list', () => {
  let listed: Company;
  let own: Api;
  let ids: number[];
  let offer: { id: number; uuid: string };
  let buyer: { id: number };
  let source: { id: number };
  beforeAll(async () => {
    listed = await market.world.addCompany('Listed');
    own = market.apiOf(listed);
    [offer, buyer, source] = [
      await made('offers', { name: 'O' }, own),
      await made('buyers', { name: 'B' }, own),
      await made('traffic_sources', { name: 'S' }, own),
    ];
    const wanted = [
      { requested_number: '+12125550180', name: 'c', offer_id: offer.id },
      { requested_number: '+18445550177', name: '=b', buyer_id: buyer.id },
      { requested_number: '+442079460180', name: 'a', traffic_source_id: source.id },
    ];
    ids = [];
    for (const body of wanted) ids.push((await bought(body, own)).id);
  });

  const idsOf = async (query: object) => {
    const { body } = await own('get', 'phone_numbers', { query });
    expect(body.metadata).toMatchObject({ root: 'numbers', total_count: body.numbers.length });
    return body.numbers.map(({ id }: { id: number }) => ids.indexOf(id));
  };

  test('has filters', async () => {
    const cases: [object, number[]][] = [
      [{}, [0, 1, 2]],
      [{ offer_id: offer.uuid }, [0]],
      [{ buyer_id: buyer.id }, [1]],
      [{ traffic_source_id: source.id }, [2]],
      [{ country: 'gb' }, [2]],
      [{ toll_free: 'yes' }, [1]],
      [{ toll_free: 'no' }, [0, 2]],
      [{ number: '(212) 555-0180' }, [0]],
      [{ number: ' 442079460180' }, [2]],
      [{ fulltext: '946018' }, [2]],
      [{ offer_id: 999_999 }, []],
    ];
    for (const [query, expected] of cases)
      expect([query, await idsOf(query)]).toEqual([query, expected]);
  });

  test('has orders, and pages by cursor in each', async () => {
    for (const [order, expected] of Object.entries({
      id: [0, 1, 2],
      created_at: [0, 1, 2],
      phone_number: [0, 1, 2],
      country: [2, 0, 1],
      name: [1, 2, 0],
    })) {
      expect([order, await idsOf({ order })]).toEqual([order, expected]);
      const seen: number[] = [];
      for (let cursor: string | number = '-1'; cursor !== 0;) {
        const { body } = await own('get', 'phone_numbers', {
          query: { order, cursor, per_page: 1 },
        });
        seen.push(...body.numbers.map(({ id }: { id: number }) => ids.indexOf(id)));
        cursor = body.metadata.next_cursor;
      }
      expect([order, seen]).toEqual([order, expected]);
    }
  });

  test('comes as CSV, safe for spreadsheets', async () => {
    const { text } = await own('get', 'phone_numbers.csv', {
      query: { columns: 'name,phone_number,offer,toll_free' },
    });
    expect(text).toBe(
      "name,phone_number,toll_free,offer\nc,+12125550180,false,O\n'=b,+18445550177,true,\na,+442079460180,false,\n",
    );
  });
});

describe('a release', () => {
  const release = (id: number | string, headers: Record<string, string> = {}, by = api) =>
    by('delete', `phone_numbers/${id}`, { headers });

  test('gives the number back to the carrier, and somebody may own it again', async () => {
    const number = await bought({ requested_number: '+12125550170' });
    const before = (await api('get', 'phone_numbers')).body.metadata.total_count;
    const res = await release('+12125550170');
    expect([res.status, res.body.number.deleted_at]).toEqual([200, expect.any(String)]);
    expect([market.carrier.asked.release, market.carrier.sold.has('+12125550170')]).toEqual([
      [{ id: number.carrier_number_id }],
      false,
    ]);
    expect([(await show(number.id)).status, (await release(number.id)).status]).toEqual([404, 404]);
    expect((await api('get', 'phone_numbers')).body.metadata.total_count).toBe(before - 1);
    expect(await search({ query: '+12125550170' }, other)).toEqual(['+12125550170']);
    expect((await bought({ requested_number: '+12125550170' }, other)).id).not.toBe(number.id);
  });

  test('while the carrier is down, or in spite of a change, changes nothing', async () => {
    const number = await bought({ requested_number: '+12125550171' });
    expect(
      (await release(number.id, { 'If-Match': '"00000000000000000000000000000000"' })).status,
    ).toBe(412);
    expect(market.carrier.asked.release).toEqual([]);
    market.carrier.trouble.release = DOWN;
    const before = (await show(number.id)).text;
    const res = await release(number.id);
    expect([res.status, res.headers['retry-after'], res.body.detail]).toEqual([
      503,
      '5',
      expect.stringContaining('still yours'),
    ]);
    expect([(await show(number.id)).text, (await lookups('+12125550171')).length]).toEqual([
      before,
      1,
    ]);
    market.carrier.quiet();
    expect((await release(number.id)).status).toBe(200);
  });

  test('twice at once is one', async () => {
    const number = await bought({ requested_number: '+12125550172' });
    const both = await Promise.all([release(number.id), release(number.id)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    expect(market.carrier.asked.release).toHaveLength(1);
  });

  test('of a number that was only made known is not the carrier’s affair', async () => {
    const id = await ownNumber(market.world, market.world.company, '12125550173');
    expect((await release(id)).status).toBe(200);
    expect(market.carrier.asked.release).toEqual([]);
    const foreign = await ownNumber(market.world, market.world.company, '12125550174');
    await market.world.sql(
      `UPDATE numbers SET carrier = 'twilio', carrier_number_id = 'PN9' WHERE id = $1`,
      [foreign],
    );
    expect((await release(foreign)).body.errors).toEqual({
      carrier: [expect.stringContaining('twilio')],
    });
  });

  test('takes the number from the leads that had it, who get another', async () => {
    const company = await market.world.addCompany('Leads');
    const by = market.apiOf(company);
    const [first, second] = [
      await bought({ requested_number: '+12125550175' }, by),
      await bought({ requested_number: '+13105550175' }, by),
    ];
    const offer = await made('offers', { name: 'O' }, by);
    const submit = () =>
      by('post', 'leads', {
        auth: null,
        query: { lead_token: offer.lead_token },
        body: { caller_id: '+12125550199', assign_service_number: true, assign_sms_number: true },
      });
    const lead = (await submit()).body;
    expect([lead.service_number_plain, lead.sms_number_plain]).toEqual([
      '12125550175',
      '12125550175',
    ]);
    await release(first.id, {}, by);
    const workers = await market.world.work();
    const shown = async () => (await by('get', `leads/${lead.id}`)).body.lead;
    for (let n = 0; n < 100 && (await shown()).sms_number_id !== null; n++)
      await new Promise((done) => setTimeout(done, 100));
    expect(await shown()).toMatchObject({ sms_number_id: null, dial_number_id: null });
    await workers.stop();
    expect((await submit()).body).toMatchObject({
      service_number_plain: '13105550175',
      lead: { dial_number_id: second.id },
    });
  });
});
