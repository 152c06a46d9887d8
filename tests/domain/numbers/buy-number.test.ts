import { randomUUID } from 'node:crypto';
import { DOWN, GONE, useMarket } from '../../support/numbers';
import { createRecord } from '../../support/records';

const market = useMarket();
const { api, bought, buy, lookups, otherApi } = market;

describe('a purchase', () => {
  test('of a requested number, by query or body, with all that belongs to it', async () => {
    const [offer, source] = [
      await createRecord(api, 'offers', { name: 'Roofs' }),
      await createRecord(api, 'traffic_sources', { name: 'Radio' }),
    ];
    const query = {
      requested_number: '+12125550110',
      offer_id: offer.uuid,
      traffic_source_id: source.id,
      name: 'query',
    };
    const res = await api('post', 'phone_numbers', {
      query,
      body: { name: 'Billboard', external_record_id: 'x1' },
    });
    expect([res.status, res.body.errors]).toEqual([201, {}]);
    expect(res.body.number).toMatchObject({
      type: 'Number',
      name: 'Billboard',
      phone_number: '+12125550110',
      number: '+12125550110',
      country: 'US',
      toll_free: false,
      carrier: 'sandbox',
      sandbox: true,
      forward_type: 'offer_id',
      offer_id: offer.id,
      offer: 'Roofs',
      buyer_id: null,
      buyer: null,
      traffic_source_id: source.id,
      traffic_source: 'Radio',
      last_assigned_at: null,
      carrier_number_id: market.carrier.sold.get('+12125550110')!.id,
      external_record_id: 'x1',
      company_id: Number(market.world.company.id),
    });
    expect(res.body.number.routes_show_path).toBe(`/api/v1/phone_numbers/${res.body.number.id}`);
    const alone = await api('post', 'phone_numbers?requested_number=%2B12125550111');
    expect([alone.status, alone.body.number.phone_number]).toEqual([201, '+12125550111']);
  });

  test.each([
    [{ country: 'GB' }, /^\+44/],
    [{ country: 'AU', toll_free: true }, /^\+611800/],
    [{ prefix: '416', country: 'CA' }, /^\+1416/],
    [{ toll_free: 'on' }, /^\+18/],
    [{}, /^\+1/],
  ])('of any number like %p', async (body, pattern) => {
    const number = await bought(body);
    expect(number).toMatchObject({
      phone_number: expect.stringMatching(pattern),
      country: (body as { country?: string }).country ?? 'US',
    });
    expect(market.carrier.requests.buy).toHaveLength(1);
  });

  test.each([
    [{ forward_type: 'buyer_id' }, 'buyer_id'],
    [{ forward_type: 'moon' }, 'forward_type'],
    [{ country: 'DE' }, 'country'],
    [{ requested_number: 'x' }, 'requested_number'],
    [{ requested_number: '' }, 'requested_number'],
    [{ requested_number: '+4930123456' }, 'requested_number'],
    [{ requested_number: '+442079460123', country: 'US' }, 'requested_number'],
    [{ prefix: '999' }, 'prefix'],
    [{ offer_id: 999_999 }, 'offer_id'],
    [{ shoe_size: 44 }, 'shoe_size'],
  ])('of %p is refused on %s, and the carrier is not asked to sell', async (body, field) => {
    const res = await buy(body);
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, [field]]);
    expect(market.carrier.requests.buy).toEqual([]);
  });

  test('that goes to a buyer needs one of the company', async () => {
    const buyer = await createRecord(api, 'buyers', { number: '+13105550111' });
    const number = await bought({ forward_type: 'buyer_id', buyer_id: buyer.id });
    expect(number).toMatchObject({
      forward_type: 'buyer_id',
      buyer_id: buyer.id,
      buyer: '+13105550111',
    });
    expect(
      (await buy({ forward_type: 'buyer_id', buyer_id: buyer.id }, otherApi)).body.errors,
    ).toEqual({ buyer_id: [expect.any(String)] });
  });

  test('of what has an owner, or is sold elsewhere, is refused by its number', async () => {
    const requestedNumber = '+12125550120';
    await bought({ requested_number: requestedNumber });
    for (const [by, words] of [
      [api, 'is already a number of yours'],
      [otherApi, 'is not for sale'],
    ] as const) {
      const res = await buy({ requested_number: requestedNumber }, by);
      expect([res.status, res.body.errors]).toEqual([
        422,
        { requested_number: [`${words}: ${requestedNumber}; search for others`] },
      ]);
    }
    expect(market.carrier.requests.buy).toHaveLength(1);
    market.carrier.trouble.buy = GONE;
    const response = await buy({ requested_number: '+12125550121' });
    expect([response.status, response.body.errors.requested_number[0]]).toEqual([
      422,
      expect.stringContaining('is no longer for sale: +12125550121'),
    ]);
    expect(await lookups('+12125550121')).toEqual([]);
    expect((await buy({ prefix: '213' })).body.errors).toEqual({
      prefix: [expect.stringContaining('there is none now')],
    });
  });

  test('under one Idempotency-Key is one, however often it is sent', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const all = await Promise.all(
      Array.from({ length: 5 }, () => buy({ prefix: '303' }, api, headers)),
    );
    expect(all.map(({ status }) => status).filter((status) => status !== 409)).toContain(201);
    const repeatedResponse = await buy({ prefix: '303' }, api, headers);
    expect([repeatedResponse.status, repeatedResponse.headers['idempotent-replayed']]).toEqual([
      201,
      'true',
    ]);
    expect(market.carrier.requests.buy).toHaveLength(1);
  });

  test('of one number, 20 at once by two companies, has one owner and asks once', async () => {
    const requestedNumber = '+12125550130';
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        buy({ requested_number: requestedNumber }, n % 2 ? api : otherApi),
      ),
    );
    expect(all.map(({ status }) => status).toSorted()).toEqual([
      201,
      ...Array.from({ length: 19 }, () => 422),
    ]);
    for (const { status, body } of all)
      if (status === 422)
        expect(body.errors).toEqual({
          requested_number: [expect.stringContaining(requestedNumber)],
        });
    expect(market.carrier.requests.buy).toHaveLength(1);
    expect(
      await market.world.sql('SELECT FROM numbers WHERE phone_number = 12125550130'),
    ).toHaveLength(1);
    expect(await lookups(requestedNumber)).toMatchObject([
      { number_id: expect.any(String), purchase_key: null, purchase_tried_at: null },
    ]);
  });

  test('of any number, twelve at once, are twelve numbers, each asked for once', async () => {
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, n) => buy({ prefix: '404' }, n % 2 ? api : otherApi)),
    );
    expect(new Set(all.map(({ body }) => body.number?.phone_number)).size).toBe(12);
    expect(market.carrier.requests.buy).toHaveLength(12);
  });

  test('from a carrier that is down is 503 and leaves nothing', async () => {
    market.carrier.trouble.buy = DOWN;
    const res = await buy({ requested_number: '+12125550140' });
    expect([res.status, res.headers['retry-after']]).toEqual([503, '5']);
    expect(await lookups('+12125550140')).toEqual([]);
    market.carrier.trouble.search = DOWN;
    expect((await buy()).status).toBe(503);
    market.carrier.quiet();
    await bought({ requested_number: '+12125550140' });
  });
});
