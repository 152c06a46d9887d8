import { showCode } from '../../../support/authenticator-app';
import { createPerson, openBrowser, PASSWORD } from '../../../support/console-session';
import { CLIENT, passProvider, startProvider, type Claims } from '../../../support/oidc-provider';
import { useWorld } from '../../../support/use-world';
import { buildApp } from '../../../support/world';

// People sign in at a provider of OpenID Connect: users of the company, by a confirmed address.

const PUBLIC = 'http://localhost:3000';
let provider: Awaited<ReturnType<typeof startProvider>>;
const world = useWorld({
  environment: async () => {
    // The provider warns that it keeps everything in memory, and on Node.js 20 of its age.
    jest.spyOn(console, 'warn').mockImplementation(() => {});
    provider = await startProvider(`${PUBLIC}/console/sign-in/oidc/callback`);
    return {
      TRUST_PROXY: '1',
      PUBLIC_URL: PUBLIC,
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.client_id,
      OIDC_CLIENT_SECRET: CLIENT.client_secret,
      OIDC_NAME: 'Acme ID',
    };
  },
});
afterAll(() => provider.close());
let visitors = 0;
const open = () => openBrowser(world, { ip: `198.51.100.${++visitors}` });
type Browser = ReturnType<typeof open>;

const createUser = async (email: string) =>
  (await world.api('post', 'users', { body: { email, invite: false } })).body.user.id as number;

/** Leaves for the provider; returns the address that it leads back to. */
const leave = async (browser: Browser, query = '') => {
  const away = await browser.send('get', `/console/sign-in/oidc${query}`);
  expect(away.status).toBe(303);
  return (await passProvider(away.headers.location!, provider.issuer)).slice(PUBLIC.length);
};
/** The provider's site leads back: the browser says so. */
const comeBack = async (browser: Browser, path: string) => {
  const back = await browser.send('get', path, { headers: { 'Sec-Fetch-Site': 'cross-site' } });
  expect(back.status).toBe(303);
  return back.headers.location!;
};
const signIn = async (claims: Claims, browser = open(), query = '') => {
  provider.be(claims);
  return comeBack(browser, await leave(browser, query));
};
const person = (name: string): Claims => ({
  sub: `id-of-${name}`,
  email: `${name}@example.com`,
  email_verified: true,
});
const REFUSED = '/console/#/sign-in?error=oidc_unknown_user';

test('the page learns the name of the provider', async () => {
  const { body } = await open().send('get', '/console/session');
  expect(body.methods).toEqual({ password: true, link: false, oidc: { name: 'Acme ID' } });
});

test('a user with the confirmed address is signed in, and led to the view', async () => {
  await createUser('ann@example.com');
  const browser = open();
  const location = await signIn(person('ann'), browser, '?return_to=%23%2Fcalls%3Fstatus%3Dbusy');
  expect(location).toBe('/console/#/calls?status=busy');
  const { session } = (await browser.send('get', '/console/session')).body;
  expect(session).toMatchObject({ method: 'oidc', user: { email: 'ann@example.com' } });
  expect((await browser.send('get', 'me')).status).toBe(200);
});

test.each<[string, Claims]>([
  ['nobody has the address', person('stranger')],
  ['the address is not confirmed', { ...person('bob'), email_verified: false }],
  ['nothing is said of the confirmation', { sub: 'x', email: 'bob@example.com' }],
  ['there is no address', { sub: 'y' }],
])('no one is signed in where %s', async (_, claims) => {
  if ((await world.sql(`SELECT FROM users WHERE email = 'bob@example.com'`)).length === 0)
    await createUser('bob@example.com');
  const browser = open();
  expect(await signIn(claims, browser)).toBe(REFUSED);
  expect((await browser.send('get', '/console/session')).body.session).toBe(null);
});

