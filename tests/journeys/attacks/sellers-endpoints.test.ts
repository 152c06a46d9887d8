import { openShop } from '../../support/leads';
import { createWorld, type World } from '../../support/world';

// The endpoints of sellers: each ping of one holds a buyer. Their addresses are names that people
// choose, so that they can be guessed.

type Fields = Record<string, unknown>;

const ADDRESS = '203.0.113.1';
const CALLER = '+13105550188';

let world: World;
let endpointCount = 0;
afterEach(() => world.close());

const openWorld = async (environment: Record<string, string> = {}, rateWindowSeconds?: number) => {
  world = await createWorld({
    environment: { TRUST_PROXY: '1', ...environment },
    ...(rateWindowSeconds && { rate_window_seconds: rateWindowSeconds }),
  });
};
async function createRecord(plural: string, body: Fields) {
  const res = await world.company.api('post', plural, { body });
  if (res.status !== 201) throw new Error(res.text);
  return res.body;
}
/** The name of a new endpoint with a buyer, and its answer. */
async function createEndpoint(fields: Fields = {}) {
  const { offer } = await openShop(world, []);
  const { buyer } = await createRecord('buyers', { name: 'Buyer', number: '+13105550111' });
  await world.company.api('put', `offers/${offer.id}`, { body: { buyer_ids: [buyer.id] } });
  const vanityUri = `door-${endpointCount++}`;
  return createRecord('inbound_webhooks', {
    name: 'D',
    vanity_uri: vanityUri,
    offer_id: offer.id,
    ...fields,
  });
}
const send = (at: string, body: Fields, from = ADDRESS, kind = 'ping') =>
  world.company.api('post', `inbound_webhooks/${kind}/${at}`, {
    auth: null,
    body,
    headers: { 'X-Forwarded-For': from },
  });
const tally = (answers: readonly { status: number }[]) =>
  answers.reduce<Record<number, number>>(
    (counts, { status }) => ({ ...counts, [status]: (counts[status] ?? 0) + 1 }),
    {},
  );
const countHolds = async () =>
  Number((await world.sql<{ n: string }>('SELECT count(*) AS n FROM call_holds'))[0]!.n);

describe('a new endpoint', () => {
  beforeEach(() => openWorld());

  test('has a token unless it is asked to have none, and nothing without it', async () => {
    const { inbound_webhook, auth_token } = await createEndpoint();
    const at = inbound_webhook.vanity_uri;
    expect([inbound_webhook.has_auth_token, /^wt_[0-9a-f]{64}$/.test(auth_token)]).toEqual([
      true,
      true,
    ]);
    expect((await send(at, { caller_id: CALLER })).status).toBe(401);
    expect(await countHolds()).toBe(0);
    expect((await send(at, { caller_id: CALLER, auth_token })).body.status).toBe('accepted');
    const shown = await world.company.api('get', 'inbound_webhooks/new');
    expect(shown.body.inbound_webhook).toMatchObject({
      has_auth_token: true,
      max_open_holds: 1000,
    });
    const bare = await createEndpoint({ has_auth_token: false });
    expect([bare.inbound_webhook.has_auth_token, bare.auth_token]).toEqual([false, undefined]);
    const reply = await send(bare.inbound_webhook.vanity_uri, { caller_id: CALLER });
    expect(reply.body.status).toBe('accepted');
  });

  test('keeps the token that it has when another field is changed', async () => {
    const { inbound_webhook, auth_token } = await createEndpoint();
    const path = `inbound_webhooks/${inbound_webhook.id}`;
    const changed = await world.company.api('put', path, { body: { hold_seconds: 30 } });
    expect(changed.body.auth_token).toBe(undefined);
    const response = await send(inbound_webhook.vanity_uri, { caller_id: CALLER, auth_token });
    expect(response.body.status).toBe('accepted');
    const bare = await createEndpoint({ has_auth_token: false });
    const updated = await world.company.api('put', `inbound_webhooks/${bare.inbound_webhook.id}`, {
      body: { hold_seconds: 30 },
    });
    expect(updated.body.inbound_webhook.has_auth_token).toBe(false);
  });
});

