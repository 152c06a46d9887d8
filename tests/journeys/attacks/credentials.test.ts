import { contract } from '../../../src/platform/contract/contract';
import { createMember, withToken } from '../../support/teams';
import { useWorld } from '../../support/use-world';
import type { RequestOptions } from '../../support/world';

// No one grants or revokes rights that they do not have.

const world = useWorld();
const { api, createRecord, createRecords } = world;

const sendWith = async (permissions: string[]) => {
  const auth = await world.credentials(world.company, permissions);
  return (method: 'post' | 'put' | 'delete' | 'get', path: string, body?: object) => {
    const options: RequestOptions = { auth, ...(body && { body }) };
    return api(method, path, options);
  };
};

describe('a key with access_tokens:create alone', () => {
  beforeAll(() =>
    createRecords({
      users: { nobody: { invite: false } },
      access_control_lists: { Bosses: { superuser: true, users_emails: ['boss@example.com'] } },
    }),
  );

  test.each([
    ['a person who is new', 'new@example.com'],
    ['a person without rights', 'nobody@example.com'],
    ['a superuser', 'boss@example.com'],
  ])('makes no token for %s', async (_, userEmail) => {
    const send = await sendWith(['access_tokens:create']);
    const users = 'SELECT count(*)::int AS n FROM users';
    const [before] = await world.sql<{ n: number }>(users);
    const res = await send('post', 'access_tokens', {
      name: 'T',
      kind: 'user_token',
      user_email: userEmail,
    });
    const [after] = await world.sql<{ n: number }>(users);
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['user_email']]);
    expect(after!.n - before!.n).toBe(0);
    expect(res.text).not.toContain('"token"');
  });

  test('makes key pairs within its own rights', async () => {
    const send = await sendWith(['access_tokens:create', 'buyers:read']);
    const key = (permissions: string[]) =>
      send('post', 'access_tokens', { name: 'K', kind: 'key_pair', permissions });
    expect([(await key(['buyers:read'])).status, (await key(['buyers:update'])).status]).toEqual([
      201, 422,
    ]);
  });
});

test('a token with fewer rights than its user makes none with all of them', async () => {
  const permissions = ['access_tokens:create', 'buyers:read'];
  const { api, email } = await createMember(world.company, 'narrow@example.com', { permissions });
  const mint = (by: typeof api, body: object) =>
    by('post', 'access_tokens', {
      body: { name: 'T', kind: 'user_token', user_email: email, ...body },
    });
  const { body } = await mint(api, { permissions });
  const narrow = withToken(world.company.api, body.token);
  expect((await mint(narrow, {})).status).toBe(422);
  expect((await mint(narrow, { permissions: ['access_tokens:create'] })).status).toBe(201);
  // A user makes tokens for oneself.
  expect((await mint(api, {})).status).toBe(201);
});

describe('who takes rights away must have them', () => {
  interface Removable {
    /** Creates a record with these rights and returns its path. */
    make(rights: { permissions: string[]; superuser: boolean }): Promise<string>;
  }
  let names = 0;
  const createTeam = (rights: object, email: string) =>
    createRecord('access_control_lists', {
      name: `Team ${++names}`,
      users_emails: [email],
      ...rights,
    });
  const REMOVABLE: Record<string, Removable> = {
    revokeAccessToken: {
      make: async (rights) =>
        `access_tokens/${(await createRecord('access_tokens', { name: 'K', kind: 'key_pair', ...rights })).id}`,
    },
    deleteUser: {
      make: async (rights) => {
        const team = await createTeam(rights, `user${++names}@example.com`);
        return `users/${team.user_ids[0]}`;
      },
    },
    deleteAccessControlList: {
      make: async (rights) => {
        const team = await createTeam(rights, `user${++names}@example.com`);
        return `access_control_lists/${team.id}`;
      },
    },
  };
  const removing = contract.operations.filter(
    ({ method, path }) =>
      method === 'delete' && /\/(users|access_tokens|access_control_lists)\//.test(path),
  );

  test('every operation that removes users, teams or credentials is tried', () => {
    expect(removing.map(({ id }) => id as string).toSorted()).toEqual(
      Object.keys(REMOVABLE).toSorted(),
    );
  });

  const rights = {
    'a superuser': { permissions: [], superuser: true },
    'other permissions': { permissions: ['offers:delete'], superuser: false },
  };
  test.each(
    removing.flatMap((operation) =>
      Object.entries(rights).map(([name, held]) => [operation.id, name, operation, held] as const),
    ),
  )('%s is refused for what has the rights of %s', async (id, _, { scope }, held) => {
    const send = await sendWith([scope!]);
    const path = await REMOVABLE[id]!.make(held);
    const refused = await send('delete', path);
    expect([refused.status, refused.body.code]).toEqual([403, 'not_permitted']);
    expect((await api('get', path)).status).toBe(200);
    const within = await REMOVABLE[id]!.make({ permissions: [scope!], superuser: false });
    expect((await send('delete', within)).status).toBe(200);
  });

  test('a token of a user has the rights of the teams of the user', async () => {
    const send = await sendWith(['access_tokens:delete']);
    const boss = await createMember(world.company, 'boss2@example.com', { superuser: true });
    const { access_tokens } = (await api('get', 'access_tokens', { query: { per_page: 1000 } }))
      .body;
    const token = access_tokens.find(
      ({ user_email }: { user_email: string }) => user_email === boss.email,
    );
    expect((await send('delete', `access_tokens/${token.id}`)).status).toBe(403);
    expect((await boss.api('get', 'me')).status).toBe(200);
    expect((await boss.api('delete', `access_tokens/${token.id}`)).status).toBe(200);
  });

  test('a group is not taken from a team with other rights', async () => {
    const group = await createRecord('buyer_groups', { name: 'Group' });
    const team = await createRecord('access_control_lists', {
      name: 'Owners',
      permissions: ['buyers:delete'],
      buyer_group_ids: [group.id],
    });
    const send = await sendWith(['buyer_groups:update', 'buyer_groups:read']);
    const res = await send('put', `buyer_groups/${group.id}`, { team_ids: [] });
    expect(res.status).toBe(403);
    const shown = await api('get', `access_control_lists/${team.id}`);
    expect(shown.body.access_control_list.buyer_group_ids).toEqual([group.id]);
  });
});
