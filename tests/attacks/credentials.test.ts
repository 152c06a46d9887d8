import { contract } from '../../src/contract';
import { createFixture, type Fixture } from '../support/example';
import { SCOPES } from '../support/partner';
import { member, withToken } from '../support/teams';
import { createWorld, type Sent, type World } from '../support/world';

// Nobody gives, and nobody takes away, rights that they do not have; and a limited user changes
// nothing that is the whole company's.

let world: World;
let fixture: Fixture;
beforeAll(async () => {
  world = await createWorld();
  fixture = await createFixture(world);
});
afterAll(() => world.close());

const as = async (permissions: string[]) => {
  const auth = await world.credentials(world.company, permissions);
  return (method: 'post' | 'put' | 'delete' | 'get', path: string, body?: object) => {
    const sent: Sent = { auth, ...(body && { body }) };
    return world.company.api(method, path, sent);
  };
};
const made = async (path: string, body: object, root: string) =>
  (await world.company.api('post', path, { body })).body[root];

describe('a key with access_tokens:create alone', () => {
  test.each([
    ['a person who is new', 'new@example.com'],
    ['a person without rights', 'nobody@example.com'],
    ['a superuser', 'boss@example.com'],
  ])('makes no token for %s', async (_, user_email) => {
    await made('users', { email: 'nobody@example.com', invite: false }, 'user');
    await made(
      'access_control_lists',
      { name: 'Bosses', superuser: true, users_emails: ['boss@example.com'] },
      'access_control_list',
    );
    const send = await as(['access_tokens:create']);
    const users = 'SELECT count(*)::int AS n FROM users';
    const [before] = await world.sql<{ n: number }>(users);
    const res = await send('post', 'access_tokens', { name: 'T', kind: 'user_token', user_email });
    const [after] = await world.sql<{ n: number }>(users);
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, ['user_email']]);
    expect(after!.n - before!.n).toBe(0);
    expect(res.text).not.toContain('"token"');
  });

  test('makes key pairs within its own rights', async () => {
    const send = await as(['access_tokens:create', 'buyers:read']);
    const key = (permissions: string[]) =>
      send('post', 'access_tokens', { name: 'K', kind: 'key_pair', permissions });
    expect([(await key(['buyers:read'])).status, (await key(['buyers:update'])).status]).toEqual([
      201, 422,
    ]);
  });
});

