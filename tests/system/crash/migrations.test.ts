import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Client } from 'pg';
import { readCatalog, type Item } from '../../../scripts/catalog';
import { migrate, migrationNames } from '../../../src/data/postgres/migrate';
import { withClient } from '../../../src/data/postgres/with-client';
import { eventually } from '../../support/engine-process';
import { setLockWait } from '../../support/lock-wait';
import { TYPESCRIPT } from '../../support/process';
import { emptyDatabase, freshDatabase } from '../../support/world';

// The attack: a start that is killed while it makes the tables, as a container is whose upgrade
// takes long. The script of a migration was committed without its mark, and no later start could go
// on.

const withConnection = <T>(url: string, work: (client: Client) => Promise<T>): Promise<T> =>
  withClient(new Client({ connectionString: url }), work);
const sortItems = (items: Item[]) => items.map((item) => JSON.stringify(item)).sort();
/** As this build makes it: tests wait longer for locks. */
const loadCatalog = async (url: string) =>
  sortItems(
    await withConnection(url, async (client) => {
      await setLockWait((text) => client.query(text), '2s');
      return readCatalog(client);
    }),
  );

/** The table of migrations, before any has been applied. */
const MIGRATIONS_TABLE = `CREATE TABLE _prisma_migrations (
  id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz,
  migration_name varchar(255) NOT NULL, logs text, rolled_back_at timestamptz,
  started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`;

/** The command `migrate` in a process of its own, that has begun to write. */
async function startMigrating(url: string) {
  const child = spawn('node', [...TYPESCRIPT, 'src/main/cli/index.ts', 'migrate'], {
    cwd: join(__dirname, '../../..'),
    env: { PATH: process.env.PATH, DATABASE_URL: url, DATA_DIR: process.env.TRUNKLINE_TEST_FOLDER },
    stdio: 'ignore',
  });
  const ended = new Promise((done) => child.once('exit', done));
  await eventually(() =>
    withConnection(url, async (client) => {
      const { rows } = await client.query(
        `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS begun`,
      );
      return rows[0].begun as boolean;
    }),
  );
  return { child, ended };
}

test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
  'after %s while it is at work, the next run goes on and makes the same database',
  async (signal) => {
    const url = await emptyDatabase();
    const { child, ended } = await startMigrating(url);
    child.kill(signal);
    await ended;
    await migrate(url);
    expect(await loadCatalog(url)).toEqual(await loadCatalog(await freshDatabase()));
    expect(await migrate(url)).toEqual([]);
  },
);

test('a migration is committed with its mark, or not at all', async () => {
  const url = await emptyDatabase();
  // The mark of the first one meets a lock: its script has been run by then.
  const last = migrationNames().at(-1)!;
  await withConnection(url, async (client) => {
    await client.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$BEGIN IF NEW.migration_name = '${last}' THEN RAISE 'no room'; END IF; RETURN NEW; END$$`);
    await client.query(MIGRATIONS_TABLE);
    await client.query(`CREATE TRIGGER refuse BEFORE INSERT ON _prisma_migrations
      FOR EACH ROW EXECUTE FUNCTION refuse()`);
    await expect(migrate(url)).rejects.toThrow(
      `The migration ${last} was not applied, and nothing of it was kept: no room.`,
    );
    await client.query('DROP TRIGGER refuse ON _prisma_migrations');
    await client.query('DROP FUNCTION refuse');
  });
  expect(await migrate(url)).toEqual([last]);
  expect(await loadCatalog(url)).toEqual(await loadCatalog(await freshDatabase()));
});

test('a mark that an older program left unfinished is no obstacle', async () => {
  const url = await emptyDatabase();
  await withConnection(url, (client) =>
    client.query(`${MIGRATIONS_TABLE};
      INSERT INTO _prisma_migrations (id, checksum, migration_name)
      VALUES ('1', '', '${migrationNames()[0]}')`),
  );
  expect(await migrate(url)).toEqual(migrationNames());
});
