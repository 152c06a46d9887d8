import { createFixture, type Fixture } from '../support/example';
import { createPartner } from '../support/partner';
import { createMember, type Member } from '../support/teams';
import { useWorld } from '../support/use-world';

// A partner: a user who is limited to one buyer and one offer.

const world = useWorld();
const { createRecord, create, api } = world;
let fixture: Fixture;
let partner: Member;
let ownIds: { buyer: number; offer: number };

beforeAll(async () => {
  fixture = await createFixture(world);
  ({ partner, ...ownIds } = await createPartner(world));
});

test('sees and may change the granted buyer, in lists, counts and exports', async () => {
  const page = await partner.api('get', 'buyers');
  expect([
    page.body.buyers.map(({ id }: { id: number }) => id),
    page.body.metadata.total_count,
  ]).toEqual([[ownIds.buyer], 1]);
  expect((await partner.api('get', 'buyers.csv', { query: { columns: 'id' } })).text).toBe(
    `id\n${ownIds.buyer}\n`,
  );
  expect((await partner.api('get', 'buyers/granted/by_user_buyer_id')).status).toBe(200);
  expect(
    (
      await partner.api('get', 'buyers', {
        query: { fulltext: 'grant', page: 1, per_page: 1, paused: false },
      })
    ).body.metadata.total_count,
  ).toBe(1);
  const changed = await partner.api('put', `buyers/${ownIds.buyer}`, { body: { paused: true } });
  expect([changed.status, changed.body.buyer.paused]).toEqual([200, true]);
  await partner.api('put', `buyers/${ownIds.buyer}`, { body: { paused: false } });
});

test('does not see another buyer in records that both belong to', async () => {
  const otherBuyer = await createRecord('buyers', { name: 'Canary', number: '+13105550778' });
  const together = [ownIds.buyer, otherBuyer.id];
  const group = await create('buyer_groups', { name: 'Secret group', buyer_ids: together });
  await api('put', `offers/${ownIds.offer}`, {
    body: { buyer_ids: together, buyer_group_ids: [group] },
  });
  const list = await create('buyer_suppressions', { name: 'Shared', buyer_ids: together });
  expect(
    (await partner.api('get', `buyer_suppressions/${list}`)).body.buyer_suppression.buyer_ids,
  ).toEqual([ownIds.buyer]);
  const offer = (await partner.api('get', `offers/${ownIds.offer}`)).body.offer;
  expect([offer.buyer_ids, offer.buyer_group_ids]).toEqual([[ownIds.buyer], []]);
  const buyer = (await partner.api('get', `buyers/${ownIds.buyer}`)).body.buyer;
  expect([buyer.buyer_group_ids, buyer.buyer_group_names]).toEqual([[], []]);
  const explained = await partner.api('post', 'routing/explain', {
    body: { offer_id: ownIds.offer, caller_number: '+12125550188' },
  });
  expect(
    explained.body.decision.candidates.map(({ buyer_id }: { buyer_id: number }) => buyer_id),
  ).toEqual([ownIds.buyer]);
  for (const path of [
    'offers',
    'buyers',
    'buyer_groups',
    'buyer_suppressions',
    `offers/${ownIds.offer}`,
  ]) {
    const answer = (await partner.api('get', path)).text;
    expect([
      path,
      answer.includes('Canary'),
      answer.includes('Secret group'),
      answer.includes(otherBuyer.uuid),
    ]).toEqual([path, false, false, false]);
  }
});

test('creates only records that the team sees; they are granted to it', async () => {
  const response = await partner.api('post', 'buyers', { body: { name: 'Made by a partner' } });
  expect((await partner.api('get', `buyers/${response.body.buyer.id}`)).status).toBe(200);
  const orphan = await partner.api('post', 'schedules', { body: { name: 'Of no offer' } });
  expect([orphan.status, orphan.body.detail]).toEqual([403, expect.stringContaining('granted')]);
  expect((await world.sql(`SELECT FROM schedules WHERE name = 'Of no offer'`)).length).toBe(0);
  expect(
    (
      await partner.api('post', 'schedules', {
        body: { name: 'Of an offer', offer_id: ownIds.offer },
      })
    ).status,
  ).toBe(201);
});

