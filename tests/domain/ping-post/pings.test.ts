import { CALLER, endpoints } from '../../support/sellers';

type Fields = Record<string, unknown>;

const here = endpoints();
const { record, buyer, offer, endpoint, shop, send, ping, offerAt, idAt, suppressed } = here;

describe('a ping', () => {
  test('returns the buyers in order, their bids, and which one is reserved', async () => {
    const conversions = (revenue: number, duration: number) => ({
      current_conversion_revenue: revenue,
      current_conversion_duration: duration,
    });
    const second = await buyer({ tier: 2, name: 'B', ...conversions(40, 90) });
    const first = await buyer({ tier: 1, name: 'A', user_buyer_id: 'a', ...conversions(25.5, 60) });
    const { id: trafficSourceId } = await record('traffic_sources', { name: 'Search' });
    const payouts = [{ traffic_source_id: trafficSourceId, payout_type: 'percentage', amount: 50 }];
    const buyerIds = [second, first, await buyer({ paused: true })];
    const sells = {
      offer_id: await offer({ buyer_ids: buyerIds, payouts }),
      traffic_source_id: trafficSourceId,
    };
    const { inbound_webhook } = await endpoint({ ...sells, show_buyer_names: true });
    const pinged = await ping(inbound_webhook.vanity_uri);
    const uuid = pinged.try_all_buyers_ping_id;
    const expiresAt = '2026-06-01T12:31:00.000Z';
    expect(pinged).toEqual({
      success: true,
      status: 'accepted',
      errors: [],
      buyers: [
        {
          ping_id: `${uuid}-${first}`,
          buyer_id: first,
          user_buyer_id: 'a',
          name: 'A',
          bid_price: 12.75,
          bid_duration: 60,
          held: true,
          expires_at: expiresAt,
        },
        {
          ping_id: `${uuid}-${second}`,
          buyer_id: second,
          user_buyer_id: null,
          name: 'B',
          bid_price: 20,
          bid_duration: 90,
          held: false,
          expires_at: expiresAt,
        },
      ],
      try_all_buyers_ping_id: uuid,
      bid_price: 20,
      expires_at: expiresAt,
      metadata: { root: 'buyers' },
    });
  });

  test.each([
    ['query', (body: Fields) => ({ query: body, body: undefined })],
    ['JSON', (body: Fields) => ({ body })],
    [
      'a form',
      (body: Fields) => ({
        body: new URLSearchParams(body as Record<string, string>).toString(),
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      }),
    ],
    ['multipart', (body: Fields) => ({ body: undefined, form: body as Record<string, string> })],
    ['data', (body: Fields) => ({ body: { data: body } })],
    ['a mixture', ({ state, ...rest }: Fields) => ({ query: rest, body: { data: { state } } })],
  ])('is read from %s', async (_, shaped) => {
    const at = await shop([await buyer({ record_token_filter_list: ['state:CA'] })]);
    const { status, body } = await send(
      'ping',
      at,
      {},
      shaped({ phone: '(310) 555-0188', state: 'CA', sub_id: 'x' }),
    );
    expect([status, body.status]).toEqual([200, 'accepted']);
    const [row] = await here.world.sql(
      'SELECT caller_number, sub_id, token_values FROM pings WHERE company_id = $1',
      [here.world.company.id],
    );
    expect(row).toEqual({
      caller_number: '13105550188',
      sub_id: 'x',
      token_values: { state: 'CA' },
    });
  });

  test('by GET is the same, for browsers of any origin, and not to be cached', async () => {
    const at = await shop([await buyer({ record_token_filter_list: ['state:CA'] })]);
    const res = await here.world.company.api('get', `inbound_webhooks/ping/${at}`, {
      auth: null,
      query: { caller_number: CALLER, state: 'CA' },
      headers: { Origin: 'https://a.example' },
    });
    expect([
      res.body.status,
      res.headers['cache-control'],
      res.headers['access-control-allow-origin'],
    ]).toEqual(['accepted', 'no-store', 'https://a.example']);
    const wrong = await here.world.company.api('get', `inbound_webhooks/post/${at}`, {
      auth: null,
      query: { sub_id: 'x'.repeat(300) },
    });
    expect([wrong.status, Object.keys(wrong.body.errors)]).toEqual([422, ['sub_id']]);
  });

  test('without a caller is rejected with the name of the field', async () => {
    const res = await send('ping', await shop([]), {});
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['caller_id']]);
  });

  test.each([
    ['no_buyer_available', {}, async () => undefined],
    ['caller_number_invalid', { caller_id: '12' }, async () => undefined],
    [
      'caller_number_blacklisted',
      {},
      async () =>
        here.world.company.api('post', 'contacts/caller_block', { body: { caller_ids: [CALLER] } }),
    ],
    [
      'caller_number_suppressed',
      {},
      async (_at: string, ids: number[]) => suppressed({ buyer_ids: ids }),
    ],
    [
      'caller_number_suppressed',
      {},
      async (at: string) => suppressed({ offer_ids: [await offerAt(at)] }),
    ],
    [
      'offer_paused',
      {},
      async (at: string) =>
        here.world.company.api('put', `offers/${await offerAt(at)}`, { body: { paused: true } }),
    ],
    [
      'webhook_paused',
      {},
      async (at: string) =>
        here.world.company.api('put', `inbound_webhooks/${await idAt(at)}`, {
          body: { paused: true },
        }),
    ],
  ])('answers %s', async (status, fields, change) => {
    const id = await buyer(status === 'no_buyer_available' ? { paused: true } : {});
    const at = await shop([id]);
    await change(at, [id]);
    for (const kind of ['ping', 'post', 'full']) {
      const res = await send(kind, at, { caller_id: CALLER, ...fields });
      expect([res.status, res.body]).toEqual([
        200,
        expect.objectContaining({ success: false, status, errors: [expect.any(String)] }),
      ]);
    }
  });
});

