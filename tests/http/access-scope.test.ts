import { contract, facets, type Operation, type Schema } from '../../src/contract';
import { visible } from '../../src/db/access-scope';
import type { Table } from '../../src/db/records';
import { createFixture, tableOf, type Fixture } from '../support/example';
import { member, type Member } from '../support/teams';
import { createWorld, type World } from '../support/world';

// Derived from openapi.yaml: a user who is limited to the records of teams walks every operation. The records of the fixture are granted to nobody.

const NOWHERE = '999999999';
const SCOPES = contract.document.components.schemas.Scope!.enum as string[];
let world: World;
let fixture: Fixture;
let powerless: Member;
let reader: Member;
let partner: Member;
let own: { buyer: number; offer: number };

beforeAll(async () => {
  world = await createWorld();
  fixture = await createFixture(world);
  const { api } = world.company;
  const buyer = (
    await api('post', 'buyers', {
      body: { name: 'Granted', number: '+13105550777', user_buyer_id: 'granted' },
    })
  ).body.buyer.id;
  const offer = (await api('post', 'offers', { body: { name: 'Granted too' } })).body.offer.id;
  own = { buyer, offer };
  powerless = await member(world.company, 'powerless@example.com');
  reader = await member(world.company, 'reader@example.com', {
    permissions: SCOPES.filter((scope) => scope.endsWith(':read')),
  });
  partner = await member(world.company, 'partner@example.com', {
    permissions: SCOPES,
    buyer_ids: [buyer],
    offer_ids: [offer],
  });
});
afterAll(() => world.close());

const scoped = contract.operations.filter(
  ({ credentials, scope }) => credentials === 'account' && scope !== undefined,
);
const named = (operations: Operation[]) =>
  operations.map((operation) => [operation.id, operation] as const);
const is_limited = (operation: Operation) => visible(tableOf(operation) as Table) !== undefined;
const is_list = ({ parameters, path }: Operation) =>
  parameters.some(({ name }) => name === 'root') && path.split('/').length === 4;
const bare = ({ type, title, detail, errors }: Record<string, unknown>, id: string) =>
  JSON.stringify([type, title, detail, errors]).replaceAll(id, NOWHERE);

test.each(named(scoped))(
  '%s is refused to a user whose teams allow nothing',
  async (_, operation) => {
    const res = await fixture.send(operation, {}, powerless.api);
    expect([res.status, res.body.detail]).toEqual([403, expect.stringContaining(operation.scope!)]);
  },
);

test.each(named(scoped.filter(({ scope }) => !scope!.endsWith(':read'))))(
  '%s is refused to a user who may only read',
  async (_, operation) => {
    expect((await fixture.send(operation, {}, reader.api)).status).toBe(403);
  },
);

test.each(named(scoped.filter((operation) => operation.unlimited)))(
  '%s is refused to a user who is limited to records',
  async (_, operation) => {
    expect((await fixture.send(operation, {}, partner.api)).status).toBe(403);
  },
);

const lists = named(
  scoped.filter(
    (operation) => operation.method === 'get' && is_list(operation) && is_limited(operation),
  ),
);

test.each(lists)('%s has, counts and exports nothing that is not granted', async (_, operation) => {
  const plural = operation.path.split('/')[3]!;
  const root = plural === 'phone_numbers' ? 'numbers' : plural;
  const res = await reader.api('get', operation.path, { query: { per_page: 1000 } });
  const mine = res.body[root] as { type: string; id: number; user_id?: number; email?: string }[];
  // One's own token, one's own team and oneself.
  const private_ones = new Set(['access_tokens', 'access_control_lists', 'users', 'change_logs']);
  expect([operation.id, mine.length, res.body.metadata.total_count]).toEqual([
    operation.id,
    private_ones.has(plural) ? expect.any(Number) : 0,
    mine.length,
  ]);
  if (private_ones.has(plural))
    expect(mine.some(({ id }) => id === fixture.ids[tableOf(operation)])).toBe(false);
  if (operation.csv)
    expect((await reader.api('get', `${operation.path}.csv`)).text.trim().split('\n')).toHaveLength(
      1 + mine.length,
    );
});

const with_id = named(
  scoped.filter(
    (operation) =>
      /\{(id|uuid|user_buyer_id)\}/.test(operation.path) &&
      is_limited(operation) &&
      !operation.unlimited,
  ),
);

