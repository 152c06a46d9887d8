import { createMember } from '../support/teams';
import { createWorld, type World } from '../support/world';

// Records that the grants of teams make visible.

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

// Visible are the calls that granted buyers paid for, at the offers of the team if it has any, and
// all calls of the offers of a team without buyers.
test('calls are visible by the buyers and the offers that a team is granted', async () => {
  const { api } = world.company;
  const make = async (path: string, body: object, root: string) =>
    (await api('post', path, { body })).body[root].id as number;
  const [mine, otherBuyer] = [
    await make('buyers', { name: 'Mine' }, 'buyer'),
    await make('buyers', { name: 'Other' }, 'buyer'),
  ];
  const [a, b] = [
    await make('offers', { name: 'A' }, 'offer'),
    await make('offers', { name: 'B' }, 'offer'),
  ];
  const calls: Record<string, number> = {};
  const add = async (name: string, buyer: number | null, offer: number, converted: boolean) => {
    const [row] = await world.sql<{ id: string }>(
      `INSERT INTO calls (
        company_id, uuid, direction, status, carrier, buyer_id, offer_id, buyer_converted,
        revenue, ended_at
      ) VALUES (
        $1, gen_random_uuid(), 'inbound', 'completed', 'softswitch', $2, $3, $4, 10, now()
      ) RETURNING id`,
      [world.company.id, buyer, offer, converted],
    );
    calls[name] = Number(row!.id);
  };
  await add('paid at A', mine, a, true);
  await add('paid at B', mine, b, true);
  await add('not paid', mine, a, false);
  await add('another paid', otherBuyer, a, true);
  await add('unpaid', null, b, false);
  const seenBy = async (email: string, grants: object) => {
    const { api: by } = await createMember(world.company, email, {
      permissions: ['calls:read'],
      ...grants,
    });
    const page = await by('get', 'calls', { query: { columns: 'id' } });
    const ids = new Set((page.body.calls as { id: number }[]).map(({ id }) => id));
    expect(page.body.metadata.total_count).toBe(ids.size);
    const report = await by('get', 'calls/reports', { query: { category: 'offer' } });
    expect(report.body.totals.calls).toBe(ids.size);
    return Object.keys(calls).filter((name) => ids.has(calls[name]!));
  };
  expect(await seenBy('1@example.com', { buyer_ids: [mine] })).toEqual(['paid at A', 'paid at B']);
  expect(await seenBy('2@example.com', { buyer_ids: [mine], offer_ids: [a] })).toEqual([
    'paid at A',
  ]);
  expect(
    await seenBy('3@example.com', { buyer_ids: [mine], offer_ids: [a], all_offers: true }),
  ).toEqual(['paid at A', 'paid at B']);
  expect(await seenBy('4@example.com', { offer_ids: [b] })).toEqual(['paid at B', 'unpaid']);
  expect(await seenBy('5@example.com', {})).toEqual([]);
  const group = await make('buyer_groups', { name: 'G', buyer_ids: [mine] }, 'buyer_group');
  expect(await seenBy('6@example.com', { buyer_group_ids: [group] })).toEqual([
    'paid at A',
    'paid at B',
  ]);
});

test('a user of two teams has the rights of those teams that are granted the record', async () => {
  const { api } = world.company;
  const make = async (name: string) =>
    (await api('post', 'buyers', { body: { name } })).body.buyer.id as number;
  const [read, write] = [await make('To be read'), await make('To be written')];
  const user = await createMember(world.company, 'two@example.com', {
    permissions: ['buyers:read'],
    buyer_ids: [read],
  });
  await api('post', 'access_control_lists', {
    body: {
      name: 'Writers',
      users_emails: [user.email],
      permissions: ['buyers:read', 'buyers:update'],
      buyer_ids: [write],
    },
  });
  expect((await user.api('get', 'buyers')).body.metadata.total_count).toBe(2);
  expect((await user.api('put', `buyers/${write}`, { body: { paused: true } })).status).toBe(200);
  expect((await user.api('put', `buyers/${read}`, { body: { paused: true } })).status).toBe(404);
});
