import { contract } from '../../../src/platform/contract/contract';
import {
  createPerson,
  openBrowser,
  PASSWORD,
  type ConsoleBrowser,
} from '../../support/console-session';
import { useWorld } from '../../support/use-world';
import { buildApp } from '../../support/world';

// A session in a cookie is for the console alone: other pages cannot use it, and it cannot be used
// elsewhere.

const world = useWorld({ environment: { TRUST_PROXY: '1' } });
const EMAIL = 'victim@example.com';
let visitors = 0;
const open = () => openBrowser(world, { ip: `203.0.113.${++visitors}` });
let victim: ConsoleBrowser;

beforeAll(() => createPerson(world, world.company, EMAIL));
beforeEach(async () => {
  victim = open();
  expect((await victim.signIn(EMAIL)).status).toBe(201);
});

const countBuyers = async () =>
  (await world.sql<{ n: number }>('SELECT count(*)::int AS n FROM buyers'))[0]!.n;
const buyer = { number: '+12135550123' };

describe('a page of another origin', () => {
  test.each<[string, Record<string, string | undefined>]>([
    ['of another site', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }],
    ['of a neighbouring host', { 'Sec-Fetch-Site': 'same-site', Origin: 'http://x.localhost' }],
    ['of a link that was typed', { 'Sec-Fetch-Site': 'none' }],
    ['in a sandbox', { 'Sec-Fetch-Site': 'cross-site', Origin: 'null' }],
    ['in an old browser', { 'Sec-Fetch-Site': undefined, Origin: 'https://evil.example' }],
    ['in a sandbox of an old browser', { 'Sec-Fetch-Site': undefined, Origin: 'null' }],
    ['with a malformed origin', { 'Sec-Fetch-Site': undefined, Origin: 'evil' }],
    ['without a word of where it is', { 'Sec-Fetch-Site': undefined, Origin: undefined }],
  ])('changes nothing, even with the token: %s', async (_, headers) => {
    const before = await countBuyers();
    const answers = await Promise.all([
      victim.send('post', 'buyers', { body: buyer, headers }),
      victim.send('delete', '/console/session', { headers }),
      open().send('post', '/console/session', {
        body: { email: EMAIL, password: PASSWORD },
        headers,
      }),
    ]);
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
      Array<unknown>(3).fill([403, 'foreign_origin']),
    );
    expect(await countBuyers()).toBe(before);
    expect((await victim.send('get', 'me')).status).toBe(200);
  });

  test('gets no leave to read or to send: there is no CORS at the console', async () => {
    const headers = {
      Origin: 'https://evil.example',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'x-csrf-token',
    };
    for (const path of ['buyers', 'leads/capture', '/console/session']) {
      const preflight = await victim.send('options', path, { headers });
      const allowed = Object.keys(preflight.headers).filter((name) => /^access-control/.test(name));
      expect([path, allowed]).toEqual([path, []]);
    }
    const read = await victim.send('get', 'me', { headers: { Origin: 'https://evil.example' } });
    expect(Object.keys(read.headers).filter((name) => /^access-control/.test(name))).toEqual([]);
  });

  test('cannot send a form: it has no token, and the console reads JSON alone', async () => {
    const before = await countBuyers();
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const posted = await victim.send('post', 'buyers', {
      body: 'number=%2B12135550123',
      headers: { ...form, 'X-CSRF-Token': undefined },
    });
    expect([posted.status, posted.body.code]).toEqual([403, 'foreign_origin']);
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', undefined]) {
      const signIn = await open().send('post', '/console/session', {
        body: `{"email":"${EMAIL}","password":"${PASSWORD}"}`,
        headers: { 'Content-Type': type ?? 'text/plain;charset=UTF-8' },
      });
      expect([signIn.status, signIn.body.code]).toEqual([415, 'unsupported_media_type']);
    }
    expect(await countBuyers()).toBe(before);
  });
});