test.each(with_id)(
  '%s answers a record that is not granted exactly as one that does not exist',
  async (_, operation) => {
    const by_user_id = operation.path.includes('{user_buyer_id}');
    const id = by_user_id ? 'not-granted' : String(fixture.ids[tableOf(operation)]);
    if (by_user_id)
      await world.sql(`UPDATE buyers SET user_buyer_id = 'not-granted' WHERE id = $1`, [
        fixture.ids.buyers,
      ]);
    const send = (name: string) =>
      partner.api(operation.method, operation.path.replace(/\{\w+\}/, name), {
        body: fixture.body(operation),
      });
    const [other, none] = [await send(id), await send(NOWHERE)];
    expect([other.status, none.status]).toEqual([404, 404]);
    expect(bare(other.body, id)).toBe(bare(none.body, NOWHERE));
  },
);

interface Reference {
  operation: Operation;
  field: string;
  target: string;
  list: boolean;
}

const properties = (operation: Operation): Record<string, Schema> =>
  operation.body ? facets(operation.body).properties : {};
const references: Reference[] = scoped
  .filter(({ unlimited, path }) => !unlimited && !path.includes('{'))
  .flatMap((operation) =>
    Object.entries(properties(operation)).flatMap(([field, schema]) => {
      const target = schema['x-reference'];
      const limited = target !== undefined && visible(target.split('.')[0] as Table) !== undefined;
      return limited ? [{ operation, field, target, list: facets(schema).types.has('array') }] : [];
    }),
  );

test.each(
  references.map(
    (reference) => [`${reference.operation.id}.${reference.field}`, reference] as const,
  ),
)(
  '%s refuses a record that is not granted exactly as one that does not exist',
  async (_, { operation, field, target, list }) => {
    const [table = '', key = 'id'] = target.split('.');
    if (key !== 'id')
      await world.sql(`UPDATE buyers SET user_buyer_id = 'not-granted' WHERE id = $1`, [
        fixture.ids.buyers,
      ]);
    const [id, nothing] =
      key === 'id' ? [fixture.ids[table]!, Number(NOWHERE)] : ['not-granted', NOWHERE];
    const plain = Object.entries(fixture.body(operation) ?? {}).filter(
      ([name]) => !properties(operation)[name]?.['x-reference'] && !/^user_\w+_id$/.test(name),
    );
    const send = (value: string | number) =>
      fixture.send(
        operation,
        { body: { ...Object.fromEntries(plain), [field]: list ? [value] : value } },
        partner.api,
      );
    const [other, none] = [await send(id), await send(nothing)];
    expect([other.status, none.status]).toEqual([422, 422]);
    expect(bare(other.body, String(id))).toBe(bare(none.body, NOWHERE));
  },
);