test('learns nothing by filters on hidden columns, destinations or other users', async () => {
  const hidden = await createRecord('buyers', { name: 'Hidden', number: '+13105550999' });
  const [call] = await world.sql<{ id: string }>(
    `INSERT INTO calls (
      company_id, uuid, direction, status, carrier, buyer_id, offer_id, buyer_converted,
      connect_to, ended_at, revenue
    ) VALUES (
      $1, gen_random_uuid(), 'inbound', 'completed', 'softswitch', $2, $3, true,
      '+13105550999', now(), 40
    ) RETURNING id`,
    [world.company.id, hidden.id, ownIds.offer],
  );
  const publisher = await createMember(world.company, 'publisher@example.com', {
    permissions: ['calls:read', 'change_logs:read'],
    offer_ids: [ownIds.offer],
  });
  const shown = (await publisher.api('get', `calls/${call!.id}`)).body.call;
  expect([shown.buyer_id, shown.buyer, shown.connected_to]).toEqual([null, null, null]);
  for (const buyerId of [hidden.id, hidden.uuid, 999_999]) {
    const refused = await publisher.api('get', 'calls', { query: { buyer_id: buyerId } });
    expect([refused.status, refused.body.errors]).toEqual([
      422,
      { buyer_id: [`names no record of yours: ${buyerId}`] },
    ]);
  }
  const query = { fulltext: '3105550999' };
  expect((await publisher.api('get', 'calls', { query })).body.metadata.total_count).toBe(0);
  await world.sql(
    `INSERT INTO call_attempts (
      company_id, uuid, call_id, round, buyer_id, connect_to, status, timeout_seconds,
      press_one_to_accept, dial
    ) VALUES ($1, gen_random_uuid(), $2, 1, $3, '+13105550999', 'completed', 20, false, '{}')`,
    [world.company.id, call!.id, hidden.id],
  );
  const attempts = `calls/${call!.id}/attempts?fulltext=3105550999`;
  expect((await api('get', attempts)).body.metadata.total_count).toBe(1);
  expect((await publisher.api('get', attempts)).body.metadata.total_count).toBe(0);
  const byHidden = { category: 'offer', buyer_id: hidden.id };
  expect((await publisher.api('get', 'calls/reports', { query: byHidden })).status).toBe(422);
  expect(
    (await publisher.api('get', 'calls/reports', { query: { category: 'offer' } })).body.totals
      .revenue,
  ).toBe(40);
  const otherUsers = await world.sql<{ uuid: string; id: string }>(
    'SELECT uuid, id FROM users WHERE email = $1',
    [partner.email],
  );
  for (const userId of [otherUsers[0]!.id, otherUsers[0]!.uuid])
    expect((await publisher.api('get', 'change_logs', { query: { user_id: userId } })).status).toBe(
      422,
    );
});

test('finds a granted number by its telephone number', async () => {
  await world.sql('UPDATE numbers SET offer_id = $2 WHERE company_id = $1', [
    world.company.id,
    ownIds.offer,
  ]);
  const [number] = await world.sql<{ phone_number: string }>(
    'SELECT phone_number FROM numbers WHERE company_id = $1 LIMIT 1',
    [world.company.id],
  );
  expect((await partner.api('get', `phone_numbers/+${number!.phone_number}`)).status).toBe(200);
  await world.sql('UPDATE numbers SET offer_id = NULL WHERE company_id = $1', [world.company.id]);
  expect((await partner.api('get', `phone_numbers/+${number!.phone_number}`)).status).toBe(404);
});

test('replaces only the visible part of a list; the change log has all of it', async () => {
  const otherBuyer = await create('buyers', { name: 'Stays' });
  await api('put', `offers/${ownIds.offer}`, { body: { buyer_ids: [ownIds.buyer, otherBuyer] } });
  await partner.api('put', `offers/${ownIds.offer}`, {
    body: { buyer_ids: [] },
    headers: { 'X-Request-Id': 'replaced' },
  });
  expect((await api('get', `offers/${ownIds.offer}`)).body.offer.buyer_ids).toEqual([otherBuyer]);
  const [entry] = (await api('get', 'change_logs', { query: { client_request_id: 'replaced' } }))
    .body.change_logs;
  expect(entry.changes.buyer_ids).toEqual({
    from: [ownIds.buyer, otherBuyer].toSorted((a, b) => a - b),
    to: [otherBuyer],
  });
});

test('cannot move records out of its scope, or capture a lead that is not visible', async () => {
  const hook = await partner.api('post', 'outgoing_webhooks', {
    body: {
      name: 'Mine',
      owner_type: 'Buyer',
      owner_id: ownIds.buyer,
      trigger_type: 'every_call',
      url: 'https://hooks.example.com/x',
    },
  });
  expect(hook.status).toBe(201);
  const id = hook.body.outgoing_webhook.id;
  expect(
    (
      await partner.api('put', `outgoing_webhooks/${id}`, {
        body: { owner_type: 'Company', owner_id: null },
      })
    ).status,
  ).toBe(422);
  expect(
    (
      await partner.api('put', `outgoing_webhooks/${id}`, {
        body: { owner_type: 'Buyer', owner_id: fixture.ids.buyers },
      })
    ).status,
  ).toBe(422);
  const lead = { offer_id: ownIds.offer, caller_id: '+12125550177' };
  await api('post', 'leads/capture', {
    body: { ...lead, email: 'secret@example.com' },
  });
  const captured = await partner.api('post', 'leads/capture', {
    body: { ...lead, data: { hacked: 1 } },
  });
  expect([captured.status, captured.text.includes('secret@example.com')]).toEqual([403, false]);
  expect(await world.sql(`SELECT FROM leads WHERE data ? 'hacked'`)).toEqual([]);
});

test('gains nothing by creating credentials or by the teams of a record', async () => {
  const key = await partner.api('post', 'access_tokens', {
    body: { name: 'More', kind: 'key_pair', permissions: ['buyers:read'] },
  });
  expect([key.status, Object.keys(key.body.errors)]).toEqual([422, ['kind']]);
  const foreign = await partner.api('post', 'access_tokens', {
    body: { name: 'More', kind: 'user_token', user_email: 'reader@example.com' },
  });
  expect([foreign.status, Object.keys(foreign.body.errors)]).toEqual([422, ['user_email']]);
  const teams = await partner.api('put', `buyers/${ownIds.buyer}`, {
    body: { team_users_emails: ['friend@example.com'] },
  });
  expect([teams.status, Object.keys(teams.body.errors)]).toEqual([422, ['team_users_emails']]);
});
