import { invitationToken } from '../../../src/api/auth/invitations';
import { buildSignInToken } from '../../../src/domain/people/sign-in/mailed-links';
import { buildFirstOwnerToken } from '../../../src/domain/people/sign-in/owner';
import { showCode } from '../../support/authenticator-app';
import { createPerson, openBrowser, PASSWORD } from '../../support/console-session';
import { useWorld } from '../../support/use-world';
import { buildApp, PEPPER_OF_TESTS } from '../../support/world';

// Links and codes that work once are sent many times at once, to two processes.

const world = useWorld({ environment: { TRUST_PROXY: '1' } });
const MANY = 8;
let visitors = 0;

const sendMany = async (path: string, body: (n: number) => object) => {
  const apps = [world.app, buildApp(world.openProcess())];
  const answers = await Promise.all(
    Array.from({ length: MANY }, (_, n) =>
      openBrowser({ app: apps[n % 2]! }, { ip: `198.18.${++visitors}.1` }).send(
        'post',
        `/console/${path}`,
        { body: body(n) },
      ),
    ),
  );
  return answers.map(({ status }) => status).toSorted();
};
const ONCE = [201, ...Array<number>(MANY - 1).fill(401)];

test('the link of an owner makes one owner', async () => {
  const token = buildFirstOwnerToken(world.company.id, PEPPER_OF_TESTS);
  const statuses = await sendMany('owner', (n) => ({
    token,
    email: `owner${n}@example.com`,
    password: PASSWORD,
  }));
  expect(statuses).toEqual(ONCE);
  const users = await world.sql('SELECT FROM users WHERE company_id = $1', [world.company.id]);
  expect(users).toHaveLength(1);
});

test('a mailed link signs in once', async () => {
  const { body } = await world.api('post', 'users', { body: { email: 'mail@example.com' } });
  const userId = BigInt(body.user.id);
  await world.sql(
    `INSERT INTO user_logins (company_id, user_id, link_number, link_open, link_sent_at)
      VALUES ($1, $2, 1, true, now())`,
    [world.company.id, userId],
  );
  const token = buildSignInToken(
    { company_id: world.company.id, user_id: userId },
    1,
    PEPPER_OF_TESTS,
  );
  expect(await sendMany('sign-in/link/open', () => ({ token }))).toEqual(ONCE);
});

test('a code of an app signs in once, and so does a recovery code', async () => {
  const { email } = await createPerson(world, world.company, 'totp@example.com');
  const owner = openBrowser(world, { ip: '198.18.250.1' });
  await owner.signIn(email);
  const proposed = await owner.send('post', '/console/second-factor', {
    body: { password: PASSWORD },
  });
  const { secret } = proposed.body;
  const confirmed = await owner.send('post', '/console/second-factor/confirm', {
    body: { code: showCode(secret, new Date()) },
  });
  const browser = openBrowser(world, { ip: '198.18.251.1' });
  expect((await browser.signIn(email)).body.pending.state).toBe('second_factor');
  const app = buildApp(world.openProcess());
  const elsewhere = openBrowser({ app }, { ip: '198.18.252.1', cookies: browser.cookies });
  const [recovery] = confirmed.body.recovery_codes as [string];
  const next = showCode(secret, new Date(Date.now() + 30_000));
  for (const code of [next, recovery]) {
    await world.sql('DELETE FROM sign_in_attempts');
    const answers = await Promise.all(
      [browser.copy(), elsewhere.copy(), browser.copy(), elsewhere.copy()].map((copy) =>
        copy.send('post', '/console/session/code', { body: { code } }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 401, 401, 401]);
  }
});

test('an invitation is accepted once', async () => {
  const { body } = await world.api('post', 'users', { body: { email: 'eve@example.com' } });
  const invitation = { company_id: world.company.id, user_id: BigInt(body.user.id), number: 1 };
  const token = invitationToken(invitation, PEPPER_OF_TESTS);
  expect(await sendMany('invitation', () => ({ token, password: PASSWORD }))).toEqual(ONCE);
  const sessions = await world.sql(
    `SELECT FROM access_tokens WHERE user_id = $1 AND kind = 'session'`,
    [body.user.id],
  );
  expect(sessions).toHaveLength(1);
});