describe('a post', () => {
  test('without a ping chooses and reserves, and full returns both', async () => {
    const id = await buyer({ attempt_total_limit: 2 });
    const offerId = await offer({ buyer_ids: [id] });
    const at = (await endpoint({ offer_id: offerId })).inbound_webhook.vanity_uri;
    const { number } = (
      await here.world.company.api('post', 'phone_numbers', {
        body: { prefix: '212', offer_id: offerId },
      })
    ).body;
    const posted = (await send('post', at, { caller_id: CALLER })).body;
    expect(posted).toMatchObject({
      success: true,
      status: 'accepted',
      buyer_id: id,
      forwarding_number: number.number,
      call_uuid: null,
      late: false,
    });
    expect((await send('post', at, { ping_id: posted.ping_id })).body).toEqual(posted);
    const full = (await send('full', at, { caller_id: CALLER })).body;
    expect(full).toMatchObject({
      success: true,
      buyer_id: id,
      forwarding_number: number.number,
      buyers: [{ buyer_id: id, held: true }],
    });
    expect((await send('full', at, { caller_id: CALLER })).body.status).toBe('no_buyer_available');
  });

  test('forwards to a number without an offer if the offer has none', async () => {
    const id = await buyer();
    const at = await shop([id]);
    const { number } = (
      await here.world.company.api('post', 'phone_numbers', { body: { prefix: '212' } })
    ).body;
    const posted = (await send('full', at, { caller_id: CALLER })).body;
    expect(posted.forwarding_number).toBe(number.number);
    const callResponse = await here.world.company.api('post', 'call_sessions', {
      body: { number_called: number.number, caller_number: CALLER },
    });
    expect(callResponse.body.call_session).toMatchObject({
      offer_id: await offerAt(at),
      instruction: { action: 'dial', dial: [{ buyer_id: id }] },
    });
    const otherResponse = await here.world.company.api('post', 'call_sessions', {
      body: { number_called: number.number, caller_number: '+13105550101' },
    });
    expect(otherResponse.status).toBe(422);
  });

  test('does not offer a buyer that cannot receive forwarded calls', async () => {
    expect((await ping(await shop([await buyer({ number: 'sip:desk@example.com' })]))).status).toBe(
      'no_buyer_available',
    );
  });

  test.each(['nonsense', '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001', '7'])(
    'with the ping_id %s refuses it by name',
    async (pingId) => {
      const res = await send('post', await shop([]), { ping_id: pingId });
      expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['ping_id']]);
    },
  );

  test('with the ping_id of another endpoint, buyer or caller is rejected', async () => {
    const at = await shop([await buyer()]);
    const pinged = await ping(at);
    const refused = async (where: string, fields: Fields) =>
      Object.keys((await send('post', where, fields)).body.errors);
    expect(await refused(await shop([]), { ping_id: pinged.try_all_buyers_ping_id })).toEqual([
      'ping_id',
    ]);
    expect(await refused(at, { ping_id: `${pinged.try_all_buyers_ping_id}-999` })).toEqual([
      'ping_id',
    ]);
    expect(
      await refused(at, { ping_id: pinged.try_all_buyers_ping_id, caller_id: '+13105550101' }),
    ).toEqual(['caller_id']);
  });
});
