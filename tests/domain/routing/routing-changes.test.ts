import { contract, type Operation } from '../../../src/platform/contract/contract';
import { ROUTING_COLUMNS_OF_NUMBERS, ROUTING_TABLES } from '../../../src/data/routing-changes';
import { createDemo } from '../../../src/main/demo/demo';
import { removeDemo } from '../../../src/operate/installation/remove-demo';
import { createFixture, type Fixture } from '../../support/example';
import { createWorld, type World } from '../../support/world';

// A transaction that writes data of the routing also counts the change, or every process would go
// on with its cache. Here triggers of the test see every row that is written, and record which
// transactions wrote such rows and which of them counted it.

let world: World;
let fixture: Fixture;
const writersByTable = new Map<string, Set<string>>();

/** Which transactions write the tables, by the triggers of this test. */
async function watchWrites(): Promise<void> {
  await world.sql(`
    CREATE TABLE seen_writes (company bigint, written text, xid xid8);
    CREATE FUNCTION see_write() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO seen_writes
        VALUES (coalesce(NEW.company_id, OLD.company_id), TG_TABLE_NAME, pg_current_xact_id());
      RETURN NULL;
    END $$`);
  const columns = [...ROUTING_COLUMNS_OF_NUMBERS].join(', ');
  const events = new Map([...ROUTING_TABLES].map((table) => [table, 'INSERT OR UPDATE OR DELETE']));
  events.set('routing_changes', 'INSERT OR UPDATE OR DELETE');
  events.set('numbers', `UPDATE OF ${columns} OR DELETE`);
  for (const [table, event] of events)
    await world.sql(`CREATE TRIGGER see_write AFTER ${event} ON ${table}
      FOR EACH ROW EXECUTE FUNCTION see_write()`);
}

/** The tables that some work writes; fails where a transaction of it counts no change. */
async function findWrittenTables(name: string, work: () => Promise<unknown>): Promise<string[]> {
  await world.sql('TRUNCATE seen_writes');
  await work();
  const transactions = await world.sql<{ written: string[]; counted: boolean }>(`
    SELECT array_agg(DISTINCT written) FILTER (WHERE written <> 'routing_changes') AS written,
      bool_or(written = 'routing_changes') AS counted
    FROM seen_writes
    GROUP BY company, xid
    HAVING bool_or(written <> 'routing_changes')`);
  expect({ name, uncounted: transactions.filter(({ counted }) => !counted) }).toEqual({
    name,
    uncounted: [],
  });
  const tables = [...new Set(transactions.flatMap(({ written }) => written))].sort();
  for (const table of tables)
    writersByTable.set(table, (writersByTable.get(table) ?? new Set()).add(name));
  return tables;
}

beforeAll(async () => {
  world = await createWorld();
  await watchWrites();
  await findWrittenTables('the fixture', async () => void (fixture = await createFixture(world)));
});
afterAll(() => world.close());

const ORDER = ['post', 'patch', 'put', 'delete'];
const writes = contract.operations
  .filter(({ method }) => ORDER.includes(method))
  .toSorted((a, b) => ORDER.indexOf(a.method) - ORDER.indexOf(b.method));

describe('an operation of the contract counts what it changes', () => {
  test.each(writes.map((operation) => [operation.id, operation] as const))(
    '%s, in a statement of its own or in a transaction',
    async (id, operation: Operation) => {
      // An operation with an Idempotency-Key runs in a transaction.
      const keys = operation.credentials === 'carrier_signature' ? [] : [`key of ${id}`];
      await findWrittenTables(id, () => fixture.send(operation));
      for (const key of keys)
        await findWrittenTables(id, () =>
          fixture.send(operation, { headers: { 'Idempotency-Key': key } }),
        );
    },
  );
});

