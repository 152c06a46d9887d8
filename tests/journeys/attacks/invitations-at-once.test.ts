import { standingClock } from '../../support/clock';
import { repetitions } from '../../support/repetitions';
import { createMailWorld, type MailWorld } from '../../support/sent-mail';
import { requests } from '../../support/requests';

// An address is invited once an hour, by whichever user and whichever request.

const time = standingClock('2026-06-01T12:00:00.000Z');
let here: MailWorld;
beforeAll(async () => {
  const environment = { TRUST_PROXY: '1', MAILS_PER_DAY: '20' };
  here = await createMailWorld({ clock: time.read, environment });
});
beforeEach(async () => {
  time.set('2026-06-01T12:00:00.000Z');
  here.mails.length = 0;
  here.world.company = await here.world.addCompany();
});
afterAll(() => here.close());

const { api, ok } = requests(() => here.world.company);
const invite = (id: number) => api('post', `users/${id}/invite`);

const INVITATIONS = repetitions(20, 60);

test(`${INVITATIONS} invitations at once to one address are one mail, and say when the next may be sent`, async () => {
  const { user } = await ok('post', 'users', { email: 'eve@x.example', invite: false });
  const answers = await Promise.all(Array.from({ length: INVITATIONS }, () => invite(user.id)));
  const refused = answers.filter(({ status }) => status !== 202);
  expect(refused).toHaveLength(INVITATIONS - 1);
  for (const { status, headers, body } of refused)
    expect([status, headers['retry-after'], body.errors]).toEqual([
      429,
      '3600',
      {
        email: [
          'must wait until 2026-06-01T13:00:00.000Z: ' +
            'eve@x.example was invited at 2026-06-01T12:00:00.000Z',
        ],
      },
    ]);
  await here.mailTo('eve@x.example');
  time.set('2026-06-01T13:00:00.000Z');
  expect((await invite(user.id)).status).toBe(202);
  expect(await here.mailTo('eve@x.example', 2)).toHaveLength(2);
});

test('invitations of a user who was deleted and made again, or whose address moves, wait as well', async () => {
  const { user } = await ok('post', 'users', { email: 'eve@x.example' });
  await ok('delete', `users/${user.id}`);
  const recreated = await api('post', 'users', { email: 'Eve@x.example' });
  expect([recreated.status, Object.keys(recreated.body.errors)]).toEqual([429, ['email']]);
  const otherUser = (await ok('post', 'users', { email: 'ann@x.example' })).user;
  const moved = await api('put', `users/${otherUser.id}`, { email: 'eve@x.example' });
  expect([moved.status, Object.keys(moved.body.errors)]).toEqual([429, ['email']]);
  expect((await ok('get', `users/${otherUser.id}`)).user.email).toBe('ann@x.example');
  await ok('post', 'users', { email: 'eve@x.example', invite: false });
});

test('invitations to a second team are the one that is still open', async () => {
  const team = (name: string) =>
    ok('post', 'access_control_lists', { name, users_emails: ['eve@x.example'] });
  await Promise.all([team('One'), team('Two'), team('Three')]);
  const { users } = await ok('get', 'users');
  expect(users[0].team_ids).toHaveLength(3);
  await here.ended('send_invitation');
  expect(await here.mailTo('eve@x.example')).toHaveLength(1);
});

test('invitations of a team for whose mails the day has no room change nothing', async () => {
  const usersEmails = Array.from({ length: 21 }, (_, n) => `user${n}@x.example`);
  const res = await api('post', 'access_control_lists', {
    name: 'Many',
    users_emails: usersEmails,
  });
  expect([res.status, res.body.errors]).toEqual([
    429,
    { users_emails: [expect.stringContaining('must wait until 2026-06-02T00:00:00.000Z')] },
  ]);
  expect((await ok('get', 'users')).users).toEqual([]);
  const fewer = { name: 'Few', users_emails: usersEmails.slice(0, 20) };
  expect((await api('post', 'access_control_lists', fewer)).status).toBe(201);
});
