import { deleteEndedSignIns } from '../../../../src/domain/people/sign-in/delete-ended';
import { createPerson, openBrowser, PASSWORD } from '../../../support/console-session';
import { useWorld } from '../../../support/use-world';

// People sign in with a password, and work with the session that they get.

const START = '2026-03-02T09:00:00Z';
const world = useWorld({ clock: START, environment: { TRUST_PROXY: '1' } });
const { api } = world;
let visitors = 0;
const open = () => openBrowser(world, { ip: `198.51.100.${++visitors}` });
const HOUR = 3600;

beforeAll(() => createPerson(world, world.company, 'ann@example.com'));

const signedIn = async (email = 'ann@example.com') => {
  const browser = open();
  expect((await browser.signIn(email)).status).toBe(201);
  return browser;
};

test('a session works at the API of the console, as its person', async () => {
  const browser = await signedIn();
  const { body } = await browser.send('get', 'me');
  expect(body.me).toMatchObject({
    kind: 'session',
    name: 'Console',
    superuser: true,
    user: { email: 'ann@example.com' },
  });
  const created = await browser.send('post', 'buyers', { body: { number: '+12135550123' } });
  expect(created.status).toBe(201);
});

test('the page learns at load whether there is a session, and how to sign in', async () => {
  const browser = open();
  const before = await browser.send('get', '/console/session');
  expect([before.status, before.body]).toEqual([
    200,
    {
      session: null,
      csrf_token: null,
      pending: null,
      methods: { password: true, link: false, oidc: null },
    },
  ]);
  expect((await browser.send('head', '/console/session')).status).toBe(200);
  await browser.signIn('Ann@Example.com');
  const { body } = await browser.send('get', '/console/session');
  expect(body).toMatchObject({
    session: {
      user: { email: 'ann@example.com' },
      company: { id: Number(world.company.id), name: 'Test Company' },
      method: 'password',
      second_factor: false,
      has_password: true,
      idle_ends_at: '2026-03-02T21:00:00.000Z',
      ends_at: '2026-03-16T09:00:00.000Z',
    },
    csrf_token: expect.stringMatching(/^[\w-]{43}$/),
  });
});

test.each([
  ['the address', { email: 'other@example.com', password: PASSWORD }],
  ['the password', { email: 'ann@example.com', password: 'another one entirely' }],
  ['one without a password', { email: 'invited@example.com', password: PASSWORD }],
])('a wrong sign-in reads alike: %s', async (_, body) => {
  await api('post', 'users', { body: { email: 'invited@example.com', invite: false } });
  const res = await open().send('post', '/console/session', { body });
  expect([res.status, res.body.code, res.body.detail, res.headers['set-cookie']]).toEqual([
    401,
    'wrong_credentials',
    'The address or the password is wrong.',
    undefined,
  ]);
});

test.each([
  [{}, { email: ['must be given'], password: ['must be given'] }],
  [
    { email: 'x', password: 5 },
    { email: ['must be one e-mail address'], password: ['must be a text'] },
  ],
  [
    { email: 'ann@example.com', password: 'x'.repeat(257), otp: '1' },
    { password: ['must have at most 256 characters'], otp: ['is not a field here'] },
  ],
])('a body that is not right names its fields: %j', async (body, errors) => {
  const res = await open().send('post', '/console/session', { body });
  expect([res.status, res.body.errors]).toEqual([422, errors]);
});

test('use postpones the idle end; live reloads do not, and the absolute end stays', async () => {
  const browser = await signedIn();
  const start = Date.parse(START);
  const at = (seconds: number) => world.clock.set(new Date(start + seconds * 1000).toISOString());
  const status = async (headers = {}) => (await browser.send('get', 'me', { headers })).status;
  at(11 * HOUR);
  expect(await status()).toBe(200);
  at(22 * HOUR);
  expect(await status({ 'X-Background': 'true' })).toBe(200);
  at(23 * HOUR + 1);
  const ended = await browser.send('get', 'me');
  expect([ended.status, ended.body.code]).toEqual([401, 'session_ended']);
  world.clock.set(START);
  const steady = await signedIn();
  const last = 14 * 24 - 6;
  for (let hour = 6; hour <= last; hour += 6) {
    at(hour * HOUR);
    expect((await steady.send('get', 'me')).status).toBe(200);
  }
  at((last + 5) * HOUR);
  expect((await steady.send('get', 'me')).status).toBe(200);
  at(14 * 24 * HOUR);
  expect((await steady.send('get', 'me')).status).toBe(401);
});

