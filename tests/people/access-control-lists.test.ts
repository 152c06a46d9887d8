import { startWorkers } from '../../src/jobs/queue';
import { createRunners } from '../../src/background/runners';
import type { Mail } from '../../src/mail/mailer';
import { member, withToken } from '../support/teams';
import { createWorld, type World } from '../support/world';

let world: World;
const mails: Mail[] = [];

beforeAll(async () => {
  world = await createWorld();
  const mailer = {
    ...world.deps.mailer,
    send: async (mail: Mail) => (mails.push(mail), { ok: true as const, message_id: mail.key }),
  };
  const { database, log } = world.deps;
  const workers = await startWorkers({
    database,
    log,
    runners: createRunners({ ...world.deps, mailer }),
  });
  stop = () => workers.stop();
});
let stop: () => Promise<void>;
afterAll(async () => {
  await stop();
  await world.close();
});

const post = async (path: string, body: object) =>
  (await world.company.api('post', path, { body })).body;
const put = (path: string, body: object) => world.company.api('put', path, { body });
const team = async (id: number) =>
  (await world.company.api('get', `access_control_lists/${id}`)).body.access_control_list;
const mailTo = async (address: string, count = 1): Promise<Mail[]> => {
  for (let n = 0; n < 200; n++) {
    const found = mails.filter(({ to }) => to === address);
    if (found.length >= count) return found;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`no mail to ${address}`);
};
const tokenIn = ({ text = '' }: Mail): string => /invitation_token=(\S+)/.exec(text)![1]!;
const accept = (invitation_token: string, more: object = {}) =>
  world.company.api('post', 'invitations/accept', {
    auth: null,
    body: { invitation_token, ...more },
  });