describe('what the examples of the contract leave out', () => {
  const ids: Record<string, number> = {};
  const send = async (method: 'post' | 'put' | 'delete', path: string, body?: object) => {
    const res = await world.company.api(method, path, body && { body });
    expect([path, res.status, res.body.errors]).toEqual([path, expect.any(Number), {}]);
    return res.body[res.body.metadata.root].id as number;
  };
  const buyer = () => `buyers/${ids.buyer}`;
  const group = () => `buyer_groups/${ids.group}`;
  const offer = () => `offers/${ids.offer}`;
  const hours = [{ schedule: [{ day: 1, times: ['09:00..16:59'] }] }];
  const conversion = { duration: 60, revenue: 10 };
  const frames = [{ schedule: [], buyer_conversions_attributes: [conversion] }];
  const hook = (more: object) => ({
    name: 'Hook',
    url: 'https://example.com/',
    trigger_type: 'before_buyer_dialled',
    ...more,
  });

  const STEPS: [what: string, tables: string[], work: () => Promise<unknown>][] = [
    [
      'a buyer',
      ['buyers'],
      async () =>
        (ids.buyer = await send('post', 'buyers', { name: 'Ann', number: '+13105550123' })),
    ],
    ['its own columns', ['buyers'], () => send('put', buyer(), { weight: 3 })],
    ['its caps', ['buyers'], () => send('put', buyer(), { attempt_daily_limit: 9 })],
    ['its time zone', ['buyers'], () => send('put', buyer(), { time_zone: 'UTC' })],
    [
      'its hours',
      ['buyer_business_hours', 'buyers'],
      () => send('put', buyer(), { business_hours_schedule: hours }),
    ],
    [
      'its conversions',
      ['buyer_conversions', 'buyers'],
      () => send('put', buyer(), { buyer_conversions_schedule: frames }),
    ],
    [
      'its current conversion',
      ['buyer_conversions', 'buyers'],
      () => send('put', buyer(), { current_conversion_revenue: 12 }),
    ],
    [
      'a group with a buyer',
      ['buyer_group_members', 'buyer_groups'],
      async () => {
        const body = { name: 'Group', buyer_ids: [ids.buyer] };
        ids.group = await send('post', 'buyer_groups', body);
      },
    ],
    ['its pause', ['buyer_groups'], () => send('put', group(), { paused: true })],
    [
      'its buyers',
      ['buyer_group_members', 'buyer_groups'],
      () => send('put', group(), { remove_buyer_ids: [ids.buyer] }),
    ],
    [
      'an offer with a buyer and a group',
      ['offer_buyer_groups', 'offer_buyers'],
      async () => {
        const body = { name: 'O', buyer_ids: [ids.buyer], buyer_group_ids: [ids.group] };
        ids.offer = await send('post', 'offers', body);
      },
    ],
    ['its own columns alone', [], () => send('put', offer(), { description: 'Spring' })],
    ['its buyers', ['offer_buyers'], () => send('put', offer(), { buyer_ids: [] })],
    ['its groups', ['offer_buyer_groups'], () => send('put', offer(), { buyer_group_ids: [] })],
    [
      'an offer that is deleted with its buyers',
      ['offer_buyers'],
      async () => {
        await send('put', offer(), { add_buyer_ids: [ids.buyer] });
        await send('delete', offer());
      },
    ],
    [
      'a fleet that is deleted',
      ['buyers'],
      async () => {
        const fleet = await send('post', 'buyer_fleets', { name: 'F', user_fleet_id: 'f' });
        await send('put', buyer(), { buyer_fleet_id: fleet });
        await send('delete', `buyer_fleets/${fleet}`);
      },
    ],
    [
      'a pre-dial webhook of a buyer',
      ['buyers', 'outgoing_webhooks'],
      async () => {
        const owner = { owner_type: 'Buyer', owner_id: ids.buyer };
        ids.hook = await send('post', 'outgoing_webhooks', hook(owner));
      },
    ],
    [
      'its type',
      ['outgoing_webhooks'],
      () => send('put', `outgoing_webhooks/${ids.hook}`, { trigger_type: 'every_call' }),
    ],
    [
      'its deletion',
      ['buyers', 'outgoing_webhooks'],
      () => send('delete', `outgoing_webhooks/${ids.hook}`),
    ],
    [
      'a number that is bought, given to the buyer and released',
      ['buyers', 'numbers'],
      async () => {
        const number = await send('post', 'phone_numbers', { country: 'US' });
        await send('put', `phone_numbers/${number}`, { name: 'Billboard' });
        await send('put', buyer(), { display_service_number_id: number });
        await send('delete', `phone_numbers/${number}`);
      },
    ],
    ['the group, deleted', ['buyer_groups'], () => send('delete', group())],
    ['the buyer, deleted', ['buyers'], () => send('delete', buyer())],
  ];

  test.each(STEPS)('%s', async (what, tables, work) => {
    expect(await findWrittenTables(what, work)).toEqual(tables);
  });

  test('a demo company, and its removal', async () => {
    const everything = [...ROUTING_TABLES].filter((table) => table !== 'outgoing_webhooks').sort();
    const demoTables = await findWrittenTables('the demo', () => createDemo(world.deps, 'Demo'));
    const removed = await findWrittenTables('its removal', () => removeDemo(world.deps, undefined));
    expect([demoTables, removed]).toEqual([expect.arrayContaining(['buyers']), expect.anything()]);
    expect(everything).toEqual(
      expect.arrayContaining(demoTables.filter((table) => table !== 'numbers')),
    );
  });
});

test('all tables were written', () => {
  expect([...writersByTable.keys()].sort()).toEqual([...ROUTING_TABLES, 'numbers'].sort());
});

test('what is written to a number beside its telephone number counts nothing', async () => {
  const { id } = world.company;
  const count = () => world.sql('SELECT sum(n) FROM routing_changes WHERE company_id = $1', [id]);
  const before = await count();
  await world.deps.tenants.of(id).transaction(async (tx) => {
    await tx.prisma.number.updateMany({ where: {}, data: { name: 'Billboard' } });
  });
  expect(await count()).toEqual(before);
  await world.deps.tenants.of(id).transaction(async (tx) => {
    await tx.prisma.number.updateMany({ where: { id: -1n }, data: { deleted_at: null } });
    await tx.prisma.buyer.updateMany({ where: { id: -1n }, data: { name: 'Nobody' } });
  });
  expect(await count()).not.toEqual(before);
});

test('a write through Prisma outside of a transaction is refused', async () => {
  const { prisma } = world.deps.tenants.of(world.company.id);
  const write = async () => prisma.buyer.updateMany({ where: {}, data: { name: 'Nobody' } });
  await expect(write()).rejects.toThrow('routing_changes is written outside of a transaction');
});