test('signing out ends the session at once, wherever its cookie was copied to', async () => {
  const browser = await signedIn();
  const copy = browser.copy();
  const out = await browser.send('delete', '/console/session');
  expect([out.status, out.body.session, [...browser.cookies]]).toEqual([200, null, []]);
  expect((await copy.send('get', 'me')).body.code).toBe('session_ended');
});

test('sessions are access tokens: listed with their facts, counted and revoked as such', async () => {
  const count = async () => (await api('get', 'access_tokens')).body.metadata.total_count as number;
  const before = await count();
  const browser = open();
  const { body } = await browser.send('post', '/console/session', {
    body: { email: 'ann@example.com', password: PASSWORD },
    headers: { 'User-Agent': 'Mozilla/5.0 (test)' },
  });
  const { id } = body.session;
  expect(await count()).toBe(before + 1);
  const { access_token } = (await api('get', `access_tokens/${id}`)).body;
  expect(access_token).toMatchObject({
    kind: 'session',
    name: 'Console',
    user_email: 'ann@example.com',
    ends_at: '2026-03-16T09:00:00.000+00:00',
    last_seen_at: '2026-03-02T09:00:00.000+00:00',
    sign_in_method: 'password',
    second_factor: false,
    ip: `198.51.100.${visitors}`,
    user_agent: 'Mozilla/5.0 (test)',
  });
  expect((await api('delete', `access_tokens/${id}`)).status).toBe(200);
  expect((await browser.send('get', 'me')).status).toBe(401);
  expect(await count()).toBe(before);
});

test('a person lists the own sessions, ends one, and ends all others', async () => {
  await createPerson(world, world.company, 'own@example.com', { permissions: ['buyers:read'] });
  const [first, second, third] = [
    await signedIn('own@example.com'),
    await signedIn('own@example.com'),
    await signedIn('own@example.com'),
  ];
  const strange = (await (await signedIn()).send('get', '/console/session')).body.session.id;
  const { sessions } = (await first.send('get', '/console/sessions')).body;
  expect(sessions.map(({ is_current }: { is_current: boolean }) => is_current)).toEqual([
    false,
    false,
    true,
  ]);
  expect((await first.send('delete', `/console/sessions/${strange}`)).status).toBe(404);
  expect((await first.send('delete', '/console/sessions/x')).status).toBe(404);
  const left = await first.send('delete', `/console/sessions/${sessions[1].id}`);
  expect(left.body.sessions).toHaveLength(2);
  expect((await second.send('get', 'me')).status).toBe(401);
  await first.send('delete', '/console/sessions');
  expect([(await third.send('get', 'me')).status, (await first.send('get', 'me')).status]).toEqual([
    401, 200,
  ]);
});

test('a new password ends all other sessions, and the old one signs nobody in', async () => {
  await createPerson(world, world.company, 'new@example.com');
  const [browser, other] = [await signedIn('new@example.com'), await signedIn('new@example.com')];
  const change = (body: object) => browser.send('put', '/console/password', { body });
  const password = 'seven lonely otters';
  const missing = await change({ password });
  expect([missing.status, missing.body.errors]).toEqual([
    422,
    { current_password: ['must be given'] },
  ]);
  const wrong = await change({ password, current_password: 'wrong' });
  expect([wrong.status, wrong.body.errors]).toEqual([
    401,
    { current_password: ['is not your password'] },
  ]);
  expect((await change({ password, current_password: PASSWORD })).status).toBe(200);
  expect([
    (await other.send('get', 'me')).status,
    (await browser.send('get', 'me')).status,
  ]).toEqual([401, 200]);
  expect((await open().signIn('new@example.com')).status).toBe(401);
  expect((await open().signIn('new@example.com', password)).status).toBe(201);
});

test.each([
  ['short', 'eleven char'],
  ['a common one', 'Qwertyuiop12345'],
  ['a sequence', '123456789012'],
  ['a repetition', 'abcabcabcabcabc'],
  ['the address', 'weak@example.com'],
  ['the company', 'TestCompany-2026'],
  ['the product', 'Trunkline2026!!'],
])('a password that others would guess is refused: %s', async (_, password) => {
  const browser = await signedIn(await weakPerson());
  const body = { password, current_password: PASSWORD };
  const res = await browser.send('put', '/console/password', { body });
  expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['password']]);
});
let weak: Promise<string> | undefined;
const weakPerson = () =>
  (weak ??= createPerson(world, world.company, 'weak@example.com').then(({ email }) => email));