test('a token with fewer rights than its user makes none with all of them', async () => {
  const permissions = ['access_tokens:create', 'buyers:read'];
  const { api, email } = await member(world.company, 'narrow@example.com', { permissions });
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
  interface Taken {
    /** Creates what has rights, and returns its path. */
    make(rights: { permissions: string[]; superuser: boolean }): Promise<string>;
  }
  let names = 0;
  const teamOf = (rights: object, email: string) =>
    made(
      'access_control_lists',
      { name: `Team ${++names}`, users_emails: [email], ...rights },
      'access_control_list',
    );
  const TAKEN: Record<string, Taken> = {
    revokeAccessToken: {
      make: async (rights) =>
        `access_tokens/${(await made('access_tokens', { name: 'K', kind: 'key_pair', ...rights }, 'access_token')).id}`,
    },
    deleteUser: {
      make: async (rights) => {
        const team = await teamOf(rights, `user${++names}@example.com`);
        return `users/${team.user_ids[0]}`;
      },
    },
    deleteAccessControlList: {
      make: async (rights) => {
        const team = await teamOf(rights, `user${++names}@example.com`);
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
      Object.keys(TAKEN).toSorted(),
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
    const send = await as([scope!]);
    const path = await TAKEN[id]!.make(held);
    const refused = await send('delete', path);
    expect([refused.status, refused.body.code]).toEqual([403, 'not_permitted']);
    expect((await world.company.api('get', path)).status).toBe(200);
    const within = await TAKEN[id]!.make({ permissions: [scope!], superuser: false });
    expect((await send('delete', within)).status).toBe(200);
  });

  test('a token of a user has the rights of the teams of the user', async () => {
    const send = await as(['access_tokens:delete']);
    const boss = await member(world.company, 'boss2@example.com', { superuser: true });
    const { access_tokens } = (
      await world.company.api('get', 'access_tokens', { query: { per_page: 1000 } })
    ).body;
    const token = access_tokens.find(
      ({ user_email }: { user_email: string }) => user_email === boss.email,
    );
    expect((await send('delete', `access_tokens/${token.id}`)).status).toBe(403);
    expect((await boss.api('get', 'me')).status).toBe(200);
    expect((await boss.api('delete', `access_tokens/${token.id}`)).status).toBe(200);
  });

  test('a group is not taken from a team with other rights', async () => {
    const group = await made('buyer_groups', { name: 'Group' }, 'buyer_group');
    const team = await made(
      'access_control_lists',
      { name: 'Owners', permissions: ['buyers:delete'], buyer_group_ids: [group.id] },
      'access_control_list',
    );
    const send = await as(['buyer_groups:update', 'buyer_groups:read']);
    const res = await send('put', `buyer_groups/${group.id}`, { team_ids: [] });
    expect(res.status).toBe(403);
    const shown = await world.company.api('get', `access_control_lists/${team.id}`);
    expect(shown.body.access_control_list.buyer_group_ids).toEqual([group.id]);
  });
});

describe("what is the whole company's", () => {
  const writes = contract.operations.filter(
    ({ method, credentials, unlimited, scope }) =>
      method !== 'get' && credentials === 'account' && !unlimited && !scope!.endsWith(':read'),
  );
  const company_wide = writes.filter((operation) => operation.company_wide);

  /** Writes of what belongs to a caller's own records, or to the caller. */
  const OWN = [
    'createBuyer',
    'updateBuyer',
    'deleteBuyer',
    'createBuyerGroup',
    'updateBuyerGroup',
    'deleteBuyerGroup',
    'createOffer', // a new one
    'createPhoneNumber', // a new one
    'createAgent',
    'updateAgent',
    'deleteAgent',
    'updateAgentStatus', // that of one agent
    'createAgentMessage',
    'updateAgentMessage',
    'deleteAgentMessage',
    'captureLead', // company-wide fields need a permission
    'updateLead',
    'deleteLead',
    'sendKeyPress',
    'updateCall',
    'updateCallByUuid',
    'createOutgoingWebhook',
    'updateOutgoingWebhook',
    'deleteOutgoingWebhook',
    'rotateOutgoingWebhookSecret',
    'redeliverWebhookLog',
    'createWebhookManualFire',
    'createInboundWebhook',
    'updateInboundWebhook',
    'deleteInboundWebhook',
    'createAccessToken',
    'revokeAccessToken',
  ];

  test('every write is known to change own, shared or company-wide records', () => {
    const own = writes.filter((operation) => !operation.company_wide && !operation.shared.length);
    expect(own.map(({ id }) => id as string).toSorted()).toEqual(OWN.toSorted());
    expect(company_wide.length).toBeGreaterThan(8);
  });

  test.each(company_wide.map((operation) => [operation.id, operation] as const))(
    '%s needs company_wide:update from a limited user',
    async (id, operation) => {
      const limited = (permissions: string[], name: string) =>
        member(world.company, `${name}-${id.toLowerCase()}@example.com`, { permissions });
      const without = await limited(
        SCOPES.filter((scope) => scope !== 'company_wide:update'),
        'without',
      );
      const refused = await fixture.send(operation, {}, without.api);
      expect([refused.status, refused.body.detail]).toEqual([
        403,
        expect.stringContaining('company_wide:update'),
      ]);
      const permitted = await limited([operation.scope!, 'company_wide:update'], 'with');
      const path = operation.path.replace(/\{id\}/, '999999999');
      const res = await permitted.api(operation.method, path, { body: {} });
      expect([404, 422]).toContain(res.status);
    },
  );

  /** A limited user with a record that others use too, and one that nobody else uses. */
  const scene = async (permissions: string[]) => {
    const [mine, rival] = [
      await made('buyers', { name: 'Mine' }, 'buyer'),
      await made('buyers', { name: 'Rival' }, 'buyer'),
    ];
    const offer = await made('offers', { name: 'Shared', buyer_ids: [mine.id, rival.id] }, 'offer');
    const user = await member(world.company, `shared${Math.random()}@example.com`, {
      permissions,
      buyer_ids: [mine.id],
      offer_ids: [offer.id],
    });
    const listOf = (buyer_ids: number[]) =>
      made('buyer_suppressions', { name: 'Do not call', buyer_ids }, 'buyer_suppression');
    const number = async (offer_id: number | null, buyer_id: number | null) =>
      Number(
        (
          await world.sql<{ id: string }>(
            `INSERT INTO numbers (company_id, uuid, phone_number, country, carrier, offer_id, buyer_id)
            VALUES ($1, gen_random_uuid(), $4, 'US', 'sandbox', $2, $3) RETURNING id`,
            [world.company.id, offer_id, buyer_id, `1646555${String(++digits).padStart(4, '0')}`],
          )
        )[0]!.id,
      );
    return {
      user,
      offer: offer.id as number,
      shared_list: (await listOf([mine.id, rival.id])).id as number,
      own_list: (await listOf([mine.id])).id as number,
      shared_number: await number(offer.id, null),
      own_number: await number(null, mine.id),
      mine: mine.id as number,
    };
  };
  let digits = 0;
  const MOST = SCOPES.filter((scope) => scope !== 'company_wide:update');
  const block = { caller_ids: ['+13105550155'] };

  test('a do-not-call list that others use is not changed; an own one is', async () => {
    const { user, shared_list, own_list, offer } = await scene(MOST);
    const numbers = (id: number) =>
      user.api('post', `buyer_suppressions/${id}/caller_block`, { body: block });
    const rename = (id: number) =>
      user.api('put', `buyer_suppressions/${id}`, { body: { name: 'Changed' } });
    expect([(await numbers(shared_list)).status, (await rename(shared_list)).status]).toEqual([
      403, 403,
    ]);
    expect([(await numbers(own_list)).status, (await rename(own_list)).status]).toEqual([200, 200]);
    const upload = (id: number) =>
      user.api('post', 'buyer_suppression_files', {
        form: { buyer_suppression_id: String(id), import_file: Buffer.from('caller_id\n') },
      });
    expect([(await upload(shared_list)).status, (await upload(own_list)).status]).toEqual([
      403, 201,
    ]);
    const attached = await user.api('post', 'buyer_suppressions', {
      body: { name: 'On the offer', offer_ids: [offer] },
    });
    expect(attached.status).toBe(403);
    const blocked = await world.sql(
      'SELECT FROM buyer_suppression_numbers WHERE buyer_suppression_id = $1',
      [shared_list],
    );
    expect(blocked).toEqual([]);
  });

  test('an offer, a schedule, a number that others use are neither changed nor deleted', async () => {
    const { user, offer, shared_number, own_number } = await scene(MOST);
    const status = async (method: 'put' | 'post' | 'delete', path: string, body?: object) =>
      (await user.api(method, path, body && { body })).status;
    const schedule = await made('schedules', { name: 'S', offer_id: offer }, 'schedule');
    const action = { schedule_id: schedule.id, action_type: 'exit' };
    expect([
      await status('put', `offers/${offer}`, { name: 'Mine now' }),
      await status('delete', `offers/${offer}`),
      await status('post', 'schedules', { name: 'Mine', offer_id: offer }),
      await status('put', `schedules/${schedule.id}`, { paused: true }),
      await status('delete', `schedules/${schedule.id}`),
      await status('post', 'schedule_actions', action),
      await status('put', `phone_numbers/${shared_number}`, { name: 'Mine' }),
      await status('delete', `phone_numbers/${shared_number}`),
      await status('put', `phone_numbers/${own_number}`, { name: 'Mine' }),
    ]).toEqual([403, 403, 403, 403, 403, 403, 403, 403, 200]);
  });

  test('a team may say so: with company_wide:update they are', async () => {
    const { user, shared_list, offer } = await scene(SCOPES);
    const blocked = await user.api('post', `buyer_suppressions/${shared_list}/caller_block`, {
      body: block,
    });
    const renamed = await user.api('put', `offers/${offer}`, { body: { name: 'Renamed' } });
    expect([blocked.status, renamed.status]).toEqual([200, 200]);
  });
});
