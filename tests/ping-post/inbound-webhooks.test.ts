import { standingClock } from '../support/clock';
import { createWorld, type Company, type World } from '../support/world';

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
  world.company = await world.addCompany();
});
afterAll(() => world.close());

type Fields = Record<string, unknown>;

const record = async (plural: string, fields: Fields, company: Company = world.company) => {
  const res = await company.api('post', plural, { body: fields });
  if (res.status !== 201) throw new Error(`${plural}: ${res.text}`);
  return res.body[res.body.metadata.root];
};
const buyer = async (fields: Fields = {}): Promise<number> =>
  (
    await record('buyers', {
      name: 'Buyer',
      number: `+1212555${String(1000 + made++).slice(-4)}`,
      ...fields,
    })
  ).id;
const offer = async (fields: Fields = {}): Promise<number> =>
  (await record('offers', { name: 'Auto', ...fields })).id;
const endpoint = async (fields: Fields = {}) => {
  const body = {
    name: 'Partner',
    vanity_uri: `partner-${made++}`,
    offer_id: fields.offer_id ?? (await offer()),
    ...fields,
  };
  return (await world.company.api('post', 'inbound_webhooks', { body })).body;
};
/** An endpoint of an offer of buyers: where to ping it. */
const shop = async (buyer_ids: number[], fields: Fields = {}): Promise<string> =>
  (await endpoint({ offer_id: await offer({ buyer_ids, ...fields }) })).inbound_webhook.vanity_uri;
const send = (kind: string, vanity_uri: string, sent: Fields, more: Fields = {}) =>
  world.company.api('post', `inbound_webhooks/${kind}/${vanity_uri}`, {
    auth: null,
    body: sent,
    ...more,
  });
const ping = async (vanity_uri: string, fields: Fields = {}) =>
  (await send('ping', vanity_uri, { caller_id: CALLER, ...fields })).body;

