import { buildFirstOwnerToken, makeOwnerToken } from '../../../../src/domain/people/sign-in/owner';
import { createPerson, openBrowser, PASSWORD } from '../../../support/console-session';
import { useWorld } from '../../../support/use-world';
import { PEPPER_OF_TESTS, type Company } from '../../../support/world';

// Links let a person in for the first time: the operator's for an owner, and an invitation. This
// service sends no mail.

const world = useWorld({ environment: { TRUST_PROXY: '1' }, fresh: 'company' });
const { api } = world;
let visitors = 0;
const open = () => openBrowser(world, { ip: `198.51.100.${++visitors}` });
const post = (path: string, body: object, browser = open()) =>
  browser.send('post', `/console/${path}`, { body });

const firstToken = ({ id }: Company) => buildFirstOwnerToken(id, PEPPER_OF_TESTS);
/** The companies of the tests are in one database: an address is of one of them. */
const at = (name: string) => `${name}@c${world.company.id}.example`;
let owner: { email: string; name: string; password: string };
beforeEach(() => void (owner = { email: at('owner'), name: 'Olga', password: PASSWORD }));

describe('the link of an owner', () => {
  test('makes a user who may do everything, with a password and a session', async () => {
    const token = firstToken(world.company);
    const shown = await post('owner/show', { token });
    expect(shown.body).toEqual({
      company: { id: Number(world.company.id), name: 'Test Company' },
    });
    const browser = open();
    const accepted = await post('owner', { token, ...owner }, browser);
    expect([accepted.status, accepted.body.session]).toMatchObject([
      201,
      { method: 'owner_link', user: { email: owner.email, name: 'Olga' } },
    ]);
    const { me } = (await browser.send('get', 'me')).body;
    expect([me.superuser, me.team_ids]).toEqual([true, null]);
    expect((await open().signIn(owner.email)).status).toBe(201);
    const teams = (await api('get', 'access_control_lists')).body;
    expect(teams.access_control_lists).toMatchObject([{ name: 'Owners', superuser: true }]);
    expect(teams.metadata.total_count).toBe(1);
  });

  test('works once; the next is made on demand, for the same team, and voids earlier ones', async () => {
    const db = world.deps.tenants.of(world.company.id);
    const first = firstToken(world.company);
    const second = await makeOwnerToken(db, PEPPER_OF_TESTS);
    expect((await post('owner', { token: first, ...owner })).body.errors).toEqual({
      token: ['is of a link that was used, or replaced'],
    });
    expect((await post('owner', { token: second, ...owner })).status).toBe(201);
    expect((await post('owner', { token: second, ...owner })).status).toBe(401);
    expect((await post('owner/show', { token: second })).status).toBe(401);
    const third = await makeOwnerToken(db, PEPPER_OF_TESTS);
    await post('owner', { token: third, ...owner, email: at('second') });
    expect((await api('get', 'access_control_lists')).body.access_control_lists).toHaveLength(1);
    expect((await api('get', 'users')).body.metadata.total_count).toBe(2);
  });

  test('is not used up by a body that is not right', async () => {
    const token = firstToken(world.company);
    const weak = await post('owner', { token, ...owner, password: 'ownerownerowner' });
    expect([weak.status, Object.keys(weak.body.errors)]).toEqual([422, ['password']]);
    expect((await post('owner', { token, ...owner, email: 'x' })).status).toBe(422);
    expect((await post('owner', { token, ...owner })).status).toBe(201);
  });

  test('of another company, or one that was made up, opens nothing', async () => {
    const token = firstToken(world.company);
    const other = await world.addCompany();
    for (const wrong of [
      token.replace(/^own-\d+/, `own-${other.id}`),
      token.replace(/-1-/, '-2-'),
      token.replace(/^own/, 'inv'),
      `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`,
      'x',
    ])
      expect([wrong, (await post('owner', { token: wrong, ...owner })).status]).toEqual([
        wrong,
        401,
      ]);
  });

  test('lets an owner in again who has lost the password: former sessions end', async () => {
    const browser = open();
    await post('owner', { token: firstToken(world.company), ...owner }, browser);
    const token = await makeOwnerToken(world.deps.tenants.of(world.company.id), PEPPER_OF_TESTS);
    const password = 'seven lonely otters';
    expect((await post('owner', { token, email: owner.email, password })).status).toBe(201);
    expect((await browser.send('get', 'me')).status).toBe(401);
    expect((await open().signIn(owner.email)).status).toBe(401);
    expect((await open().signIn(owner.email, password)).body.session.user.name).toBe('Olga');
  });

  test('is in the log of changes, without its token', async () => {
    const token = firstToken(world.company);
    await post('owner', { token, ...owner });
    const { body } = await api('get', 'change_logs', { query: { record_type: 'User' } });
    expect(body.change_logs).toMatchObject([
      { operation: 'changePassword', user_email: owner.email },
      { operation: 'acceptOwnerLink', ip: `198.51.100.${visitors}` },
    ]);
    expect(JSON.stringify((await api('get', 'change_logs')).body)).not.toMatch(/own-|otters|horse/);
  });
});

