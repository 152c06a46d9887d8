import { useMarket } from '../../support/numbers';
import { createRecord } from '../../support/records';
import type { Api, Company } from '../../support/world';

const market = useMarket();
const { api, bought, otherApi, show } = market;

describe('a number', () => {
  test('is shown by id, uuid and every spelling of its number, only to its company', async () => {
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
        await show(name, otherApi),
        await otherApi('put', `phone_numbers/${name}`, { body: {} }),
        await otherApi('delete', `phone_numbers/${name}`),
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
      await createRecord(api, 'offers', { name: 'O' }),
      await createRecord(api, 'buyers', { name: 'B' }),
      await createRecord(api, 'traffic_sources', { name: 'S' }),
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

  test('loses its offer, buyer or traffic source when that is deleted', async () => {
    const [offer, buyer, source] = [
      await createRecord(api, 'offers', { name: 'O' }),
      await createRecord(api, 'buyers', { name: 'B' }),
      await createRecord(api, 'traffic_sources', { name: 'S' }),
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
        await createRecord(api, 'offers', { name: 'O' }),
        await createRecord(api, 'buyers', { name: 'B' }),
      ];
      const { id } = await bought();
      const put = api('put', `phone_numbers/${id}`, {
        body: { offer_id: offer.id, buyer_id: buyer.id, forward_type: 'buyer_id' },
      });
      const [changed, ...deletions] = await Promise.all([
        put,
        api('delete', `buyers/${buyer.id}`),
        api('delete', `offers/${offer.id}`),
      ]);
      expect([
        [200, 422].includes(changed.status),
        ...deletions.map(({ status }) => status),
      ]).toEqual([true, 200, 200]);
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
  let ownApi: Api;
  let ids: number[];
  let offer: { id: number; uuid: string };
  let buyer: { id: number };
  let source: { id: number };
  beforeAll(async () => {
    listed = await market.world.addCompany('Listed');
    ownApi = market.buildApi(listed);
    [offer, buyer, source] = [
      await createRecord(ownApi, 'offers', { name: 'O' }),
      await createRecord(ownApi, 'buyers', { name: 'B' }),
      await createRecord(ownApi, 'traffic_sources', { name: 'S' }),
    ];
    const requests = [
      { requested_number: '+12125550180', name: 'c', offer_id: offer.id },
      { requested_number: '+18445550177', name: '=b', buyer_id: buyer.id },
      { requested_number: '+442079460180', name: 'a', traffic_source_id: source.id },
    ];
    ids = [];
    for (const body of requests) ids.push((await bought(body, ownApi)).id);
  });

  const listIndexes = async (query: object) => {
    const { body } = await ownApi('get', 'phone_numbers', { query });
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
    ];
    for (const [query, expected] of cases)
      expect([query, await listIndexes(query)]).toEqual([query, expected]);
  });

  test('has orders, and pages by cursor in each', async () => {
    for (const [order, expected] of Object.entries({
      id: [0, 1, 2],
      created_at: [0, 1, 2],
      phone_number: [0, 1, 2],
      country: [2, 0, 1],
      name: [1, 2, 0],
    })) {
      expect([order, await listIndexes({ order })]).toEqual([order, expected]);
      const seenIndexes: number[] = [];
      for (let cursor: string | number = '-1'; cursor !== 0;) {
        const { body } = await ownApi('get', 'phone_numbers', {
          query: { order, cursor, per_page: 1 },
        });
        seenIndexes.push(...body.numbers.map(({ id }: { id: number }) => ids.indexOf(id)));
        cursor = body.metadata.next_cursor;
      }
      expect([order, seenIndexes]).toEqual([order, expected]);
    }
  });

  test('comes as CSV, safe for spreadsheets', async () => {
    const { text } = await ownApi('get', 'phone_numbers.csv', {
      query: { columns: 'name,phone_number,offer,toll_free' },
    });
    expect(text).toBe(
      'name,phone_number,toll_free,offer\nc,+12125550180,false,O\n' +
        "'=b,+18445550177,true,\na,+442079460180,false,\n",
    );
  });
});
