import { createMember } from '../support/teams';
import { useWorld } from '../support/use-world';

// Records that the grants of teams make visible.

const world = useWorld();
const { create, createRecords } = world;

// Visible are the calls that granted buyers paid for, at the offers of the team if it has any, and
// all calls of the offers of a team without buyers.
test('calls are visible by the buyers and the offers that a team is granted', async () => {
  const { Mine, Other, A, B, G } = await createRecords({
    buyers: { Mine: {}, Other: {} },
    offers: { A: {}, B: {} },
    buyer_groups: { G: { buyer_ids: ['Mine'] } },
  });
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
  await add('paid at A', Mine, A, true);
  await add('paid at B', Mine, B, true);
  await add('not paid', Mine, A, false);
  await add('another paid', Other, A, true);
  await add('unpaid', null, B, false);
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
  expect(await seenBy('1@example.com', { buyer_ids: [Mine] })).toEqual(['paid at A', 'paid at B']);
  expect(await seenBy('2@example.com', { buyer_ids: [Mine], offer_ids: [A] })).toEqual([
    'paid at A',
  ]);
  expect(
    await seenBy('3@example.com', { buyer_ids: [Mine], offer_ids: [A], all_offers: true }),
  ).toEqual(['paid at A', 'paid at B']);
  expect(await seenBy('4@example.com', { offer_ids: [B] })).toEqual(['paid at B', 'unpaid']);
  expect(await seenBy('5@example.com', {})).toEqual([]);
  expect(await seenBy('6@example.com', { buyer_group_ids: [G] })).toEqual([
    'paid at A',
    'paid at B',
  ]);
});

test('a user of two teams has the rights of those teams that are granted the record', async () => {
  const [read, write] = [
    await create('buyers', { name: 'To be read' }),
    await create('buyers', { name: 'To be written' }),
  ];
  const user = await createMember(world.company, 'two@example.com', {
    permissions: ['buyers:read'],
    buyer_ids: [read],
  });
  await create('access_control_lists', {
    name: 'Writers',
    users_emails: [user.email],
    permissions: ['buyers:read', 'buyers:update'],
    buyer_ids: [write],
  });
  expect((await user.api('get', 'buyers')).body.metadata.total_count).toBe(2);
  expect((await user.api('put', `buyers/${write}`, { body: { paused: true } })).status).toBe(200);
  expect((await user.api('put', `buyers/${read}`, { body: { paused: true } })).status).toBe(404);
});