describe('open holds', () => {
  beforeEach(() => openWorld());

  test.each(['ping', 'post', 'full'])(
    '%s: five of one caller at most, from any addresses, however many come at once',
    async (kind) => {
      const { inbound_webhook } = await createEndpoint({ has_auth_token: false });
      const at = inbound_webhook.vanity_uri;
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, n) =>
          send(at, { caller_id: CALLER }, `203.0.113.${n}`, kind),
        ),
      );
      expect([tally(answers), await countHolds()]).toEqual([{ 200: 5, 429: 55 }, 5]);
      const refused = answers.find(({ status }) => status === 429)!;
      expect(refused.body.detail).toContain('already holds buyers for 5 pings of this caller');
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      expect((await send(at, { caller_id: '+13105550189' })).status).toBe(200);
    },
  );

  test('as many of one address as the endpoint allows, for any callers', async () => {
    const { inbound_webhook } = await createEndpoint({ has_auth_token: false, max_open_holds: 20 });
    const at = inbound_webhook.vanity_uri;
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) => send(at, { caller_id: `+1310555${2000 + n}` })),
    );
    expect([tally(answers), await countHolds()]).toEqual([{ 200: 20, 429: 40 }, 20]);
    expect((await send(at, { caller_id: CALLER }, '198.51.100.7')).status).toBe(200);
  });

  test('a hold that was posted, or has ended, makes room for no more and one more', async () => {
    const { inbound_webhook } = await createEndpoint({ has_auth_token: false, max_open_holds: 1 });
    const at = inbound_webhook.vanity_uri;
    const { ping_id } = (await send(at, { caller_id: CALLER })).body.buyers[0];
    expect((await send(at, { ping_id }, ADDRESS, 'post')).body.status).toBe('accepted');
    expect((await send(at, { caller_id: CALLER })).status).toBe(429);
    await world.sql(`UPDATE call_holds SET expires_at = now() - interval '1 second'`);
    expect((await send(at, { caller_id: CALLER })).status).toBe(200);
  });
});

describe('rates', () => {
  const LIMIT = 40;

  test('an address has so many requests at an endpoint, and others have theirs', async () => {
    await openWorld({ SELLER_RATE_LIMIT_PER_MINUTE: String(LIMIT) }, 100_000_000);
    const [first, second] = [await createEndpoint(), await createEndpoint()];
    const ask = ({ inbound_webhook, auth_token }: typeof first, from: string) =>
      send(inbound_webhook.vanity_uri, { caller_id: 'nobody', auth_token }, from);
    const answers = [];
    for (let n = 0; n < 2 * LIMIT; n++) answers.push(await ask(first, ADDRESS));
    expect(tally(answers)).toEqual({ 200: LIMIT, 429: LIMIT });
    expect((await ask(first, '198.51.100.7')).status).toBe(200);
    expect((await ask(second, ADDRESS)).status).toBe(200);
  });

  test('names are not guessed, with or without a token', async () => {
    await openWorld();
    const openEndpoint = await createEndpoint({ has_auth_token: false });
    const closed = await createEndpoint();
    const guess = (name: string, fields: Fields, from: string) =>
      send(name, { caller_id: CALLER, ...fields }, from);
    for (const [from, fields] of [
      ['203.0.113.50', {}],
      ['203.0.113.51', { auth_token: 'guess' }],
    ] as const) {
      const answers = [];
      for (let n = 0; n < 30; n++) answers.push(await guess(`guess-${n}`, fields, from));
      expect(tally(answers)).toEqual({ 404: 10, 429: 20 });
      // From then on a name that exists looks like any other.
      for (const { inbound_webhook } of [openEndpoint, closed])
        expect((await guess(inbound_webhook.vanity_uri, fields, from)).status).toBe(429);
      const { auth_token, inbound_webhook } = closed;
      const seller = await guess(inbound_webhook.vanity_uri, { auth_token }, from);
      expect([seller.status, seller.body.status]).toEqual([200, 'accepted']);
    }
    const honest = await guess(openEndpoint.inbound_webhook.vanity_uri, {}, '198.51.100.7');
    expect(honest.body.status).toBe('accepted');
  });

  test('an endpoint whose token is missing counts as a guess too', async () => {
    await openWorld();
    const { inbound_webhook } = await createEndpoint();
    const answers = [];
    for (let n = 0; n < 30; n++)
      answers.push(await send(inbound_webhook.vanity_uri, { caller_id: CALLER }));
    expect(tally(answers)).toEqual({ 401: 10, 429: 20 });
  });
});
