import { sql, statement, type StatementName } from '../../src/db/sql';
import { createWorld, type World } from '../support/world';

// What Db promises of transactions: one connection for everything, nothing after its end.

let world: World;
beforeAll(async () => {
  world = await createWorld({ environment: { DATABASE_TIMEOUT_SECONDS: '10' } });
});
afterAll(() => world.close());

const BACKEND = statement('tests.backend' as StatementName, sql`SELECT pg_backend_pid() AS pid`, {
  prepared: false,
});
const INSERT = statement(
  'tests.insert' as StatementName,
  sql`INSERT INTO traffic_sources (company_id, uuid, name)
    VALUES ({company_id}, gen_random_uuid(), {name})`,
  { prepared: false },
);
const db = () => world.deps.tenants.of(world.company.id);
const named = (name: string) =>
  world.sql('SELECT FROM traffic_sources WHERE name = $1', [name]).then((rows) => rows.length);

test('Prisma, registered and composed statements share the connection', async () => {
  const pids = await db().transaction(async (tx) => [
    await tx.prisma.$queryRaw`SELECT pg_backend_pid() AS pid`,
    await tx.sql(BACKEND, {} as never),
    await tx.query({ text: 'SELECT pg_backend_pid() AS pid', values: [] }),
  ]);
  expect(pids[1]).toEqual(pids[0]);
  expect(pids[2]).toEqual(pids[0]);
});

test('a statement after the end of its transaction is refused, and changes nothing', async () => {
  let later: Promise<unknown> | undefined;
  let end = () => {};
  const ended = new Promise<void>((done) => (end = done));
  await db().transaction(async (tx) => {
    later = ended.then(() => tx.sql(INSERT, { name: 'Too late' } as never));
    later.catch(() => undefined);
  });
  end();
  await expect(later).rejects.toMatchObject({ code: 'P2028' });
  expect(await named('Too late')).toBe(0);
});

test('a transaction that exceeds its time is rolled back, with what comes after', async () => {
  const slow = db().transaction(async (tx) => {
    await tx.sql(INSERT, { name: 'Slow' } as never);
    await new Promise((done) => setTimeout(done, 10_500));
    await tx.sql(INSERT, { name: 'Slow' } as never);
  });
  await expect(slow).rejects.toMatchObject({ code: 'P2028' });
  expect(await named('Slow')).toBe(0);
});

test('work that goes on while its transaction is rolled back commits nothing', async () => {
  const busy = (name: string) =>
    db().transaction(
      async (tx) => {
        for (;;) await tx.sql(INSERT, { name } as never);
      },
      { timeout_ms: 50 },
    );
  const names = Array.from({ length: 40 }, (_, n) => `Busy ${n}`);
  const ends = await Promise.allSettled(names.map(busy));
  expect(ends.map(({ status }) => status)).toEqual(names.map(() => 'rejected'));
  const rows = await world.sql("SELECT name FROM traffic_sources WHERE name LIKE 'Busy%'");
  expect(rows).toEqual([]);
});
