import { mkdtempSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Client } from 'pg';
import { backUp } from '../../../src/operate/backup/back-up';
import { restore } from '../../../src/operate/backup/restore';
import { migrationNames } from '../../../src/data/postgres/migrate';
import { withClient } from '../../../src/data/postgres/with-client';
import { openInstallation } from '../../../src/operate/installation/open';
import { openDirectory } from '../../../src/platform/storage/directory';
import { createFixture } from '../../support/example';
import {
  buildApp,
  caller,
  createWorld,
  emptyDatabase,
  PEPPER_OF_TESTS,
  testConfig,
  type World,
} from '../../support/world';

// A backup is everything as of one instant, and restoring it gives the same installation.

const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'backup-'));
const newStorage = () => openDirectory({ folder: newFolder(), reserve_bytes: 0 });
const newFile = () => join(newFolder(), 'trunkline.tar.gz');
const keepPepper = (pepper: string) => expect(pepper).toBe(PEPPER_OF_TESTS);

const query = <Row>(url: string, text: string): Promise<Row[]> =>
  withClient(new Client({ connectionString: url }), async (client) => {
    await client.query('SET timezone = UTC');
    return (await client.query(text)).rows as Row[];
  });

/** By table, how many rows it has and what they are. */
async function loadContent(url: string): Promise<Record<string, object>> {
  const tables = await query<{ name: string }>(
    url,
    `SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
      AND relname NOT IN ('_prisma_migrations', 'processes', 'loop_faults', 'rate_limits', 'installations')`,
  );
  const all = tables.map(
    ({ name }) =>
      `SELECT '${name}' AS name, count(*) AS rows,
        md5(string_agg(t::text, '|' ORDER BY t::text)) AS digest FROM ${name} t`,
  );
  const rows = await query<{ name: string }>(url, all.join(' UNION ALL '));
  return Object.fromEntries(rows.map((row) => [row.name, row]));
}

const source = (world: World) => ({
  session_url: world.url,
  storage: world.deps.storage,
  pepper: world.deps.pepper,
});

let world: World;
let listId: number;
beforeAll(async () => {
  world = await createWorld();
  await createFixture(world);
  const { api } = world.company;
  const created = await api('post', '/api/v1/buyer_suppressions', {
    body: { name: 'Do not call' },
  });
  listId = created.body.buyer_suppression.id;
  await api('post', `/api/v1/buyer_suppressions/${listId}/files`, {
    form: { import_file: Buffer.from('number\n+12135550101\n+12135550102\n') },
    file_name: 'numbers.csv',
  });
});
afterAll(() => world.close());

test('what is restored is what was backed up: tables, jobs, files and credentials', async () => {
  const file = newFile();
  // Tables are in pieces, of which each is read.
  const summary = await backUp(source(world), file, { piece_bytes: 500 });
  expect(summary).toMatchObject({ file, bytes: statSync(file).size, missing_files: [] });
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const url = await emptyDatabase();
  const storage = newStorage();
  const restored = await restore(file, { session_url: url, storage, keepPepper });
  const { taken_at, rows, files } = summary;
  expect(restored).toMatchObject({ taken_at, rows, files });
  expect(files).toBeGreaterThan(0);
  expect(await loadContent(url)).toEqual(await loadContent(world.url));
  const jobs = `SELECT id, name, data FROM jobs.job ORDER BY id`;
  expect(await query(url, jobs)).toEqual(await query(world.url, jobs));
  expect((await query(url, jobs)).length).toBeGreaterThan(0);

  const config = testConfig({ DATABASE_URL: url, STORAGE_DIR: storage.settings.folder });
  const installation = await openInstallation(config);
  const api = caller(buildApp(installation.deps), world.company.auth);
  const path = `/api/v1/buyer_suppressions/${listId}`;
  const before = await world.company.api('get', path);
  expect((await api('get', path)).body).toEqual(before.body);
  // New records get ids that none had.
  const created = await api('post', '/api/v1/buyers', { body: { name: 'New' } });
  const [newest] = await query<{ id: string }>(
    world.url,
    'SELECT last_value AS id FROM buyers_id_seq',
  );
  expect(created.body.buyer.id).toBeGreaterThan(Number(newest!.id));
  await installation.close();
});

test('while requests write, it is of one instant', async () => {
  const { api, id } = world.company;
  let writes = true;
  const write = async () => {
    while (writes) {
      const { body } = await api('post', '/api/v1/buyers', { body: { name: 'Busy' } });
      if (body.buyer.id % 2) await api('delete', `/api/v1/buyers/${body.buyer.id}`);
    }
  };
  const writers = [write(), write(), write()];
  const file = newFile();
  await backUp(source(world), file);
  writes = false;
  await Promise.all(writers);
  const url = await emptyDatabase();
  await restore(file, { session_url: url, storage: newStorage(), keepPepper });
  const [counts] = await query<{ counted: string; buyers: string }>(
    url,
    `SELECT
      (SELECT sum(n) FROM record_counts WHERE company_id = ${id} AND resource = 'buyers')
        AS counted,
      (SELECT count(*) FROM buyers WHERE company_id = ${id} AND deleted_at IS NULL) AS buyers`,
  );
  expect(counts!.counted).toBe(counts!.buyers);
});

describe('nothing is restored', () => {
  let file: string;
  beforeAll(async () => {
    file = newFile();
    await backUp(source(world), file);
  });
  const target = async () => ({
    session_url: await emptyDatabase(),
    storage: newStorage(),
    keepPepper,
  });

  test('of a backup that lost its end', async () => {
    const cut = newFile();
    writeFileSync(cut, readFileSync(file));
    truncateSync(cut, Math.floor(statSync(file).size * 0.8));
    const to = await target();
    await expect(restore(cut, to)).rejects.toThrow(/is no complete backup/);
    expect(await query(to.session_url, 'SELECT id FROM companies')).toEqual([]);
    // A retry with the complete file succeeds.
    await restore(file, to);
  });

  test('of a file that is no backup', async () => {
    const otherFile = newFile();
    writeFileSync(otherFile, 'something else');
    await expect(restore(otherFile, await target())).rejects.toThrow(/is no complete backup/);
    await expect(restore('/nowhere', await target())).rejects.toThrow('There is no file /nowhere.');
  });

  test('of another version', async () => {
    const [newest] = migrationNames().slice(-1);
    const newer = newFile();
    const tar = gunzipSync(readFileSync(file));
    tar.write(newest!.replace(/^\d{4}/, '2999'), tar.indexOf(newest!));
    writeFileSync(newer, gzipSync(tar, { level: 1 }));
    await expect(restore(newer, await target())).rejects.toThrow(/another version of Trunkline/);
  });

  test('into a database that is used', async () => {
    const to = { ...(await target()), session_url: world.url };
    await expect(restore(file, to)).rejects.toThrow('The database is not empty');
  });

  test('where a file is in the way of a backup', async () => {
    await expect(backUp(source(world), file)).rejects.toThrow(/is there already/);
  });
});