describe('the token against forged requests', () => {
  const WRITES = ['post', 'put', 'delete'] as const;

  test.each([
    ['without one', undefined],
    ['with that of another session', 'other'],
    ['with one that is cut', 'cut'],
  ])('no change passes %s', async (_, kind) => {
    const other = open();
    await other.signIn(EMAIL);
    const token = { other: other.csrf, cut: victim.csrf.slice(0, -1) }[kind ?? ''];
    const headers = { 'X-CSRF-Token': token };
    for (const method of WRITES) {
      const path = method === 'post' ? 'buyers' : 'buyers/1';
      const body = method === 'delete' ? undefined : buyer;
      const res = await victim.send(method, path, { headers, ...(body && { body }) });
      expect([method, res.status, res.body.code]).toEqual([method, 403, 'foreign_origin']);
    }
    const out = await victim.send('delete', '/console/session', { headers });
    expect(out.status).toBe(403);
    expect((await victim.send('get', 'me')).status).toBe(200);
  });

  test('a GET with effects is a change too', async () => {
    const effects = contract.operations.filter(
      ({ method, effect, credentials }) => method === 'get' && effect && credentials === 'account',
    );
    expect(effects.length).toBeGreaterThan(0);
    for (const { path } of effects) {
      const url = `/console${path.replace(/\{\w+\}/g, '1')}`;
      const res = await victim.send('get', url, { headers: { 'X-CSRF-Token': undefined } });
      expect([path, res.status, res.body.code]).toEqual([path, 403, 'foreign_origin']);
      const head = await victim.send('head', url, { headers: { 'X-CSRF-Token': undefined } });
      expect([path, head.status]).toEqual([path, 405]);
    }
  });

  test('no other method hides in a GET or a POST', async () => {
    const { body } = await victim.send('post', 'buyers', { body: buyer });
    const path = `buyers/${body.buyer.id}`;
    const override = { 'X-HTTP-Method-Override': 'DELETE', 'X-CSRF-Token': undefined };
    await victim.send('get', `${path}?_method=DELETE`, { headers: override });
    await victim.send('get', path, { headers: { ...override, 'X-HTTP-Method': 'DELETE' } });
    const posted = await victim.send('post', 'buyers', {
      body: { _method: 'delete', id: body.buyer.id },
      headers: override,
    });
    expect(posted.status).toBe(403);
    expect((await victim.send('get', path)).status).toBe(200);
  });
});

