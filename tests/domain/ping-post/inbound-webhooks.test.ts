import { CALLER, endpoints } from '../../support/sellers';

type Fields = Record<string, unknown>;

const here = endpoints();
const { record, offer, endpoint, send } = here;

describe('an endpoint', () => {
  test('has its paths and defaults, is listed, changed and deleted', async () => {
    const offerId = await offer();
    const source = await record('traffic_sources', { name: 'Partner' });
    const { inbound_webhook, auth_token } = await endpoint({
      offer_id: offerId,
      traffic_source_id: source.id,
      vanity_uri: 'a_b-3',
    });
    expect(auth_token).toBeUndefined();
    expect(inbound_webhook).toMatchObject({
      type: 'InboundWebhook',
      name: 'Partner',
      vanity_uri: 'a_b-3',
      offer_id: offerId,
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
      (
        await here.world.company.api('put', path, {
          body: { hold_seconds: 300, vanity_uri: 'a_b-4' },
        })
      ).body.inbound_webhook.hold_seconds,
    ).toBe(300);
    expect(
      (await here.world.company.api('put', path, { body: { hold_seconds: '' } })).body
        .inbound_webhook.hold_seconds,
    ).toBe(60);
    expect(
      (await here.world.company.api('get', 'inbound_webhooks', { query: { fulltext: 'A_B-4' } }))
        .body.metadata.total_count,
    ).toBe(1);
    expect((await send('ping', 'a_b-3', { caller_id: CALLER })).status).toBe(404);
    expect((await send('ping', 'a_b-4', { caller_id: CALLER })).status).toBe(200);
    expect((await here.world.company.api('delete', path)).status).toBe(200);
    expect((await send('ping', 'a_b-4', { caller_id: CALLER })).status).toBe(404);
    expect((await endpoint({ vanity_uri: 'a_b-4' })).status).toBe(201);
  });

  test('has an address that is unique in the installation', async () => {
    const otherCompany = await here.world.addCompany();
    const theirs = await otherCompany.api('post', 'offers', { body: { name: 'Theirs' } });
    const body = { name: 'Theirs', vanity_uri: 'taken', offer_id: theirs.body.offer.id };
    const answers = await Promise.all([
      endpoint({ vanity_uri: 'taken' }),
      otherCompany.api('post', 'inbound_webhooks', { body }).then((res) => res.body),
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
  ])('rejects %j with the name of the field', async (fields, name) => {
    const res = await endpoint(fields);
    expect([res.status, Object.keys(res.errors)]).toEqual([422, [name]]);
  });

  test('shows its token once, stores its digest, and requires it', async () => {
    const { inbound_webhook, auth_token } = await endpoint({ has_auth_token: true });
    const { vanity_uri, id } = inbound_webhook;
    expect([inbound_webhook.has_auth_token, auth_token]).toEqual([
      true,
      expect.stringMatching(/^wt_[0-9a-f]{64}$/),
    ]);
    expect((await here.world.company.api('get', `inbound_webhooks/${id}`)).text).not.toContain(
      auth_token,
    );
    expect(
      JSON.stringify(
        await here.world.sql('SELECT row_to_json(w)::text AS row FROM inbound_webhooks w'),
      ),
    ).not.toContain(auth_token);
    const sendPing = (fields: Fields, headers = {}) =>
      send('ping', vanity_uri, { caller_id: CALLER, ...fields }, { headers }).then(
        ({ status }) => status,
      );
    expect(await sendPing({})).toBe(401);
    expect(await sendPing({ auth_token: 'wrong' })).toBe(401);
    expect(await sendPing({ auth_token })).toBe(200);
    expect(await sendPing({}, { Authorization: `Token ${auth_token}` })).toBe(200);
    const reset = (
      await here.world.company.api('put', `inbound_webhooks/${id}`, {
        body: { reset_auth_token: true },
      })
    ).body;
    expect([
      await sendPing({ auth_token }),
      await sendPing({ auth_token: reset.auth_token }),
    ]).toEqual([401, 200]);
    const same = (
      await here.world.company.api('put', `inbound_webhooks/${id}`, {
        body: { has_auth_token: true },
      })
    ).body;
    expect([same.auth_token, await sendPing({ auth_token: reset.auth_token })]).toEqual([
      undefined,
      200,
    ]);
    await here.world.company.api('put', `inbound_webhooks/${id}`, {
      body: { has_auth_token: false },
    });
    expect(await sendPing({})).toBe(200);
  });
});