describe('an invitation', () => {
  const invite = async (email: string, team: object = { permissions: ['buyers:read'] }) => {
    const created = await api('post', 'access_control_lists', {
      body: { name: email, users_emails: [email], ...team },
    });
    return created.body.access_control_list.user_ids[0] as number;
  };
  const superuser = async () => {
    await createPerson(world, world.company, at('boss'));
    const browser = open();
    await browser.signIn(at('boss'));
    return browser;
  };
  const readLink = (browser: ReturnType<typeof open>, id: number) =>
    browser.send('post', `/console/users/${id}/invitation_link`, { body: {} });
  const tokenOf = (link: string) => /#\/invitation\?token=(inv-\S+)$/.exec(link)![1]!;

  test('is shown to who invites, and accepted with a password', async () => {
    const id = await invite(at('eve'));
    const boss = await superuser();
    const { body } = await readLink(boss, id);
    expect(body).toEqual({
      link: expect.stringMatching(/^http:\/\/localhost:\d+\/console\/#\/invitation\?token=inv-/),
      expires_at: expect.any(String),
    });
    const token = tokenOf(body.link);
    expect((await post('invitation/show', { token })).body.invitation).toEqual({
      email: at('eve'),
      name: null,
      company: { id: Number(world.company.id), name: 'Test Company' },
      has_password: false,
    });
    const browser = open();
    const accepted = await post('invitation', { token, name: 'Eve', password: PASSWORD }, browser);
    expect([accepted.status, accepted.body.session]).toMatchObject([
      201,
      { method: 'invitation', user: { name: 'Eve' } },
    ]);
    expect((await browser.send('get', 'me')).body.me.permissions).toEqual(['buyers:read']);
    expect((await post('invitation', { token, password: PASSWORD })).body.code).toBe(
      'invitation_used',
    );
    expect((await post('invitation/show', { token })).status).toBe(401);
    expect((await readLink(boss, id)).status).toBe(404);
  });

  test('without mail does not confirm the address', async () => {
    const id = await invite(at('eve'));
    const token = tokenOf((await readLink(await superuser(), id)).body.link);
    await post('invitation', { token, password: PASSWORD });
    const rows = await world.sql('SELECT FROM mail_addresses WHERE confirmed_at IS NOT NULL');
    expect(rows).toEqual([]);
  });

  test('keeps what it was about when the password is refused', async () => {
    const id = await invite(at('eve'));
    const token = tokenOf((await readLink(await superuser(), id)).body.link);
    const weak = await post('invitation', { token, password: at('eve') });
    expect([weak.status, Object.keys(weak.body.errors)]).toEqual([422, ['password']]);
    expect((await post('invitation', { token, password: PASSWORD })).status).toBe(201);
  });

  test('shows its link to nobody who lacks the rights of its user', async () => {
    const id = await invite(at('eve'), { permissions: ['calls:read'] });
    const signedIn = async (email: string, permissions: string[]) => {
      await createPerson(world, world.company, email, { permissions });
      const browser = open();
      await browser.signIn(email);
      return browser;
    };
    const helper = await signedIn(at('help'), ['users:update', 'calls:read']);
    expect((await readLink(helper, id)).body.code).toBe('access_limited');
    await world.sql(`UPDATE access_control_lists SET superuser = true WHERE name = $1`, [
      at('help'),
    ]);
    world.deps.authenticator.forgetRights();
    expect((await readLink(helper, id)).status).toBe(200);
    expect((await readLink(helper, 999_999)).status).toBe(404);
    const withoutToken = await helper.send('post', `/console/users/${id}/invitation_link`, {
      body: {},
      headers: { 'X-CSRF-Token': undefined },
    });
    expect(withoutToken.status).toBe(403);
  });

  test('is not sent again to a person who signs in with a password', async () => {
    await createPerson(world, world.company, at('ann'));
    await api('post', 'access_control_lists', {
      body: { name: 'More', users_emails: [at('ann'), at('new')] },
    });
    const rows = await world.sql<{ email: string }>(
      `SELECT email FROM users WHERE company_id = $1 AND invitation_number > 1`,
      [world.company.id],
    );
    expect(rows).toEqual([]);
  });
});
