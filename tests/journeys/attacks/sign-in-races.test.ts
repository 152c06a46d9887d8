import { invitationToken } from '../../../src/api/auth/invitations';
import { buildSignInToken } from '../../../src/domain/people/sign-in/mailed-links';
import { buildFirstOwnerToken } from '../../../src/domain/people/sign-in/owner';
import { openBrowser, PASSWORD } from '../../support/console-session';
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