describe('an endpoint', () => {
  test('has its paths and its defaults, is listed, changed and deleted', async () => {
    const offer_id = await offer();
    const source = await record('traffic_sources', { name: 'Partner' });
    const { inbound_webhook, auth_token } = await endpoint({
      offer_id,
      traffic_source_id: source.id,
      vanity_uri: 'a_b-3',
    });
    expect(auth_token).toBeUndefined();
    expect(inbound_webhook).toMatchObject({
      type: 'InboundWebhook',
      name: 'Partner',
      vanity_uri: 'a_b-3',
      offer_id,
      offer: 'Auto',
      traffic_source: 'Partner',
      hold_seconds: 60,
      paused: false,
      has_auth_token: false,
      ping_path: '/api/v1/inbound_webhooks/ping/a_b-3',
      post_path: '/api/v1/inbound_webhooks/post/a_b-3',
      full_path: '/api/v1/inbound_webhooks/full/a_b-3',
    });
    const path = `inbound_webhooks/${inbound_webhook.uuid}`;
    expect(
      (await world.company.api('put', path, { body: { hold_seconds: 300, vanity_uri: 'a_b-4' } }))
        .body.inbound_webhook.hold_seconds,
    ).toBe(300);
    expect(
      (await world.company.api('put', path, { body: { hold_seconds: '' } })).body.inbound_webhook
        .hold_seconds,
    ).toBe(60);
    expect(
      (await world.company.api('get', 'inbound_webhooks', { query: { fulltext: 'A_B-4' } })).body
        .metadata.total_count,
    ).toBe(1);
    expect((await send('ping', 'a_b-3', { caller_id: CALLER })).status).toBe(404);
    expect((await send('ping', 'a_b-4', { caller_id: CALLER })).status).toBe(200);
    expect((await world.company.api('delete', path)).status).toBe(200);
    expect((await send('ping', 'a_b-4', { caller_id: CALLER })).status).toBe(404);
    expect((await endpoint({ vanity_uri: 'a_b-4' })).status).toBe(201);
  });

  test('has an address that nobody else of the installation has', async () => {
    const other = await world.addCompany();
    const theirs = await other.api('post', 'offers', { body: { name: 'Theirs' } });
    const body = { name: 'Theirs', vanity_uri: 'taken', offer_id: theirs.body.offer.id };
    const answers = await Promise.all([
      endpoint({ vanity_uri: 'taken' }),
      other.api('post', 'inbound_webhooks', { body }).then((res) => res.body),
    ]);
    const refused = answers.find(({ status }) => status === 422);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
    expect(Object.keys(refused.errors)).toEqual(['vanity_uri']);
  });

  test.each([
    [{ vanity_uri: 'ab' }, 'vanity_uri'],
    [{ vanity_uri: 'With Space' }, 'vanity_uri'],
    [{ hold_seconds: 4 }, 'hold_seconds'],
    [{ hold_seconds: 901 }, 'hold_seconds'],
    [{ offer_id: 999999 }, 'offer_id'],
  ])('refuses %j by name', async (fields, name) => {
    const res = await endpoint(fields);
    expect([res.status, Object.keys(res.errors)]).toEqual([422, [name]]);
  });

  test('shows its token once, keeps its digest, and asks for it', async () => {
    const { inbound_webhook, auth_token } = await endpoint({ has_auth_token: true });
    const { vanity_uri, id } = inbound_webhook;
    expect([inbound_webhook.has_auth_token, auth_token]).toEqual([
      true,
      expect.stringMatching(/^wt_[0-9a-f]{64}$/),
    ]);
    expect((await world.company.api('get', `inbound_webhooks/${id}`)).text).not.toContain(
      auth_token,
    );
    expect(
      JSON.stringify(await world.sql('SELECT row_to_json(w)::text AS row FROM inbound_webhooks w')),
    ).not.toContain(auth_token);
    const asked = (sent: Fields, headers = {}) =>
      send('ping', vanity_uri, { caller_id: CALLER, ...sent }, { headers }).then(
        ({ status }) => status,
      );
    expect(await asked({})).toBe(401);
    expect(await asked({ auth_token: 'wrong' })).toBe(401);
    expect(await asked({ auth_token })).toBe(200);
    expect(await asked({}, { Authorization: `Token ${auth_token}` })).toBe(200);
    const reset = (
      await world.company.api('put', `inbound_webhooks/${id}`, { body: { reset_auth_token: true } })
    ).body;
    expect([await asked({ auth_token }), await asked({ auth_token: reset.auth_token })]).toEqual([
      401, 200,
    ]);
    const same = (
      await world.company.api('put', `inbound_webhooks/${id}`, { body: { has_auth_token: true } })
    ).body;
    expect([same.auth_token, await asked({ auth_token: reset.auth_token })]).toEqual([
      undefined,
      200,
    ]);
    await world.company.api('put', `inbound_webhooks/${id}`, { body: { has_auth_token: false } });
    expect(await asked({})).toBe(200);
  });
});

