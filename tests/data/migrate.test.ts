import { join } from 'node:path';
import { Client } from 'pg';
import { readCatalog, type Item } from '../../scripts/catalog';
import { runServer } from '../../src/main/server';
import { runWorker } from '../../src/main/worker';
import { migrate, migrationNames, UnknownMigrations } from '../../src/data/postgres/migrate';
import { runCommand, runRefused, type Printed } from '../support/cli';
import { setLockWait } from '../support/lock-wait';
import { freePort } from '../support/process';
import { emptyDatabase, freshDatabase } from '../support/world';

const DATA_DIR = join(process.env.TRUNKLINE_TEST_FOLDER!, 'migrate-data');
const clients: Client[] = [];

afterAll(() => Promise.all(clients.map((client) => client.end())));

/** `lockWait`: of the build, where functions are compared with it. */
async function connect(url: string, lockWait?: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  clients.push(client);
  if (lockWait) await setLockWait((text) => client.query(text), lockWait);
  return client;
}

const sorted = (items: Item[]) => items.map((item) => JSON.stringify(item)).sort();

describe('an empty database', () => {
  test('is migrated once by two starts at the same time', async () => {
    const url = await emptyDatabase();
    const applied = await Promise.all([migrate(url), migrate(url)]);
    expect(applied.sort((a, b) => a.length - b.length)).toEqual([[], migrationNames()]);
    const catalog = await readCatalog(await connect(url));
    const template = await readCatalog(await connect(await freshDatabase(), '2s'));
    expect(sorted(catalog)).toEqual(sorted(template));
    expect(catalog.filter(({ kind }) => kind === 'function').length).toBeGreaterThan(20);
  });

  test('is not brought to the last migration when a statement of prisma/sql/ fails', async () => {
    const url = await emptyDatabase();
    const client = await connect(url);
    // It cannot be replaced, because a view has its result.
    await client.query(
      `CREATE FUNCTION next_month(at timestamptz, zone text) RETURNS integer
        LANGUAGE sql AS 'SELECT 1';
      CREATE VIEW months AS SELECT next_month(now(), 'UTC')`,
    );
    expect(await runCommand(['migrate'], { DATABASE_URL: url, DATA_DIR })).toMatchObject({
      code: 1,
      errors: expect.stringContaining('cannot change return type'),
    });
    const { rows } = await client.query(
      'SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL',
    );
    expect(rows.map(({ name }) => name).toSorted()).toEqual(migrationNames().slice(0, -1));
    const catalog = await readCatalog(client);
    // No function of prisma/sql/, which has begin_calls().
    const functions = catalog.filter(({ kind }) => kind === 'function');
    expect(functions.map(({ name }) => name).join()).not.toMatch(/begin_calls/);
    expect(functions.length).toBeLessThan(5);
  });
});

describe('prisma/sql/', () => {
  test('is applied by itself, as a whole, when only it has changed', async () => {
    const url = await freshDatabase();
    const client = await connect(url, '2s');
    const before = await readCatalog(client);
    expect(await migrate(url)).toEqual([]);
    await client.query(`COMMENT ON TABLE _prisma_migrations IS 'functions sha256:old';
      DROP FUNCTION running_end(timestamptz, timestamptz);
      CREATE OR REPLACE FUNCTION is_open(open_minutes integer[], minute_of_week integer)
        RETURNS boolean LANGUAGE sql AS 'SELECT false';
      DROP FUNCTION next_hour(timestamptz, text);
      CREATE FUNCTION next_hour(former_name timestamptz, text)
        RETURNS integer LANGUAGE sql AS 'SELECT 1';
      CREATE FUNCTION of_an_earlier_version() RETURNS integer LANGUAGE sql AS 'SELECT 1'`);
    expect(await migrate(url)).toEqual(['functions']);
    expect(sorted(await readCatalog(client))).toEqual(sorted(before));
    expect(await migrate(url)).toEqual([]);
  });
});

describe('a database that another release has migrated', () => {
  let url: string;
  const newer = '29991231000000_newer';
  const { message } = new UnknownMigrations([newer]);
  beforeAll(async () => {
    url = await freshDatabase();
    await (
      await connect(url)
    ).query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
      VALUES ('newer', '', $1, now())`,
      [newer],
    );
  });

  type Run = (environment: Record<string, string>) => Promise<Printed>;
  test.each<[string, Run]>([
    ['a server', (environment) => runRefused(runServer, environment)],
    ['a worker', (environment) => runRefused(runWorker, environment)],
    ['migrate', (environment) => runCommand(['migrate'], environment)],
    ['token list', (environment) => runCommand(['token', 'list'], environment)],
  ])('is refused by %s, which names both versions, and left as it is', async (_, run) => {
    const before = await readCatalog(await connect(url));
    const PORT = String(await freePort());
    const { code, output, errors } = await run({ DATABASE_URL: url, DATA_DIR, PORT });
    expect([code, output, errors.trimEnd().split('\n').at(-1)]).toEqual([1, '', message]);
    expect(message).toContain(newer);
    expect(message).toContain(migrationNames().at(-1));
    expect(await readCatalog(await connect(url))).toEqual(before);
  });

  test('is named by the doctor', async () => {
    const environment = { DATABASE_URL: url, DATA_DIR };
    const { code, output } = await runCommand(['doctor', '--json'], environment);
    expect(code).toBe(1);
    expect(JSON.parse(output)).toContainEqual({ check: 'migrations', ok: false, finding: message });
  });
});