describe('invitations', () => {
  test('an address without an account is invited by mail, and the link sets up its token once', async () => {
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

  test('twenty who accept at once get one token', async () => {
    await post('users', { email: 'race@example.com' });
    const token = tokenIn((await mailTo('race@example.com'))[0]!);
    const answers = await Promise.all(Array.from({ length: 20 }, () => accept(token)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      201,
      ...Array<number>(19).fill(401),
    ]);
  });

  test('a new invitation voids the one before it, and seven days void any', async () => {
    const { user } = await post('users', { email: 'late@example.com' });
    const [first] = await mailTo('late@example.com');
    expect((await world.company.api('post', `users/${user.id}/invite`)).status).toBe(202);
    const second = (await mailTo('late@example.com', 2))[1]!;
    expect((await accept(tokenIn(first!))).status).toBe(401);
    await world.sql(
      `UPDATE users SET invited_at = now() - interval '7 days 1 second' WHERE id = $1`,
      [user.id],
    );
    expect((await accept(tokenIn(second))).status).toBe(401);
  });

  test('the link of a wrong address is void once the address is put right, and the right one gets its own', async () => {
    const { user } = await post('users', { email: 'typo@example.com' });
    const [wrong] = await mailTo('typo@example.com');
    await put(`users/${user.id}`, { email: 'right@example.com' });
    const [right] = await mailTo('right@example.com');
    expect((await accept(tokenIn(wrong!))).status).toBe(401);
    expect((await accept(tokenIn(right!))).status).toBe(201);
  });

  test('a job that runs twice sends one mail: both have the same key and the same link', async () => {
    const { user } = await post('users', { email: 'twice@example.com' });
    await mailTo('twice@example.com');
    await createRunners({
      ...world.deps,
      mailer: {
        ...world.deps.mailer,
        send: async (mail) => (mails.push(mail), { ok: true, message_id: '' }),
      },
    }).send_invitation(
      { company_id: String(world.company.id), user_id: String(user.id), number: 1 },
      { job_id: 'x', signal: new AbortController().signal },
    );
    const [a, b] = await mailTo('twice@example.com', 2);
    expect([a!.key, a!.text]).toEqual([b!.key, b!.text]);
  });

  test('nobody is mailed who need not be: with invite false, or with a token already', async () => {
    await post('users', { email: 'quiet@example.com', invite: false });
    await member(world.company, 'has-token@example.com');
    mails.length = 0;
    await post('access_control_lists', {
      name: 'More',
      users_emails: ['has-token@example.com', 'fresh@example.com'],
    });
    await mailTo('fresh@example.com');
    expect(mails.map(({ to }) => to)).toEqual(['fresh@example.com']);
  });

  test('the page of the link makes no token by being looked at, and takes nothing into its HTML but a token', async () => {
    const page = await world.company.api('get', '/invitations?invitation_token=%22%3E%3Cscript%3E');
    expect([page.status, page.text.includes('<script>'), page.text.includes('value=""')]).toEqual([
      200,
      false,
      true,
    ]);
    expect(page.headers['cache-control']).toBe('no-store');
  });
});

describe('users', () => {
  test('an address is unique among the living, whatever its letter case; a deleted user’s tokens are refused at once', async () => {
    const ann = await member(world.company, 'dup@example.com', { permissions: ['buyers:read'] });
    const twin = await world.company.api('post', 'users', { body: { email: 'DUP@example.com' } });
    expect([twin.status, Object.keys(twin.body.errors)]).toEqual([422, ['email']]);
    const { user_ids } = await team(ann.team);
    expect((await ann.api('get', 'buyers')).status).toBe(200);
    await world.company.api('delete', `users/${user_ids[0]}`);
    expect((await ann.api('get', 'buyers')).status).toBe(401);
    expect((await team(ann.team)).users_emails).toEqual([]);
    expect(
      (
        await world.company.api('post', 'users', {
          body: { email: 'dup@example.com', invite: false },
        })
      ).status,
    ).toBe(201);
  });

  test('are put into teams and taken out by team_ids', async () => {
    const { access_control_list: one } = await post('access_control_lists', { name: 'One' });
    const { user } = await post('users', {
      email: 'joins@example.com',
      team_ids: [one.id],
      invite: false,
    });
    expect(user.team_ids).toEqual([one.id]);
    expect((await put(`users/${user.id}`, { team_ids: null })).body.user.team_ids).toEqual([]);
  });
});

describe('teams', () => {
  test('a change is felt by the next request', async () => {
    const { buyer } = await post('buyers', { name: 'Felt' });
    const bob = await member(world.company, 'bob@example.com', { permissions: ['buyers:read'] });
    expect((await bob.api('get', 'buyers')).body.metadata.total_count).toBe(0);
    await put(`access_control_lists/${bob.team}`, {
      buyer_ids: [buyer.id],
      permissions: ['buyers:read', 'buyers:update'],
    });
    expect((await bob.api('put', `buyers/${buyer.id}`, { body: { paused: true } })).status).toBe(
      200,
    );
    await world.company.api('delete', `access_control_lists/${bob.team}`);
    expect((await bob.api('get', 'buyers')).status).toBe(403);
  });

  test('nobody gives a team more than they have', async () => {
    const auth = await world.credentials(world.company, [
      'access_control_lists:create',
      'buyers:read',
    ]);
    const send = (body: object) =>
      world.company.api('post', 'access_control_lists', { auth, body: { name: 'X', ...body } });
    expect(Object.keys((await send({ superuser: true })).body.errors)).toEqual(['superuser']);
    expect(Object.keys((await send({ permissions: ['buyers:delete'] })).body.errors)).toEqual([
      'permissions',
    ]);
    expect((await send({ permissions: ['buyers:read'] })).status).toBe(201);
  });

  test('nobody gets more than they have by the teams or the tokens of others', async () => {
    const boss = await member(world.company, 'the-boss@example.com', { superuser: true });
    const [{ id: user_id }] = (await world.sql<{ id: string }>(
      'SELECT id FROM users WHERE email = $1',
      [boss.email],
    )) as [{ id: string }];
    const scopes = [
      'access_tokens:create',
      'users:create',
      'users:update',
      'access_control_lists:update',
      'buyers:create',
      'buyers:update',
    ];
    const auth = await world.credentials(world.company, scopes);
    const send = (method: 'post' | 'put', path: string, body: object) =>
      world.company.api(method, path, { auth, body });
    const { buyer } = (await send('post', 'buyers', { name: 'Lever' })).body;
    const tries = [
      await send('post', 'access_tokens', {
        name: 'x',
        kind: 'user_token',
        user_email: boss.email,
      }),
      await send('post', 'users', {
        email: 'mallory@example.com',
        team_ids: [boss.team],
        invite: false,
      }),
      await send('put', `access_control_lists/${boss.team}`, {
        users_emails: ['mallory@example.com'],
      }),
      await send('put', `users/${user_id}`, { email: 'mallory@example.com' }),
      await send('post', `users/${user_id}/invite`, {}),
      await send('put', `buyers/${buyer.id}`, { team_users_emails: ['mallory@example.com'] }),
    ];
    expect(tries.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422, 422]);
    const narrow = (
      await post('access_tokens', {
        name: 'narrow',
        kind: 'user_token',
        user_email: boss.email,
        permissions: ['access_tokens:create'],
      })
    ).token;
    const wide = await withToken(world.company.api, narrow)('post', 'access_tokens', {
      body: { name: 'wide', kind: 'user_token', user_email: boss.email },
    });
    expect(wide.status).toBe(422);
  });

  test('a superuser team sees everything; a token narrows what its user’s teams allow', async () => {
    const { api } = await member(world.company, 'boss@example.com', { superuser: true });
    expect((await api('get', 'buyers')).body.metadata.total_count).toBe(
      (await world.company.api('get', 'buyers')).body.metadata.total_count,
    );
    const { token } = await post('access_tokens', {
      name: 'narrow',
      kind: 'user_token',
      user_email: 'boss@example.com',
      permissions: ['buyers:read'],
    });
    const narrow = withToken(world.company.api, token);
    expect([
      (await narrow('get', 'buyers')).status,
      (await narrow('get', 'offers')).status,
    ]).toEqual([200, 403]);
  });

  test('twenty parallel changes that name the same new address make one user', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        post('access_control_lists', { name: `T${n}`, users_emails: ['same@example.com'] }),
      ),
    );
    expect(
      new Set(ids.map(({ access_control_list }) => access_control_list.user_ids[0])).size,
    ).toBe(1);
  });
});