describe('a partner who is granted one buyer', () => {
  test('sees it in the list, the count, the export and by itself, and may change it', async () => {
    const page = await partner.api('get', 'buyers');
    expect([
      page.body.buyers.map(({ id }: { id: number }) => id),
      page.body.metadata.total_count,
    ]).toEqual([[own.buyer], 1]);
    expect((await partner.api('get', 'buyers.csv', { query: { columns: 'id' } })).text).toBe(
      `id\n${own.buyer}\n`,
    );
    expect((await partner.api('get', 'buyers/granted/by_user_buyer_id')).status).toBe(200);
    expect(
      (
        await partner.api('get', 'buyers', {
          query: { fulltext: 'grant', page: 1, per_page: 1, paused: false },
        })
      ).body.metadata.total_count,
    ).toBe(1);
    const changed = await partner.api('put', `buyers/${own.buyer}`, { body: { paused: true } });
    expect([changed.status, changed.body.buyer.paused]).toEqual([200, true]);
    await partner.api('put', `buyers/${own.buyer}`, { body: { paused: false } });
  });

  test('is told of no other buyer by what both are in', async () => {
    const { api } = world.company;
    const other = (
      await api('post', 'buyers', { body: { name: 'Canary', number: '+13105550778' } })
    ).body.buyer;
    const together = [own.buyer, other.id];
    const group = (
      await api('post', 'buyer_groups', { body: { name: 'Secret group', buyer_ids: together } })
    ).body.buyer_group.id;
    await api('put', `offers/${own.offer}`, {
      body: { buyer_ids: together, buyer_group_ids: [group] },
    });
    const list = (
      await api('post', 'buyer_suppressions', { body: { name: 'Shared', buyer_ids: together } })
    ).body.buyer_suppression.id;
    expect(
      (await partner.api('get', `buyer_suppressions/${list}`)).body.buyer_suppression.buyer_ids,
    ).toEqual([own.buyer]);
    const offer = (await partner.api('get', `offers/${own.offer}`)).body.offer;
    expect([offer.buyer_ids, offer.buyer_group_ids]).toEqual([[own.buyer], []]);
    const buyer = (await partner.api('get', `buyers/${own.buyer}`)).body.buyer;
    expect([buyer.buyer_group_ids, buyer.buyer_group_names]).toEqual([[], []]);
    const explained = await partner.api('post', 'routing/explain', {
      body: { offer_id: own.offer, caller_number: '+12125550188' },
    });
    expect(
      explained.body.decision.candidates.map(({ buyer_id }: { buyer_id: number }) => buyer_id),
    ).toEqual([own.buyer]);
    for (const path of [
      'offers',
      'buyers',
      'buyer_groups',
      'buyer_suppressions',
      `offers/${own.offer}`,
    ]) {
      const answer = (await partner.api('get', path)).text;
      expect([
        path,
        answer.includes('Canary'),
        answer.includes('Secret group'),
        answer.includes(other.uuid),
      ]).toEqual([path, false, false, false]);
    }
  });

  test('has what they make granted to the team, and can make nothing that the team would not see', async () => {
    const made = await partner.api('post', 'buyers', { body: { name: 'Made by a partner' } });
    expect((await partner.api('get', `buyers/${made.body.buyer.id}`)).status).toBe(200);
    const orphan = await partner.api('post', 'schedules', { body: { name: 'Of no offer' } });
    expect([orphan.status, orphan.body.detail]).toEqual([403, expect.stringContaining('granted')]);
    expect((await world.sql(`SELECT FROM schedules WHERE name = 'Of no offer'`)).length).toBe(0);
    expect(
      (
        await partner.api('post', 'schedules', {
          body: { name: 'Of an offer', offer_id: own.offer },
        })
      ).status,
    ).toBe(201);
  });

  test('learns nothing by filtering: neither by hidden columns, nor by what a call was connected to, nor of others in the change log', async () => {
    const { api } = world.company;
    const hidden = (
      await api('post', 'buyers', { body: { name: 'Hidden', number: '+13105550999' } })
    ).body.buyer;
    const [call] = await world.sql<{ id: string }>(
      `INSERT INTO calls (company_id, uuid, direction, status, carrier, buyer_id, offer_id, buyer_converted, connect_to, ended_at, revenue) VALUES ($1, gen_random_uuid(), 'inbound', 'completed', 'softswitch', $2, $3, true, '+13105550999', now(), 40) RETURNING id`,
      [world.company.id, hidden.id, own.offer],
    );
    const publisher = await member(world.company, 'publisher@example.com', {
      permissions: ['calls:read', 'change_logs:read'],
      offer_ids: [own.offer],
    });
    const shown = (await publisher.api('get', `calls/${call!.id}`)).body.call;
    expect([shown.buyer_id, shown.buyer, shown.connected_to]).toEqual([null, null, null]);
    for (const query of [
      { buyer_id: hidden.id },
      { buyer_id: hidden.uuid },
      { fulltext: '3105550999' },
    ])
      expect((await publisher.api('get', 'calls', { query })).body.metadata.total_count).toBe(0);
    expect(
      (
        await publisher.api('get', 'calls/reports', {
          query: { category: 'offer', buyer_id: hidden.id },
        })
      ).body.totals.revenue,
    ).toBe(0);
    expect(
      (await publisher.api('get', 'calls/reports', { query: { category: 'offer' } })).body.totals
        .revenue,
    ).toBe(40);
    const others = await world.sql<{ uuid: string; id: string }>(
      'SELECT uuid, id FROM users WHERE email = $1',
      [partner.email],
    );
    for (const user_id of [others[0]!.id, others[0]!.uuid])
      expect(
        (await publisher.api('get', 'change_logs', { query: { user_id } })).body.metadata
          .total_count,
      ).toBe(0);
  });

  test('names their own number by its telephone number', async () => {
    await world.sql('UPDATE numbers SET offer_id = $2 WHERE company_id = $1', [
      world.company.id,
      own.offer,
    ]);
    const [number] = await world.sql<{ phone_number: string }>(
      'SELECT phone_number FROM numbers WHERE company_id = $1 LIMIT 1',
      [world.company.id],
    );
    expect((await partner.api('get', `phone_numbers/+${number!.phone_number}`)).status).toBe(200);
    await world.sql('UPDATE numbers SET offer_id = NULL WHERE company_id = $1', [world.company.id]);
    expect((await partner.api('get', `phone_numbers/+${number!.phone_number}`)).status).toBe(404);
  });

  test('replaces what is seen of a list and leaves the rest, and the change log has it as it is', async () => {
    const { api } = world.company;
    const other = (await api('post', 'buyers', { body: { name: 'Stays' } })).body.buyer.id;
    await api('put', `offers/${own.offer}`, { body: { buyer_ids: [own.buyer, other] } });
    await partner.api('put', `offers/${own.offer}`, {
      body: { buyer_ids: [] },
      headers: { 'X-Request-Id': 'replaced' },
    });
    expect((await api('get', `offers/${own.offer}`)).body.offer.buyer_ids).toEqual([other]);
    const [entry] = (await api('get', 'change_logs', { query: { request_id: 'replaced' } })).body
      .change_logs;
    expect(entry.changes.buyer_ids).toEqual({
      from: [own.buyer, other].toSorted((a, b) => a - b),
      to: [other],
    });
  });

  test('moves nothing out of reach and captures no lead that is not seen', async () => {
    const hook = await partner.api('post', 'outgoing_webhooks', {
      body: {
        name: 'Mine',
        owner_type: 'Offer',
        owner_id: own.offer,
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
    ).toBe(403);
    expect(
      (
        await partner.api('put', `outgoing_webhooks/${id}`, {
          body: { owner_type: 'Buyer', owner_id: fixture.ids.buyers },
        })
      ).status,
    ).toBe(422);
    const lead = { offer_id: own.offer, caller_id: '+12125550177' };
    await world.company.api('post', 'leads/capture', {
      body: { ...lead, email: 'secret@example.com' },
    });
    const captured = await partner.api('post', 'leads/capture', {
      body: { ...lead, data: { hacked: 1 } },
    });
    expect([captured.status, captured.text.includes('secret@example.com')]).toEqual([403, false]);
    expect(await world.sql(`SELECT FROM leads WHERE data ? 'hacked'`)).toEqual([]);
  });

  test('gets no further by making credentials or by the teams of a record', async () => {
    const key = await partner.api('post', 'access_tokens', {
      body: { name: 'More', kind: 'key_pair', permissions: ['buyers:read'] },
    });
    expect([key.status, Object.keys(key.body.errors)]).toEqual([422, ['kind']]);
    const foreign = await partner.api('post', 'access_tokens', {
      body: { name: 'More', kind: 'user_token', user_email: 'reader@example.com' },
    });
    expect([foreign.status, Object.keys(foreign.body.errors)]).toEqual([422, ['user_email']]);
    const teams = await partner.api('put', `buyers/${own.buyer}`, {
      body: { team_users_emails: ['friend@example.com'] },
    });
    expect([teams.status, Object.keys(teams.body.errors)]).toEqual([422, ['team_users_emails']]);
  });
});

describe('calls and leads', () => {
  test('are those that granted buyers paid for, at the offers of the team if it has some, and those of offers of a team without buyers', async () => {
    const { api } = world.company;
    const make = async (path: string, body: object, root: string) =>
      (await api('post', path, { body })).body[root].id as number;
    const [mine, other] = [
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
        `INSERT INTO calls (company_id, uuid, direction, status, carrier, buyer_id, offer_id, buyer_converted, revenue, ended_at) VALUES ($1, gen_random_uuid(), 'inbound', 'completed', 'softswitch', $2, $3, $4, 10, now()) RETURNING id`,
        [world.company.id, buyer, offer, converted],
      );
      calls[name] = Number(row!.id);
    };
    await add('paid at A', mine, a, true);
    await add('paid at B', mine, b, true);
    await add('not paid', mine, a, false);
    await add('another paid', other, a, true);
    await add('nobody', null, b, false);
    const seenBy = async (email: string, grants: object) => {
      const { api: by } = await member(world.company, email, {
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
    expect(await seenBy('1@example.com', { buyer_ids: [mine] })).toEqual([
      'paid at A',
      'paid at B',
    ]);
    expect(await seenBy('2@example.com', { buyer_ids: [mine], offer_ids: [a] })).toEqual([
      'paid at A',
    ]);
    expect(
      await seenBy('3@example.com', { buyer_ids: [mine], offer_ids: [a], all_offers: true }),
    ).toEqual(['paid at A', 'paid at B']);
    expect(await seenBy('4@example.com', { offer_ids: [b] })).toEqual(['paid at B', 'nobody']);
    expect(await seenBy('5@example.com', {})).toEqual([]);
    const group = await make('buyer_groups', { name: 'G', buyer_ids: [mine] }, 'buyer_group');
    expect(await seenBy('6@example.com', { buyer_group_ids: [group] })).toEqual([
      'paid at A',
      'paid at B',
    ]);
  });

  test('a user of two teams may with each record what one of the teams that are granted it allows, and no more', async () => {
    const { api } = world.company;
    const make = async (name: string) =>
      (await api('post', 'buyers', { body: { name } })).body.buyer.id as number;
    const [read, write] = [await make('To be read'), await make('To be written')];
    const user = await member(world.company, 'two@example.com', {
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
});
