import { showCode } from '../../../support/authenticator-app';
import { createPerson, openBrowser, PASSWORD } from '../../../support/console-session';
import { useWorld } from '../../../support/use-world';

// A second factor: codes of an app, each taken once, and recovery codes.

const world = useWorld({
  clock: '2026-03-02T09:00:10Z',
  environment: { TRUST_PROXY: '1' },
  fresh: 'company',
});
let visitors = 0;
const open = () => openBrowser(world, { ip: `198.51.100.${++visitors}` });
const at = (name: string) => `${name}@c${world.company.id}.example`;
const later = (seconds: number) => world.clock.later(seconds);
const codeOf = (secret: string) => showCode(secret, world.clock.read());
type Browser = ReturnType<typeof open>;
const send = (browser: Browser, method: 'post' | 'delete', path: string, body: object) =>
  browser.send(method, `/console/${path}`, { body });

/** A person with a second factor, signed in. */
const createCareful = async () => {
  const person = await createPerson(world, world.company, at('ann'));
  const browser = open();
  await browser.signIn(person.email);
  const proposed = await send(browser, 'post', 'second-factor', { password: PASSWORD });
  const { secret } = proposed.body;
  const confirmed = await send(browser, 'post', 'second-factor/confirm', { code: codeOf(secret) });
  expect([proposed.status, confirmed.status]).toEqual([201, 201]);
  later(30);
  return { ...person, browser, secret, recovery: confirmed.body.recovery_codes as string[] };
};

/** A browser that has shown the password, and must show a code. */
const askedForCode = async (email: string) => {
  const browser = open();
  const answer = await browser.signIn(email);
  expect([answer.status, answer.body.pending]).toEqual([200, { state: 'second_factor' }]);
  return browser;
};

test('is set up with a code of the app, and asked for from then on', async () => {
  const { email, secret, browser, recovery } = await createCareful();
  const { session } = (await browser.send('get', '/console/session')).body;
  expect(session).toMatchObject({ has_second_factor: true, recovery_codes_left: 10 });
  expect(new Set(recovery).size).toBe(10);
  const second = await askedForCode(email);
  expect((await second.send('get', 'me')).status).toBe(401);
  const wrong = await send(second, 'post', 'session/code', { code: '000000' });
  expect([wrong.status, Object.keys(wrong.body.errors)]).toEqual([401, ['code']]);
  const right = await send(second, 'post', 'session/code', { code: codeOf(secret) });
  expect([right.status, right.body.session]).toMatchObject([
    201,
    { method: 'password', second_factor: true },
  ]);
  expect((await second.send('get', 'me')).status).toBe(200);
});