test('an address in two companies chooses where to work', async () => {
  const second = await world.addCompany('Second');
  await createPerson(world, world.company, 'both@example.com');
  await createPerson(world, second, 'both@example.com');
  const browser = open();
  const offered = await browser.signIn('both@example.com');
  expect([offered.status, offered.body.session, offered.body.pending]).toEqual([
    200,
    null,
    {
      state: 'choose_company',
      companies: [
        { id: Number(world.company.id), name: 'Test Company' },
        { id: Number(second.id), name: 'Second' },
      ],
    },
  ]);
  expect((await browser.send('get', '/console/session')).body.pending.state).toBe('choose_company');
  const choose = (id: number) =>
    browser.send('post', '/console/session/company', { body: { company_id: id } });
  expect((await choose(999)).body.errors).toEqual({ company_id: ['must be one of those named'] });
  const chosen = await choose(Number(second.id));
  expect([chosen.status, chosen.body.session.company.name]).toEqual([201, 'Second']);
  expect((await browser.send('get', 'me')).body.me.company.name).toBe('Second');
  expect((await choose(Number(second.id))).body.code).toBe('session_ended');
});

test('the log of changes has who signed in, from where and how, and no secret', async () => {
  const browser = await signedIn();
  const { id } = (await browser.send('get', '/console/session')).body.session;
  await browser.send('delete', '/console/session');
  const query = { record_type: 'AccessToken', record_id: id };
  const { body } = await api('get', 'change_logs', { query });
  const [start, end] = body.change_logs;
  expect([start.operation, start.action, start.user_email, start.ip, end.operation]).toEqual([
    'signIn',
    'create',
    'ann@example.com',
    `198.51.100.${visitors}`,
    'signOut',
  ]);
  expect(start.changes.sign_in_method).toEqual({ from: null, to: 'password' });
  expect(JSON.stringify(body)).not.toMatch(/us_|argon2|correct horse/);
});

test('users show whether they have a password, and when they were last there', async () => {
  await signedIn();
  const { body } = await api('get', 'users', { query: { fulltext: 'ann@example.com' } });
  expect(body.users[0]).toMatchObject({
    has_password: true,
    has_second_factor: false,
    last_seen_at: '2026-03-02T09:00:00.000+00:00',
    joined_at: expect.any(String),
  });
});

test('a deleted user is signed out, and leaves no password', async () => {
  const { id } = await createPerson(world, world.company, 'gone@example.com');
  const browser = await signedIn('gone@example.com');
  await api('delete', `users/${id}`);
  expect((await browser.send('get', 'me')).status).toBe(401);
  expect(await world.sql('SELECT FROM user_logins WHERE user_id = $1', [id])).toEqual([]);
});

test('an ended session is deleted after a day, and the count of tokens stays right', async () => {
  await signedIn();
  await world.sql(
    `UPDATE access_tokens SET expires_at = now() - interval '25 hours' WHERE kind = 'session'`,
  );
  await world.sql(
    `INSERT INTO sign_in_attempts (subject, since, failures) VALUES ('old', now() - interval '3 days', 1)`,
  );
  await deleteEndedSignIns(world.deps.database.sql);
  expect(await world.sql(`SELECT FROM access_tokens WHERE kind = 'session'`)).toEqual([]);
  expect(await world.sql('SELECT FROM sessions')).toEqual([]);
  expect(await world.sql(`SELECT FROM sign_in_attempts WHERE subject = 'old'`)).toEqual([]);
  const [{ counted, stored }] = (await world.sql<{ counted: number; stored: number }>(`
    SELECT (
        SELECT sum(n)::int FROM record_counts
        WHERE resource = 'access_tokens' AND company_id = ${world.company.id}
      ) AS counted,
      (
        SELECT count(*)::int FROM access_tokens
        WHERE company_id = ${world.company.id} AND deleted_at IS NULL
      ) AS stored`)) as [{ counted: number; stored: number }];
  expect(counted).toBe(stored);
});
