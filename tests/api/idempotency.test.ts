import { useWorld } from '../support/use-world';

const world = useWorld({ environment: { DATABASE_POOL_SIZE: '20' } });
const { createRecord, create, api } = world;

const buyer = async (more: object = {}) =>
  (await createRecord('buyers', { name: 'B', ...more })) as {
    id: number;
  };

test('100 parallel adds and removes result in exactly the expected members', async () => {
  const ids = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => (await buyer({ user_buyer_id: `m${n}` })).id),
  );
  const [start, added, byName] = [ids.slice(0, 30), ids.slice(30, 50), ids.slice(50)];
  const group = await create('buyer_groups', { name: 'G', buyer_ids: start });
  const put = (body: object) => api('put', `buyer_groups/${group}`, { body });
  const changes = [
    ...added.map((id) => put({ add_buyer_ids: [id] })),
    ...start.slice(0, 15).map((id) => put({ remove_buyer_ids: [id] })),
    ...byName.map((_, n) => put({ add_user_buyer_ids: [`m${50 + n}`] })),
    ...start.slice(15, 25).map((_, n) => put({ remove_user_buyer_ids: [`m${15 + n}`] })),
    ...added.slice(0, 20).map((id) => put({ add_buyer_ids: [id], tier: 2 })),
    ...start.slice(0, 15).map((id) => put({ remove_buyer_ids: [id] })),
    ...byName.map((_, n) => put({ add_user_buyer_ids: [`m${50 + n}`] })),
  ];
  expect(changes).toHaveLength(100);
  expect((await Promise.all(changes)).map(({ status }) => status)).toEqual(Array(100).fill(200));
  const { body } = await api('get', `buyer_groups/${group}`);
  expect(body.buyer_group.buyer_ids).toEqual(
    [...start.slice(25), ...added, ...byName].toSorted((a, b) => a - b),
  );
  expect(body.buyer_group.buyers_count).toBe(35);
});

test('a buyer deleted while it is added to a group is in no group', async () => {
  for (let round = 0; round < 15; round++) {
    const { id } = await buyer();
    const group = await create('buyer_groups', { name: 'G' });
    await Promise.all([
      api('put', `buyer_groups/${group}`, { body: { add_buyer_ids: [id] } }),
      api('delete', `buyers/${id}`),
    ]);
    expect((await api('get', `buyer_groups/${group}`)).body.buyer_group.buyer_ids).toEqual([]);
  }
});

test('changes that lock the same records in different orders all succeed', async () => {
  for (let round = 0; round < 10; round++) {
    const { id } = await buyer();
    const fleet = await create('buyer_fleets', { name: 'F', user_fleet_id: `f${round}` });
    const group = await create('buyer_groups', { name: 'G', buyer_ids: [id] });
    await api('put', `buyers/${id}`, { body: { buyer_fleet_id: fleet } });
    const [moved, ...rest] = await Promise.all([
      api('put', `buyers/${id}`, { body: { buyer_fleet_id: fleet, tier: 2 } }),
      api('delete', `buyer_fleets/${fleet}`),
      api('put', `buyer_groups/${group}`, {
        body: { buyer_ids: [], add_buyer_ids: [id] },
      }),
      api('put', `buyers/${id}`, { body: { tier: 3 } }),
    ]);
    expect([200, 422]).toContain(moved!.status);
    expect(rest.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await api('get', `buyers/${id}`)).body.buyer.buyer_fleet_id).toBe(null);
  }
});

test('of simultaneous buyers with one user_buyer_id only one is created', async () => {
  const responses = await Promise.all(
    Array.from({ length: 12 }, () =>
      api('post', 'buyers', { body: { user_buyer_id: 'only-one' } }),
    ),
  );
  const count = (status: number) => responses.filter((res) => res.status === status).length;
  expect([count(201), count(422)]).toEqual([1, 11]);
  expect(responses.find(({ status }) => status === 422)!.body.errors).toEqual({
    user_buyer_id: [expect.stringContaining('unique')],
  });
});

test('total_count stays exact through parallel creates and deletes', async () => {
  const otherCompany = await world.addCompany();
  const responses = await Promise.all(
    Array.from({ length: 40 }, () => otherCompany.api('post', 'buyers', { body: {} })),
  );
  const ids = responses.map(({ body }) => body.buyer.id as number);
  await Promise.all(
    [...ids.slice(0, 15), ...ids.slice(0, 15)].map((id) =>
      otherCompany.api('delete', `buyers/${id}`),
    ),
  );
  const unfiltered = await otherCompany.api('get', 'buyers?per_page=1');
  const counted = await otherCompany.api('get', 'buyers?per_page=1&paused=no');
  expect([unfiltered.body.metadata.total_count, counted.body.metadata.total_count]).toEqual([
    25, 25,
  ]);
});

