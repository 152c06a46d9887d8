import { sql, statement, type StatementName } from '../../src/data/sql';
import { type Statements, type TransactionStatements } from '../../src/data/db';
import { repetitions } from '../support/repetitions';
import { useWorld } from '../support/use-world';

// Guarantees of Db for transactions: one connection for everything, nothing after the end.

const world = useWorld({ environment: { DATABASE_TIMEOUT_SECONDS: '10' } });

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
const countSources = (name: string) =>
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
  expect(await countSources('Too late')).toBe(0);
});

/** The least that a transaction has; npm test gives one less. */
const USUAL_MS = 10_000;
const MS = repetitions(500, USUAL_MS);

test('a transaction that exceeds its time is rolled back, with what comes after', async () => {
  const slow = db().transaction(
    async (tx) => {
      await tx.sql(INSERT, { name: 'Slow' } as never);
      await new Promise((done) => setTimeout(done, MS + 500));
      await tx.sql(INSERT, { name: 'Slow' } as never);
    },
    MS === USUAL_MS ? {} : { timeout_ms: MS },
  );
  await expect(slow).rejects.toMatchObject({ code: 'P2028' });
  expect(await countSources('Slow')).toBe(0);
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

describe.each(['transaction', 'statements'] as const)('before the commit of a %s', (kind) => {
  /** Runs work that leaves some for the end, in a transaction of the kind. */
  const runInOne = (work: (tx: TransactionStatements) => Promise<unknown>) =>
    kind === 'transaction' ? db().transaction(work) : db().statements(work);
  const insert = (name: string) => (tx: Statements) =>
    tx.sql(INSERT, { name } as never).then(() => undefined);

  test('work runs once for each key, in the order of keys, after everything else', async () => {
    const order: string[] = [];
    await runInOne(async (tx) => {
      for (const key of ['b', 'a', 'b'])
        tx.beforeCommit(key, async () => {
          order.push(key);
          if (key === 'a') tx.beforeCommit('c', async () => void order.push('c'));
        });
      await tx.sql(BACKEND, {} as never);
      order.push('work');
    });
    expect(order).toEqual(['work', 'a', 'b', 'c']);
  });

  test('the first work of a key counts', async () => {
    await runInOne(async (tx) => {
      tx.beforeCommit('once', insert(`First ${kind}`));
      tx.beforeCommit('once', insert(`Second ${kind}`));
    });
    expect([await countSources(`First ${kind}`), await countSources(`Second ${kind}`)]).toEqual([
      1, 0,
    ]);
  });

  test('what it writes is committed or lost with the transaction', async () => {
    const lost = runInOne(async (tx) => {
      tx.beforeCommit('written', insert(`Lost ${kind}`));
      tx.beforeCommit('z', () => Promise.reject(new Error('no')));
    });
    await expect(lost).rejects.toThrow('no');
    expect(await countSources(`Lost ${kind}`)).toBe(0);
  });
});

test('outside of a transaction there is nothing to run before', () => {
  expect(() => db().beforeCommit('buyers', async () => {})).toThrow(
    'buyers is written outside of a transaction',
  );
});