test('a user stays bound to the person at the provider, whatever the address becomes', async () => {
  const id = await createUser('carl@example.com');
  expect(await signIn(person('carl'))).toBe('/console/#/');
  await world.api('put', `users/${id}`, { body: { email: 'carl2@example.com' } });
  expect(await signIn(person('carl'))).toBe('/console/#/');
  const impostor = { sub: 'another', email: 'carl2@example.com', email_verified: true };
  expect(await signIn(impostor)).toBe(REFUSED);
});

test('the second factor is asked for all the same', async () => {
  await createPerson(world, world.company, 'dora@example.com');
  const careful = open();
  await careful.signIn('dora@example.com');
  const send = (browser: Browser, path: string, body: object) =>
    browser.send('post', `/console/${path}`, { body });
  const { secret } = (await send(careful, 'second-factor', { password: PASSWORD })).body;
  await send(careful, 'second-factor/confirm', { code: showCode(secret, new Date()) });
  const browser = open();
  await signIn(person('dora'), browser);
  const { body } = await browser.send('get', '/console/session');
  expect([body.session, body.pending]).toEqual([null, { state: 'second_factor' }]);
  const code = showCode(secret, new Date(Date.now() + 30_000));
  expect((await send(browser, 'session/code', { code })).status).toBe(201);
  const bound = await world.sql(`SELECT FROM user_logins WHERE oidc_subject = 'id-of-dora'`);
  expect(bound).toHaveLength(1);
});

describe('an attacker', () => {
  beforeAll(() => createUser('eve@example.com'));

  test('plants no sign-in: the answer of the provider is for the browser that left', async () => {
    provider.be(person('eve'));
    const path = await leave(open());
    const victim = open();
    expect(await comeBack(victim, path)).toBe('/console/#/sign-in?error=oidc_expired');
    await leave(victim);
    expect(await comeBack(victim, path)).toBe('/console/#/sign-in?error=oidc_failed');
    expect((await victim.send('get', '/console/session')).body.session).toBe(null);
  });

  test('uses no answer twice, and makes none up', async () => {
    const browser = open();
    provider.be(person('eve'));
    const path = await leave(browser);
    const copy = browser.copy();
    expect(await comeBack(browser, path)).toBe('/console/#/');
    expect(await comeBack(browser, path)).toBe('/console/#/sign-in?error=oidc_expired');
    expect(await comeBack(copy, path)).toBe('/console/#/sign-in?error=oidc_failed');
    const forged = open();
    const state = new URL(await leave(forged), PUBLIC).searchParams.get('state');
    const forgery = `/console/sign-in/oidc/callback?code=made-up&state=${state}`;
    expect(await comeBack(forged, forgery)).toBe('/console/#/sign-in?error=oidc_failed');
  });

  test.each(['https://evil.example', '//evil.example', '#//evil', '#/a b', '/', '#/\r\nX: y'])(
    'leads to no other site afterwards: %j',
    async (target) => {
      const location = await signIn(
        person('eve'),
        open(),
        `?return_to=${encodeURIComponent(target)}`,
      );
      expect(new URL(location, PUBLIC).origin).toBe(PUBLIC);
      expect(location).toMatch(/^\/console\/#\//);
    },
  );

  test('has no one begin from another site', async () => {
    const headers = { 'Sec-Fetch-Site': 'cross-site' };
    const res = await open().send('get', '/console/sign-in/oidc', { headers });
    expect([res.status, res.body.code]).toEqual([403, 'foreign_origin']);
  });
});

test('without a provider the path is unknown, and one that is down is said so', async () => {
  const without = openBrowser({ app: buildApp(world.openProcess({ OIDC_ISSUER: '' })) });
  expect((await without.send('get', '/console/sign-in/oidc')).status).toBe(404);
  const closed = { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'trunkline' };
  const down = buildApp(world.openProcess(closed));
  const away = await openBrowser({ app: down }).send('get', '/console/sign-in/oidc');
  expect([away.status, away.headers.location]).toEqual([
    303,
    '/console/#/sign-in?error=oidc_failed',
  ]);
});