describe('Idempotency-Key', () => {
  const post = (key: string, body: object) =>
    api('post', 'buyers', { body, headers: { 'Idempotency-Key': key } });

  test('returns the first answer for a repeated request, with one effect', async () => {
    const first = await post('a', { name: 'Once' });
    const second = await post('a', { name: 'Once' });
    expect([first.status, second.status, second.text]).toEqual([201, 201, first.text]);
    expect([
      first.headers['idempotent-replayed'],
      second.headers['idempotent-replayed'],
      second.headers.etag,
    ]).toEqual([undefined, 'true', first.headers.etag]);
    expect((await api('get', 'buyers?fulltext=Once')).body.metadata.total_count).toBe(1);
  });

  test('refuses another request with the same key', async () => {
    await post('b', { name: 'One' });
    const otherResponse = await post('b', { name: 'Two' });
    expect([otherResponse.status, Object.keys(otherResponse.body.errors)]).toEqual([
      422,
      ['Idempotency-Key'],
    ]);
    const elsewhere = await api('post', 'buyer_fleets', {
      body: { name: 'One', user_fleet_id: 'one' },
      headers: { 'Idempotency-Key': 'b' },
    });
    expect(elsewhere.status).toBe(422);
  });

  test('twenty at once create one record; the others get 409 with Retry-After', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => post('c', { name: 'Twenty' })));
    for (const res of all) expect([201, 409]).toContain(res.status);
    expect(
      all
        .filter(({ status }) => status === 409)
        .every(({ headers }) => headers['retry-after'] === '1'),
    ).toBe(true);
    expect((await api('get', 'buyers?fulltext=Twenty')).body.metadata.total_count).toBe(1);
  });

  test('stores nothing of a refused request: it can be corrected and sent again', async () => {
    expect((await post('d', { timeout_seconds: 1 })).status).toBe(422);
    expect((await post('d', { timeout_seconds: 20 })).status).toBe(201);
  });

  test('belongs to the credentials that sent it: others do not get its secrets', async () => {
    const send = (auth: string) =>
      api('post', 'access_tokens', {
        auth,
        body: { name: 'k', kind: 'key_pair' },
        headers: { 'Idempotency-Key': 'shared' },
      });
    const mine = await send(world.company.auth);
    const otherResponse = await send(
      await world.credentials(world.company, ['access_tokens:create']),
    );
    expect([mine.status, otherResponse.status]).toEqual([201, 201]);
    expect(otherResponse.body.private_key).not.toBe(mine.body.private_key);
  });

  test('belongs to one company', async () => {
    const otherCompany = await world.addCompany();
    await post('e', { name: 'Mine' });
    const theirs = await otherCompany.api('post', 'buyers', {
      body: { name: 'Theirs' },
      headers: { 'Idempotency-Key': 'e' },
    });
    expect([theirs.status, theirs.body.buyer.name]).toEqual([201, 'Theirs']);
  });

  test('stores an answer with a secret only encrypted', async () => {
    const send = () =>
      api('post', 'access_tokens', {
        body: { name: 'k', kind: 'key_pair' },
        headers: { 'Idempotency-Key': 'secret' },
      });
    const [first, second] = [await send(), await send()];
    expect(second.body.private_key).toBe(first.body.private_key);
    const [row] = await world.sql<{ answer: Buffer }>(
      "SELECT answer FROM idempotency_keys WHERE key = 'secret'",
    );
    expect(row!.answer.toString('latin1')).not.toContain(first.body.private_key);
  });

  test('is free again after 24 hours', async () => {
    await post('f', { name: 'Old' });
    await world.sql(
      `UPDATE idempotency_keys SET created_at = now() - interval '24 hours 1 second'
        WHERE key = 'f'`,
    );
    const response = await post('f', { name: 'New' });
    expect([response.status, response.body.buyer.name]).toEqual([201, 'New']);
  });
});

test('with If-Match one of several simultaneous changes succeeds', async () => {
  const createdBuyer = await api('post', 'buyers', { body: { name: 'Contended' } });
  const headers = { 'If-Match': createdBuyer.headers.etag! };
  const put = (name: string) =>
    api('put', `buyers/${createdBuyer.body.buyer.id}`, { body: { name }, headers });
  const statuses = (await Promise.all([put('one'), put('two'), put('three')]))
    .map(({ status }) => status)
    .toSorted();
  expect(statuses).toEqual([200, 412, 412]);
});