describe('the teams of buyers and groups', () => {
  test('generate_team makes one team that may edit the buyer and see the calls it paid for, however often it is asked', async () => {
    const { buyer } = await post('buyers', { name: 'Acme' });
    await Promise.all(
      Array.from({ length: 10 }, () => put(`buyers/${buyer.id}`, { generate_team: true })),
    );
    const { body } = await world.company.api('get', 'access_control_lists', {
      query: { fulltext: 'acme team' },
    });
    expect(body.access_control_lists).toHaveLength(1);
    expect(body.access_control_lists[0]).toMatchObject({
      permissions: ['buyers:read', 'buyers:update', 'calls:read'],
      buyer_ids: [buyer.id],
      all_offers: true,
    });
  });

  test('team_users_emails and team_offer_ids are those of that team; blank offers are all offers', async () => {
    const { offer } = await post('offers', { name: 'O' });
    const { buyer } = await post('buyers', {
      name: 'Teamed',
      team_users_emails: ['new@example.com'],
      team_offer_ids: [offer.id],
    });
    await mailTo('new@example.com');
    const [id] = (
      await world.company.api('get', `buyers/${buyer.id}`, { query: { serializer: 'buyer_grid' } })
    ).body.buyer.team_ids;
    expect(await team(id)).toMatchObject({
      users_emails: ['new@example.com'],
      offer_ids: [offer.id],
      all_offers: false,
    });
    await put(`buyers/${buyer.id}`, { team_users_emails: null, team_offer_ids: null });
    expect(await team(id)).toMatchObject({ users_emails: [], offer_ids: [], all_offers: true });
    await world.company.api('delete', `buyers/${buyer.id}`);
    expect((await world.company.api('get', `access_control_lists/${id}`)).status).toBe(404);
  });

  test('a group has teams by team_ids, and gives them offers and takes them', async () => {
    const { offer } = await post('offers', { name: 'Shared' });
    const { buyer } = await post('buyers', { name: 'In the group' });
    const cara = await member(world.company, 'cara@example.com', {
      permissions: ['buyers:read', 'offers:read'],
    });
    const { buyer_group: group } = await post('buyer_groups', {
      name: 'G',
      buyer_ids: [buyer.id],
      team_ids: [cara.team],
    });
    expect(
      (await cara.api('get', 'buyers')).body.buyers.map(({ id }: { id: number }) => id),
    ).toEqual([buyer.id]);
    await put(`buyer_groups/${group.id}`, { grant_team_offer_id: offer.id });
    expect((await cara.api('get', `offers/${offer.id}`)).status).toBe(200);
    await put(`buyer_groups/${group.id}`, { revoke_team_offer_id: offer.id });
    expect((await cara.api('get', `offers/${offer.id}`)).status).toBe(404);
    expect(await team(cara.team)).toMatchObject({ offer_ids: [], all_offers: false });
    await put(`buyer_groups/${group.id}`, { team_ids: null });
    expect((await cara.api('get', 'buyers')).body.metadata.total_count).toBe(0);
  });
});
