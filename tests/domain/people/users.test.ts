import { createRunners } from '../../../src/main/background/runners';
import type { Mail } from '../../../src/platform/mail/mailer';
import { useMailWorld } from '../../support/sent-mail';
import { createMember, withToken } from '../../support/teams';

const recording = useMailWorld();
const { world, mails, mailTo } = recording;
const { api } = world;

const post = async (path: string, body: object) => (await api('post', path, { body })).body;
const put = (path: string, body: object) => api('put', path, { body });
const team = async (id: number) =>
  (await api('get', `access_control_lists/${id}`)).body.access_control_list;
const tokenIn = ({ text = '' }: Mail): string => /invitation\?token=(\S+)/.exec(text)![1]!;
let attempts = 0;
/** Every attempt comes from another address, as too many failed ones from one are refused. */
const accept = (invitationToken: string, more: object = {}) =>
  api('post', 'invitations/accept', {
    auth: null,
    headers: { 'X-Forwarded-For': `192.0.2.${++attempts}` },
    body: { invitation_token: invitationToken, ...more },
  });

describe('invitations', () => {
  test('a new address is invited by mail, and the link creates its token once', async () => {
    await post('access_control_lists', {
      name: 'Partners',
      users_emails: ['Eve@Example.com'],
      permissions: ['buyers:read'],
    });
    const [mail] = await mailTo('eve@example.com');
    expect(mail!.subject).toContain('Test Company');
    const accepted = await accept(tokenIn(mail!), { name: 'Laptop' });
    expect([accepted.status, accepted.body.access_token.name]).toEqual([201, 'Laptop']);
    const me = await withToken(world.company.api, accepted.body.token)('get', 'me');
    expect([me.body.me.user.email, me.body.me.permissions, me.body.me.team_ids]).toEqual([
      'eve@example.com',
      ['buyers:read'],
      [expect.any(Number)],
    ]);
    expect((await accept(tokenIn(mail!))).status).toBe(401);
  });

  test('twenty parallel requests to accept an invitation get one token', async () => {
    await post('users', { email: 'race@example.com' });
    const token = tokenIn((await mailTo('race@example.com'))[0]!);
    const answers = await Promise.all(Array.from({ length: 20 }, () => accept(token)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      201,
      ...Array<number>(19).fill(401),
    ]);
  });

  test('an invitation ends when another is sent, and after seven days', async () => {
    const { user } = await post('users', { email: 'late@example.com' });
    const [first] = await mailTo('late@example.com');
    await world.sql(`UPDATE mail_addresses SET invited_at = invited_at - interval '1 hour'`);
    expect((await api('post', `users/${user.id}/invite`)).status).toBe(202);
    const second = (await mailTo('late@example.com', 2))[1]!;
    expect((await accept(tokenIn(first!))).status).toBe(401);
    await world.sql(
      `UPDATE users SET invited_at = now() - interval '7 days 1 second' WHERE id = $1`,
      [user.id],
    );
    expect((await accept(tokenIn(second))).status).toBe(401);
  });

  test('a corrected address gets a link of its own; the earlier link stops working', async () => {
    const { user } = await post('users', { email: 'typo@example.com' });
    const [wrong] = await mailTo('typo@example.com');
    await put(`users/${user.id}`, { email: 'right@example.com' });
    const [right] = await mailTo('right@example.com');
    expect((await accept(tokenIn(wrong!))).status).toBe(401);
    expect((await accept(tokenIn(right!))).status).toBe(201);
  });

  test('a job that runs twice sends the same mail, with one key and one link', async () => {
    const { user } = await post('users', { email: 'twice@example.com' });
    await mailTo('twice@example.com');
    await createRunners({ ...world.deps, mailer: recording.mailer }).send_invitation(
      { company_id: String(world.company.id), user_id: String(user.id), number: 1 },
      { job_id: 'x', signal: new AbortController().signal },
    );
    const [a, b] = await mailTo('twice@example.com', 2);
    expect([a!.key, a!.text]).toEqual([b!.key, b!.text]);
  });

  test('users with a token, or created with invite false, are not mailed', async () => {
    await post('users', { email: 'quiet@example.com', invite: false });
    await post('users', { email: 'has-token@example.com', invite: false });
    await post('access_tokens', {
      name: 'Desk',
      kind: 'user_token',
      user_email: 'has-token@example.com',
    });
    mails.length = 0;
    await post('access_control_lists', {
      name: 'More',
      users_emails: ['has-token@example.com', 'fresh@example.com'],
    });
    await mailTo('fresh@example.com');
    expect(mails.map(({ to }) => to)).toEqual(['fresh@example.com']);
  });

  test('a link of before leads to the console, with nothing but a token', async () => {
    const follow = async (token: string) => {
      const page = await api('get', `/invitations?invitation_token=${token}`);
      expect([page.status, page.headers['cache-control']]).toEqual([303, 'no-store']);
      return page.headers.location;
    };
    expect(await follow('inv-1-2-3-abc')).toBe('/console/#/invitation?token=inv-1-2-3-abc');
    expect(await follow('%22%3E%3Cscript%3E')).toBe('/console/#/invitation?token=');
  });
});

describe('users', () => {
  test('an address is unique in any case; tokens of a deleted user stop working', async () => {
    const ann = await createMember(world.company, 'dup@example.com', {
      permissions: ['buyers:read'],
    });
    const twin = await api('post', 'users', { body: { email: 'DUP@example.com' } });
    expect([twin.status, Object.keys(twin.body.errors)]).toEqual([422, ['email']]);
    const { user_ids } = await team(ann.team);
    expect((await ann.api('get', 'buyers')).status).toBe(200);
    await api('delete', `users/${user_ids[0]}`);
    expect((await ann.api('get', 'buyers')).status).toBe(401);
    expect((await team(ann.team)).users_emails).toEqual([]);
    expect(
      (
        await api('post', 'users', {
          body: { email: 'dup@example.com', invite: false },
        })
      ).status,
    ).toBe(201);
  });

  test('team_ids adds users to teams and removes them', async () => {
    const { access_control_list: createdTeam } = await post('access_control_lists', {
      name: 'One',
    });
    const { user } = await post('users', {
      email: 'joins@example.com',
      team_ids: [createdTeam.id],
      invite: false,
    });
    expect(user.team_ids).toEqual([createdTeam.id]);
    expect((await put(`users/${user.id}`, { team_ids: null })).body.user.team_ids).toEqual([]);
  });
});
