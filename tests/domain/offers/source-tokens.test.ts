import { sellers } from '../../support/sellers';
import { createMember } from '../../support/teams';

// Tokens of traffic sources: what comes with one is of that source, whatever the sender says.

const here = sellers();
const { ok, buyer, shop, ask } = here;

type Fields = Record<string, unknown>;
const CALLER = '+13105550188';
const createSource = async (name: string): Promise<number> =>
  (await ok('traffic_sources', { name })).traffic_source.id;
const createToken = (trafficSourceId: number, fields: Fields) =>
  ok('traffic_source_tokens', { traffic_source_id: trafficSourceId, ...fields });
const revoke = (id: number) => here.world.company.api('delete', `traffic_source_tokens/${id}`);
const submit = (fields: Fields) =>
  here.world.company.api('post', 'leads', { auth: null, body: { caller_id: CALLER, ...fields } });
const createShop = async (fields: Fields = {}) => shop([await buyer()], fields);

const loadLead = async (id: number) =>
  (await here.world.company.api('get', `leads/${id}`)).body.lead as Fields;

test('a lead that comes with a lead token is of its source, and any other is set aside', async () => {
  const [ownSource, otherSource] = [await createSource('Own'), await createSource('Other')];
  const { offer } = await createShop();
  const { traffic_source_token: token } = await createToken(ownSource, { offer_id: offer });
  const { lead_token } = token;
  const first = await submit({ lead_token });
  expect([first.status, (await loadLead(first.body.id)).traffic_source_id]).toEqual([
    201,
    ownSource,
  ]);
  const second = await submit({
    lead_token,
    caller_id: '+13105550199',
    traffic_source_id: otherSource,
  });
  expect(second.status).toBe(201);
  expect(Object.keys(second.body.warnings)).toEqual(['traffic_source_id']);
  expect((await loadLead(second.body.id)).traffic_source_id).toBe(ownSource);
});

test('a lead token of a source submits leads, and does nothing else', async () => {
  const { offer } = await createShop();
  const { traffic_source_token: token } = await createToken(await createSource('Own'), {
    offer_id: offer,
  });
  const { lead_token } = token;
  const { body } = await submit({ lead_token });
  const path = `leads/${lead_token}/${encodeURIComponent(CALLER)}/by_caller_number`;
  const read = await here.world.company.api('get', path, { auth: null });
  expect([body.success, read.status, read.body.code]).toEqual([true, 403, 'not_permitted']);
});

test('a revoked lead token is refused, and that of the offer still works after a reset', async () => {
  const { offer } = await createShop();
  const { traffic_source_token: token } = await createToken(await createSource('Own'), {
    offer_id: offer,
  });
  const reset = await ok(`offers/${offer}`, { reset_lead_token: true }, 'put');
  expect((await submit({ lead_token: token.lead_token })).status).toBe(201);
  expect((await submit({ lead_token: reset.offer.lead_token })).status).toBe(200);
  expect((await revoke(token.id)).status).toBe(200);
  expect((await submit({ lead_token: token.lead_token })).status).toBe(401);
  expect((await submit({ lead_token: reset.offer.lead_token })).status).toBe(200);
});

test.each([
  ['the source', (sourceId: number) => `traffic_sources/${sourceId}`],
  ['the offer', (_: number, offer: number) => `offers/${offer}`],
])('with %s its tokens go', async (_, toPath) => {
  const ownSource = await createSource('Own');
  const { offer } = await createShop();
  const { traffic_source_token: token } = await createToken(ownSource, { offer_id: offer });
  await here.world.company.api('delete', toPath(ownSource, offer));
  const listed = await here.world.company.api('get', 'traffic_source_tokens');
  expect(listed.body.traffic_source_tokens).toEqual([]);
  const shown = await here.world.company.api('get', `traffic_source_tokens/${token.id}`);
  expect(shown.status).toBe(404);
  const rows = await here.world.sql('SELECT 1 FROM lead_tokens WHERE token = $1', [
    token.lead_token,
  ]);
  expect(rows).toEqual([]);
});

test('a ping that comes with an auth token is of its source, and another source is refused', async () => {
  const [ownSource, otherSource] = [await createSource('Own'), await createSource('Other')];
  const at = await createShop({ has_auth_token: true });
  await here.buyNumber(at);
  const { inbound_webhooks } = (await here.world.company.api('get', 'inbound_webhooks')).body;
  const send = (body: Fields) =>
    here.world.company.api('post', `inbound_webhooks/ping/${at.at}`, {
      auth: null,
      body: { caller_id: '+13105550177', ...body },
    });
  // The endpoint is remembered from here on; a new token is known at once all the same.
  expect((await send({ auth_token: 'another' })).status).toBe(401);
  const createdToken = await createToken(ownSource, { inbound_webhook_id: inbound_webhooks[0].id });
  expect(createdToken.traffic_source_token.lead_token).toBeNull();
  const { auth_token } = createdToken;
  await ask('ping', at, { caller_id: CALLER, auth_token });
  const [ping] = await here.world.sql<Fields>(
    'SELECT traffic_source_id::float8 AS source FROM pings WHERE company_id = $1',
    [here.world.company.id],
  );
  expect(ping).toEqual({ source: ownSource });
  const refused = await send({ auth_token, traffic_source_id: otherSource });
  expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, ['traffic_source_id']]);
  expect((await send({ auth_token: `${auth_token}0` })).status).toBe(401);
  await revoke(createdToken.traffic_source_token.id);
  expect((await send({ auth_token })).status).toBe(401);
});

test.each([
  [{}, 'offer_id'],
  [{ offer_id: 'offer', schedule_id: '1' }, 'schedule_id'],
  [{ offer_id: '999999' }, 'offer_id'],
])('a token for %j is refused', async (fields: Fields, field) => {
  const { offer } = await createShop();
  const body = {
    traffic_source_id: await createSource('Own'),
    ...fields,
    ...(fields.offer_id === 'offer' && { offer_id: offer }),
  };
  const res = await here.world.company.api('post', 'traffic_source_tokens', { body });
  expect([res.status, Object.keys(res.body.errors)]).toEqual([422, [field]]);
});

test("a publisher's login sees the own tokens alone, and makes none", async () => {
  const [ownSource, otherSource] = [await createSource('Own'), await createSource('Other')];
  const { offer } = await createShop();
  await createToken(ownSource, { offer_id: offer });
  await createToken(otherSource, { offer_id: offer });
  const permissions = ['traffic_source_tokens:read', 'traffic_source_tokens:create'];
  const { api } = await createMember(here.world.company, 'publisher@example.com', {
    permissions,
    traffic_source_ids: [ownSource],
  });
  const { traffic_source_tokens } = (await api('get', 'traffic_source_tokens')).body;
  expect(traffic_source_tokens).toMatchObject([{ traffic_source_id: ownSource }]);
  for (const trafficSourceId of [ownSource, otherSource]) {
    const body = { traffic_source_id: trafficSourceId, offer_id: offer };
    const refused = await api('post', 'traffic_source_tokens', { body });
    expect([refused.status, refused.body.code]).toEqual([403, 'not_permitted']);
  }
});