test('shows the secret as text, address and drawing, each of the same', async () => {
  const { email } = await createPerson(world, world.company, at('qr'));
  const browser = open();
  await browser.signIn(email);
  const { body } = await send(browser, 'post', 'second-factor', { password: PASSWORD });
  expect(body.secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(new URL(body.uri).searchParams.get('secret')).toBe(body.secret);
  expect(decodeURIComponent(body.uri)).toContain(email);
  expect(body.qr.size).toBeGreaterThan(30);
  expect(body.qr.path).toMatch(/^(M\d+ \d+h\d+v1H\d+z)+$/);
  const [row] = await world.sql<{ totp_secret: Buffer }>('SELECT totp_secret FROM user_logins');
  expect(row!.totp_secret.toString('latin1')).not.toContain(body.secret);
});

test('needs the password to be set up, and a code to be removed', async () => {
  const { email } = await createPerson(world, world.company, at('bob'));
  const browser = open();
  await browser.signIn(email);
  const missing = await send(browser, 'post', 'second-factor', {});
  expect([missing.status, missing.body.errors]).toEqual([422, { password: ['must be given'] }]);
  const wrong = await send(browser, 'post', 'second-factor', { password: 'wrong' });
  expect(wrong.status).toBe(401);
  const early = await send(browser, 'post', 'second-factor/confirm', { code: '123456' });
  expect([early.status, early.body.code]).toEqual([422, 'wrong_state']);
  const careful = await createCareful();
  const again = await send(careful.browser, 'post', 'second-factor', { password: PASSWORD });
  expect([again.status, again.body.code]).toEqual([422, 'wrong_state']);
  expect((await send(careful.browser, 'delete', 'second-factor', {})).status).toBe(422);
  expect((await send(careful.browser, 'delete', 'second-factor', { code: '1' })).status).toBe(401);
  const code = codeOf(careful.secret);
  const removed = await send(careful.browser, 'delete', 'second-factor', { code });
  expect([removed.status, removed.body.session.has_second_factor]).toEqual([200, false]);
  expect((await open().signIn(careful.email)).status).toBe(201);
});

test('takes no code twice, and none of earlier or later than half a minute', async () => {
  const { email, secret } = await createCareful();
  const old = codeOf(secret);
  const first = await askedForCode(email);
  expect((await send(first, 'post', 'session/code', { code: old })).status).toBe(201);
  const second = await askedForCode(email);
  expect((await send(second, 'post', 'session/code', { code: old })).status).toBe(401);
  const early = showCode(secret, new Date(world.clock.read().getTime() + 90_000));
  expect((await send(second, 'post', 'session/code', { code: early })).status).toBe(401);
  const next = showCode(secret, new Date(world.clock.read().getTime() + 30_000));
  expect((await send(second, 'post', 'session/code', { code: next })).status).toBe(201);
  const third = await askedForCode(email);
  expect((await send(third, 'post', 'session/code', { code: codeOf(secret) })).status).toBe(401);
});

test('takes each recovery code once, in any spelling, and new ones void them', async () => {
  const { email, secret, recovery, browser } = await createCareful();
  const typed = recovery[0]!.toUpperCase().replace('-', ' ');
  const first = await askedForCode(email);
  const used = await send(first, 'post', 'session/code', { code: typed });
  expect([used.status, used.body.session.recovery_codes_left]).toEqual([201, 9]);
  const second = await askedForCode(email);
  expect((await send(second, 'post', 'session/code', { code: recovery[0]! })).status).toBe(401);
  const code = codeOf(secret);
  const renewed = await send(browser, 'post', 'second-factor/recovery-codes', { code });
  expect([renewed.status, renewed.body.recovery_codes.length]).toEqual([201, 10]);
  expect((await send(second, 'post', 'session/code', { code: recovery[1]! })).status).toBe(401);
  const fresh = renewed.body.recovery_codes[0];
  expect((await send(second, 'post', 'session/code', { code: fresh })).status).toBe(201);
});

test('is reset by who may change the user, and then not asked for', async () => {
  const { email, id } = await createCareful();
  const shown = async () => (await world.api('get', `users/${id}`)).body.user.has_second_factor;
  expect(await shown()).toBe(true);
  const body = { reset_second_factor: true };
  expect((await world.api('put', `users/${id}`, { body })).status).toBe(200);
  expect(await shown()).toBe(false);
  expect((await open().signIn(email)).status).toBe(201);
  const { change_logs } = (
    await world.api('get', 'change_logs', { query: { record_type: 'User', record_id: id } })
  ).body;
  expect(change_logs.at(-1)).toMatchObject({ operation: 'updateUser' });
});

test('is not skipped by a sign-in that was begun before it was set up', async () => {
  const second = await world.addCompany('Second');
  await createPerson(world, world.company, at('two'));
  await createPerson(world, second, at('two'));
  const early = open();
  expect((await early.signIn(at('two'))).body.pending.state).toBe('choose_company');
  const browser = open();
  await browser.signIn(at('two'));
  const choose = (where: Browser) =>
    send(where, 'post', 'session/company', { company_id: Number(world.company.id) });
  await choose(browser);
  const { secret } = (await send(browser, 'post', 'second-factor', { password: PASSWORD })).body;
  await send(browser, 'post', 'second-factor/confirm', { code: codeOf(secret) });
  const chosen = await choose(early);
  expect([chosen.status, chosen.body.pending]).toEqual([200, { state: 'second_factor' }]);
});

test('a sign-in that waits ends after five minutes, and with a new password', async () => {
  const { email, secret, browser } = await createCareful();
  const slow = await askedForCode(email);
  const overtaken = await askedForCode(email);
  later(1);
  const password = 'seven lonely otters';
  await browser.send('put', '/console/password', {
    body: { password, current_password: PASSWORD },
  });
  const late = await send(overtaken, 'post', 'session/code', { code: codeOf(secret) });
  expect(late.body.code).toBe('session_ended');
  later(5 * 60);
  expect((await slow.send('get', '/console/session')).body.pending).toBe(null);
  const over = await send(slow, 'post', 'session/code', { code: codeOf(secret) });
  expect([over.status, over.body.code]).toEqual([401, 'session_ended']);
});

test('guesses at codes wait after five, and the cookie of a sign-in cannot be made up', async () => {
  const { email, secret } = await createCareful();
  const browser = await askedForCode(email);
  const statuses: number[] = [];
  for (let n = 0; n < 6; n++)
    statuses.push((await send(browser, 'post', 'session/code', { code: `00000${n}` })).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  expect((await send(browser, 'post', 'session/code', { code: codeOf(secret) })).status).toBe(429);
  const forger = open();
  forger.cookies.set('trunkline_sign_in', browser.cookies.get('trunkline_sign_in')!.slice(4));
  expect((await send(forger, 'post', 'session/code', { code: '123456' })).body.code).toBe(
    'session_ended',
  );
});
