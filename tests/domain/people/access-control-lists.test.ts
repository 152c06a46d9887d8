import { useMailWorld } from '../../support/sent-mail';
import { createMember, withToken } from '../../support/teams';

const { world, mailTo } = useMailWorld();
const { api } = world;

const post = async (path: string, body: object) => (await api('post', path, { body })).body;
const put = (path: string, body: object) => api('put', path, { body });
const team = async (id: number) =>
  (await api('get', `access_control_lists/${id}`)).body.access_control_list;

describe('teams', () => {
  test('a change applies to the next request', async () => {
    const { buyer } = await post('buyers', { name: 'Felt' });
    const bob = await createMember(world.company, 'bob@example.com', {
      permissions: ['buyers:read'],
    });
    expect((await bob.api('get', 'buyers')).body.metadata.total_count).toBe(0);
    await put(`access_control_lists/${bob.team}`, {
      buyer_ids: [buyer.id],
      permissions: ['buyers:read', 'buyers:update'],
    });
    expect((await bob.api('put', `buyers/${buyer.id}`, { body: { paused: true } })).status).toBe(
      200,
    );
    await api('delete', `access_control_lists/${bob.team}`);
    expect((await bob.api('get', 'buyers')).status).toBe(403);
  });

  test('callers cannot give a team rights that they lack', async () => {
    const auth = await world.credentials(world.company, [
      'access_control_lists:create',
      'buyers:read',
    ]);
    const send = (body: object) =>
      api('post', 'access_control_lists', { auth, body: { name: 'X', ...body } });
    expect(Object.keys((await send({ superuser: true })).body.errors)).toEqual(['superuser']);
    expect(Object.keys((await send({ permissions: ['buyers:delete'] })).body.errors)).toEqual([
      'permissions',
    ]);
    expect((await send({ permissions: ['buyers:read'] })).status).toBe(201);
  });

  test('callers cannot gain rights through the teams or the tokens of others', async () => {
    const boss = await createMember(world.company, 'the-boss@example.com', { superuser: true });
    const [{ id: userId }] = (await world.sql<{ id: string }>(
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
      api(method, path, { auth, body });
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
      await send('put', `users/${userId}`, { email: 'mallory@example.com' }),
      await send('post', `users/${userId}/invite`, {}),
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

  test('a superuser team sees everything; a token narrows the rights of its user', async () => {
    const boss = await createMember(world.company, 'boss@example.com', { superuser: true });
    expect((await boss.api('get', 'buyers')).body.metadata.total_count).toBe(
      (await api('get', 'buyers')).body.metadata.total_count,
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

  test('twenty parallel changes that name the same new address create one user', async () => {
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
  test('generate_team creates one team that may edit the buyer and see its calls', async () => {
    const { buyer } = await post('buyers', { name: 'Acme' });
    await Promise.all(
      Array.from({ length: 10 }, () => put(`buyers/${buyer.id}`, { generate_team: true })),
    );
    const { body } = await api('get', 'access_control_lists', {
      query: { fulltext: 'acme team' },
    });
    expect(body.access_control_lists).toHaveLength(1);
    expect(body.access_control_lists[0]).toMatchObject({
      permissions: ['buyers:read', 'buyers:update', 'calls:read', 'calls:update'],
      buyer_ids: [buyer.id],
      all_offers: true,
    });
  });

  test('team_users_emails and team_offer_ids change that team; no offers are all', async () => {
    const { offer } = await post('offers', { name: 'O' });
    const { buyer } = await post('buyers', {
      name: 'Teamed',
      team_users_emails: ['new@example.com'],
      team_offer_ids: [offer.id],
    });
    await mailTo('new@example.com');
    const [id] = (await api('get', `buyers/${buyer.id}`, { query: { serializer: 'buyer_grid' } }))
      .body.buyer.team_ids;
    expect(await team(id)).toMatchObject({
      users_emails: ['new@example.com'],
      offer_ids: [offer.id],
      all_offers: false,
    });
    await put(`buyers/${buyer.id}`, { team_users_emails: null, team_offer_ids: null });
    expect(await team(id)).toMatchObject({ users_emails: [], offer_ids: [], all_offers: true });
    await api('delete', `buyers/${buyer.id}`);
    expect((await api('get', `access_control_lists/${id}`)).status).toBe(404);
  });

  test('team_ids gives a group its teams; offers are granted to them and revoked', async () => {
    const { offer } = await post('offers', { name: 'Shared' });
    const { buyer } = await post('buyers', { name: 'In the group' });
    const cara = await createMember(world.company, 'cara@example.com', {
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