describe('the secret of a session', () => {
  const cookie = () => victim.cookies.get('trunkline_session')!;

  test('is no credential of the API, in whatever place', async () => {
    const [, publicKey = '', secret = ''] = /^(us_\w{24})_(\w{64})$/.exec(cookie())!;
    const basic = Buffer.from(`${publicKey}:${secret}`).toString('base64');
    const tries: [string, Record<string, string>][] = [
      ['me', { Authorization: `Token ${cookie()}` }],
      ['me', { Authorization: `Bearer ${cookie()}` }],
      ['me', { Authorization: `Basic ${basic}` }],
      [`me?auth_token=${cookie()}`, {}],
      ['me', { Cookie: `trunkline_session=${cookie()}` }],
    ];
    for (const [path, headers] of tries) {
      const res = await world.api('get', path, {
        auth: null,
        headers: { ...headers, 'X-Forwarded-For': `192.0.2.${++visitors}` },
      });
      expect([path, headers, res.status]).toEqual([path, headers, 401]);
    }
  });

  test('no key and no token works in the cookie or at the API of the console', async () => {
    const { token } = (
      await world.api('post', 'access_tokens', {
        body: { name: 'T', kind: 'user_token', user_email: EMAIL },
      })
    ).body;
    const stranger = open();
    for (const headers of [
      { Authorization: `Token ${token}` },
      { Authorization: `Basic ${Buffer.from(world.company.auth).toString('base64')}` },
    ])
      expect((await stranger.send('get', 'me', { headers })).body.code).toBe('missing_credentials');
    expect((await stranger.send('get', `me?auth_token=${token}`)).status).toBe(401);
    stranger.cookies.set('trunkline_session', token);
    expect((await stranger.send('get', 'me')).status).toBe(401);
  });

  test('nothing else that is sent along makes the session another', async () => {
    const other = await world.addCompany('Other');
    const { token } = (
      await other.api('post', 'access_tokens', {
        body: { name: 'T', kind: 'user_token', user_email: 'x@example.com' },
      })
    ).body;
    const seen = await victim.send('get', `me?auth_token=${token}`, {
      headers: { Authorization: `Token ${token}` },
    });
    expect(seen.body.me.user.email).toBe(EMAIL);
    const created = await victim.send('post', 'buyers', { body: { ...buyer, auth_token: token } });
    expect([created.status, created.body.buyer.company_id]).toEqual([
      201,
      Number(world.company.id),
    ]);
  });

  test('two cookies of its name count as none', async () => {
    const twice = `trunkline_session=${cookie()}; trunkline_session=${cookie()}`;
    const res = await open().send('get', 'me', { headers: { Cookie: twice } });
    expect(res.body.code).toBe('missing_credentials');
  });

  test('is in an HttpOnly, SameSite cookie of the console, over HTTPS alone where there is any', async () => {
    const here = await open().signIn(EMAIL);
    expect([here.headers['set-cookie']].flat()[0]).toMatch(
      /^trunkline_session=us_\w+; Max-Age=1209600; Path=\/console; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    );
    const app = buildApp(world.openProcess({ PUBLIC_URL: 'https://calls.example.com' }));
    const secured = openBrowser({ app }, { ip: '203.0.113.250' });
    const { headers } = await secured.signIn(EMAIL);
    expect([headers['set-cookie']].flat()[0]).toMatch(
      /^__Secure-trunkline_session=.*; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect((await secured.send('get', 'me')).status).toBe(200);
    const downgraded = await secured.send('post', 'buyers', {
      body: buyer,
      headers: { 'Sec-Fetch-Site': undefined, Origin: 'http://calls.example.com' },
    });
    expect(downgraded.status).toBe(403);
    const proxied = await secured.send('post', 'buyers', {
      body: buyer,
      headers: { 'Sec-Fetch-Site': undefined, Origin: 'https://calls.example.com' },
    });
    expect(proxied.status).toBe(201);
  });
});

test('a session that an attacker planted does not become that of the victim', async () => {
  const attacker = open();
  await attacker.signIn(EMAIL);
  const planted = attacker.cookies.get('trunkline_session')!;
  const browser = openBrowser(world, {
    ip: '203.0.113.240',
    cookies: new Map([['trunkline_session', planted]]),
  });
  await browser.signIn(EMAIL);
  expect(browser.cookies.get('trunkline_session')).not.toBe(planted);
  expect((await attacker.send('get', 'me')).body.code).toBe('session_ended');
});

test('a session does what its API has for people, and nothing of carriers and visitors', async () => {
  const offer = await world.createRecord('offers', { name: 'O' });
  const foreign = contract.operations.filter(({ credentials }) => credentials !== 'account');
  expect(foreign.length).toBeGreaterThan(10);
  for (const { method, path, id } of foreign) {
    const url = `/console${path.replace('{lead_token}', offer.lead_token).replace(/\{\w+\}/g, '1')}`;
    const res = await victim.send(method as 'post', url);
    expect([id, res.status, res.body.code]).toEqual([id, 404, 'unknown_path']);
  }
  const lead = { first_name: 'A', phone_number: '+12135550123' };
  const res = await victim.send('post', 'leads', {
    body: { lead_token: offer.lead_token, ...lead },
  });
  expect(res.status).toBe(404);
});

test('a revoked session ends in another process too, within seconds', async () => {
  const app = buildApp(world.openProcess());
  const elsewhere = openBrowser({ app }, { ip: '203.0.113.241', cookies: victim.cookies });
  expect((await elsewhere.send('get', 'me')).status).toBe(200);
  const { id } = (await victim.send('get', '/console/session')).body.session;
  expect((await world.api('delete', `access_tokens/${id}`)).status).toBe(200);
  expect((await victim.send('get', 'me')).body.code).toBe('session_ended');
  const refused = async (): Promise<boolean> =>
    (await elsewhere.send('get', 'me')).status === 401 ||
    new Promise((done) => setTimeout(() => done(refused()), 100));
  expect(await refused()).toBe(true);
});

describe('guesses', () => {
  const guess = (browser: ConsoleBrowser, email: string, password: string) =>
    browser.send('post', '/console/session', { body: { email, password } });

  test.each([
    ['a person', true],
    ['an address that nobody has', false],
  ])('of one password are counted over all processes and networks: %s', async (_, exists) => {
    const email = `guessed-${exists}@example.com`;
    if (exists) await createPerson(world, world.company, email);
    const apps = [world.app, buildApp(world.openProcess())];
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_each, n) =>
        guess(openBrowser({ app: apps[n % 2]! }, { ip: `198.18.${n}.1` }), email, `wrong ${n}`),
      ),
    );
    const counts = (status: number) => answers.filter((res) => res.status === status).length;
    expect([counts(401), counts(429)]).toEqual([10, 20]);
    const late = await guess(openBrowser(world, { ip: '198.18.99.1' }), email, PASSWORD);
    expect([late.status, late.body.code]).toEqual([429, 'too_many_attempts']);
    expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
    await world.sql(`UPDATE sign_in_attempts SET waits_until = now() - interval '1 second'`);
    const after = await guess(openBrowser(world, { ip: '198.18.99.1' }), email, PASSWORD);
    expect(after.status).toBe(exists ? 201 : 401);
  });

  test('at many addresses from one network make it wait, and people elsewhere do not', async () => {
    await world.sql('DELETE FROM sign_in_attempts');
    const network = () => openBrowser(world, { ip: '2001:db8:5:6::1' });
    await guess(network(), 'one@example.com', 'wrong');
    await world.sql(`UPDATE sign_in_attempts SET failures = 99 WHERE subject LIKE 'network/%'`);
    await guess(network(), 'two@example.com', 'wrong');
    expect((await guess(network(), EMAIL, PASSWORD)).status).toBe(429);
    expect((await open().signIn(EMAIL)).status).toBe(201);
  });
});

test('operations of other companies stay out of reach of a session', async () => {
  const other = await world.addCompany('Foreign');
  const { body } = await other.api('post', 'buyers', { body: buyer });
  expect((await victim.send('get', `buyers/${body.buyer.id}`)).status).toBe(404);
});