describe('a ping', () => {
  test('tells the buyers in the order in which they are tried, what they pay, and who is held', async () => {
    const conversions = (revenue: number, duration: number) => ({
      current_conversion_revenue: revenue,
      current_conversion_duration: duration,
    });
    const second = await buyer({ tier: 2, name: 'B', ...conversions(40, 90) });
    const first = await buyer({ tier: 1, name: 'A', user_buyer_id: 'a', ...conversions(25.5, 60) });
    const told = await ping(await shop([second, first, await buyer({ paused: true })]));
    const uuid = told.try_all_buyers_ping_id;
    const expires_at = '2026-06-01T12:31:00.000Z';
    expect(told).toEqual({
      success: true,
      status: 'accepted',
      errors: [],
      buyers: [
        {
          ping_id: `${uuid}-${first}`,
          buyer_id: first,
          user_buyer_id: 'a',
          name: 'A',
          bid_price: 25.5,
          bid_duration: 60,
          held: true,
          expires_at,
        },
        {
          ping_id: `${uuid}-${second}`,
          buyer_id: second,
          user_buyer_id: null,
          name: 'B',
          bid_price: 40,
          bid_duration: 90,
          held: false,
          expires_at,
        },
      ],
      try_all_buyers_ping_id: uuid,
      bid_price: 40,
      expires_at,
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
    const [row] = await world.sql(
      'SELECT caller_number, sub_id, token_values FROM pings WHERE company_id = $1',
      [world.company.id],
    );
    expect(row).toEqual({
      caller_number: '13105550188',
      sub_id: 'x',
      token_values: { state: 'CA' },
    });
  });

  test('by GET is the same, for browsers of any origin, and is not to be stored', async () => {
    const at = await shop([await buyer({ record_token_filter_list: ['state:CA'] })]);
    const res = await world.company.api('get', `inbound_webhooks/ping/${at}`, {
      auth: null,
      query: { caller_number: CALLER, state: 'CA' },
      headers: { Origin: 'https://a.example' },
    });
    expect([
      res.body.status,
      res.headers['cache-control'],
      res.headers['access-control-allow-origin'],
    ]).toEqual(['accepted', 'no-store', 'https://a.example']);
    const wrong = await world.company.api('get', `inbound_webhooks/post/${at}`, {
      auth: null,
      query: { sub_id: 'x'.repeat(300) },
    });
    expect([wrong.status, Object.keys(wrong.body.errors)]).toEqual([422, ['sub_id']]);
  });

  test('without a caller is refused by name', async () => {
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
        world.company.api('post', 'contacts/caller_block', { body: { caller_ids: [CALLER] } }),
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
        world.company.api('put', `offers/${await offerAt(at)}`, { body: { paused: true } }),
    ],
    [
      'webhook_paused',
      {},
      async (at: string) =>
        world.company.api('put', `inbound_webhooks/${await idAt(at)}`, { body: { paused: true } }),
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
  test('without a ping chooses and holds, and full tells both', async () => {
    const id = await buyer({ attempt_total_limit: 2 });
    const offer_id = await offer({ buyer_ids: [id] });
    const at = (await endpoint({ offer_id })).inbound_webhook.vanity_uri;
    const { number } = (
      await world.company.api('post', 'phone_numbers', { body: { prefix: '212', offer_id } })
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

  test('forwards to a number without an offer when the offer has none, and its call comes to the offer', async () => {
    const id = await buyer();
    const at = await shop([id]);
    const { number } = (
      await world.company.api('post', 'phone_numbers', { body: { prefix: '212' } })
    ).body;
    const posted = (await send('full', at, { caller_id: CALLER })).body;
    expect(posted.forwarding_number).toBe(number.number);
    const begun = await world.company.api('post', 'call_sessions', {
      body: { number_called: number.number, caller_number: CALLER },
    });
    expect(begun.body.call_session).toMatchObject({
      offer_id: await offerAt(at),
      instruction: { action: 'dial', dial: [{ buyer_id: id }] },
    });
    const other = await world.company.api('post', 'call_sessions', {
      body: { number_called: number.number, caller_number: '+13105550101' },
    });
    expect(other.status).toBe(422);
  });

  test('of a buyer that cannot be forwarded to is none that is told', async () => {
    expect((await ping(await shop([await buyer({ number: 'sip:desk@example.com' })]))).status).toBe(
      'no_buyer_available',
    );
  });

  test.each(['nonsense', '019a9e6c-3f0e-7c52-9a51-5f2b60a3c001', '7'])(
    'with the ping_id %s refuses it by name',
    async (ping_id) => {
      const res = await send('post', await shop([]), { ping_id });
      expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['ping_id']]);
    },
  );

  test('with the ping_id of another endpoint, of another buyer, or for another caller is refused by name', async () => {
    const at = await shop([await buyer()]);
    const told = await ping(at);
    const refused = async (where: string, fields: Fields) =>
      Object.keys((await send('post', where, fields)).body.errors);
    expect(await refused(await shop([]), { ping_id: told.try_all_buyers_ping_id })).toEqual([
      'ping_id',
    ]);
    expect(await refused(at, { ping_id: `${told.try_all_buyers_ping_id}-999` })).toEqual([
      'ping_id',
    ]);
    expect(
      await refused(at, { ping_id: told.try_all_buyers_ping_id, caller_id: '+13105550101' }),
    ).toEqual(['caller_id']);
  });
});

const one = async (at: string) =>
  (
    await world.sql<{ id: string; offer_id: string }>(
      'SELECT id, offer_id FROM inbound_webhooks WHERE vanity_uri = $1',
      [at],
    )
  )[0]!;
const offerAt = async (at: string) => Number((await one(at)).offer_id);
const idAt = async (at: string) => Number((await one(at)).id);
const suppressed = async (fields: Fields) => {
  const { id } = await record('buyer_suppressions', { name: 'List', ...fields });
  return world.company.api('post', `buyer_suppressions/${id}/caller_block`, {
    body: { caller_ids: [CALLER] },
  });
};
