import { createMember } from '../support/teams';
import { useWorld } from '../support/use-world';
import type { Api } from '../support/world';

// Writes that one statement cannot do (src/data/projection/write.ts) run in a transaction: refused
// ones, those of locked records, and those of limited callers.

const world = useWorld();
let directly: Api;
beforeAll(async () => {
  directly = world.company.api;
});

const NEW_BUYER = { name: 'Ann', number: '+13105550123', weight: 5, attempt_daily_limit: 100 };
const countRecords = async (resource: string) =>
  (
    await world.sql<{ n: string }>('SELECT sum(n) AS n FROM record_counts WHERE resource = $1', [
      resource,
    ])
  )[0]!.n;
const create = async (body: object = {}) =>
  (await directly('post', 'buyers', { body: { ...NEW_BUYER, ...body } })).body.buyer;

test('a key that is taken is refused on its field, and nothing is written', async () => {
  await create({ user_buyer_id: 'taken' });
  const { id } = await create();
  const before = await countRecords('change_logs');
  const answers = [
    await directly('put', `buyers/${id}`, { body: { name: 'X', user_buyer_id: 'taken' } }),
    await directly('post', 'buyers', {
      body: { number: '+13105550123', user_buyer_id: 'taken' },
    }),
  ];
  for (const { status, body } of answers)
    expect([status, Object.keys(body.errors)]).toEqual([422, ['user_buyer_id']]);
  expect((await directly('get', `buyers/${id}`)).body.buyer.name).toBe('Ann');
  expect(await countRecords('change_logs')).toBe(before);
});

test('what does not exist is 404, by id and by uuid; a uuid finds what does', async () => {
  const { uuid } = await create();
  const put = (reference: unknown) =>
    directly('put', `buyers/${reference}`, { body: { name: 'Bob' } });
  expect((await put(uuid)).body.buyer.name).toBe('Bob');
  expect((await put(999_999)).status).toBe(404);
  expect((await put(uuid.replace(/.$/, (d: string) => (d === '0' ? '1' : '0')))).status).toBe(404);
  await directly('delete', `buyers/${uuid}`);
  expect((await put(uuid)).status).toBe(404);
});

test('a record of another company is 404, and stays as it is', async () => {
  const { id } = await create();
  const otherCompany = await world.addCompany();
  expect((await otherCompany.api('put', `buyers/${id}`, { body: { name: 'Eve' } })).status).toBe(
    404,
  );
  expect((await directly('get', `buyers/${id}`)).body.buyer.name).toBe('Ann');
});

test('a record that others hold is waited for, and shown as they have left it', async () => {
  const { id } = await create();
  await world.sql('BEGIN');
  await world.sql('SELECT FROM buyers WHERE id = $1 FOR SHARE', [id]);
  await world.sql(
    `INSERT INTO buyer_business_hours (company_id, buyer_id, position, schedule, open_minutes)
        VALUES ($1, $2, 0, '[{"day":1,"times":["09:00..17:59"]}]', '{1980,2520}')`,
    [world.company.id, id],
  );
  const changed = directly('put', `buyers/${id}`, { body: { name: 'Patient' } });
  const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  while ((await world.sql<{ n: number }>(waiting))[0]!.n === 0);
  await world.sql('COMMIT');
  const { status, body } = await changed;
  expect([status, body.buyer.name]).toEqual([200, 'Patient']);
  expect(body.buyer.business_hours_schedule).toHaveLength(1);
  expect((await directly('get', `buyers/${id}`)).body.buyer).toEqual(body.buyer);
});

test('a limited caller lowers limits only, and what the caller did is logged as it may read it', async () => {
  const { id } = await create();
  const partner = await createMember(world.company, 'ann@example.com', {
    permissions: ['buyers:read', 'buyers:update'],
    buyer_ids: [id],
  });
  const put = (body: object) => partner.api('put', `buyers/${id}`, { body });
  expect((await put({ attempt_daily_limit: 101 })).status).toBe(422);
  expect((await put({ attempt_daily_limit: 99 })).status).toBe(200);
  const [{ changes_shown } = {}] = await world.sql<{ changes_shown?: object }>(
    'SELECT changes_shown FROM change_logs ORDER BY id DESC LIMIT 1',
  );
  expect(changes_shown).toEqual({ attempt_daily_limit: { from: 100, to: 99 } });
  // A caller that may raise limits sets the ceiling for limited callers.
  await directly('put', `buyers/${id}`, { body: { attempt_daily_limit: 50 } });
  expect((await put({ attempt_daily_limit: 99 })).status).toBe(422);
});

test('an Idempotency-Key stores the answer with the write', async () => {
  const request = { body: { ...NEW_BUYER }, headers: { 'Idempotency-Key': 'once' } };
  const [first, second] = [
    await directly('post', 'buyers', request),
    await directly('post', 'buyers', request),
  ];
  expect(second.body.buyer.id).toBe(first.body.buyer.id);
});
