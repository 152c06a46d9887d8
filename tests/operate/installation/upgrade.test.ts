import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { readCatalog } from '../../../scripts/catalog';
import { pendingMigrations, PRISMA_FOLDER } from '../../../src/data/postgres/migrate';
import { withClient } from '../../../src/data/postgres/with-client';
import { startWorkers } from '../../../src/data/jobs/workers';
import { createRunners } from '../../../src/main/background/runners';
import { restore } from '../../../src/operate/backup/restore';
import { openInstallation, type Installation } from '../../../src/operate/installation/open';
import { openDirectory } from '../../../src/platform/storage/directory';
import { eventually } from '../../support/engine-process';
import {
  findReleaseFile,
  readRelease,
  restoreDatabase,
  restoreFiles,
} from '../../support/kept-release';
import { buildApp, caller, emptyDatabase, testConfig, type Api } from '../../support/world';

// An installation of each earlier release is upgraded by starting this one on its database: it
// reads as before, and works.

const versions = readdirSync(findReleaseFile('.', '.'));
const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'upgrade-'));

const query = <Row>(url: string, text: string): Promise<Row[]> =>
  withClient(new Client({ connectionString: url }), async (client) => {
    await client.query('SET timezone = UTC');
    return (await client.query(text)).rows as Row[];
  });

const withoutChecksum = (answer: object): object =>
  Object.fromEntries(Object.entries(answer).filter(([name]) => name !== 'checksum'));

const sum = (migration: string): string =>
  createHash('sha256')
    .update(readFileSync(join(PRISMA_FOLDER, 'migrations', migration, 'migration.sql')))
    .digest('hex');

/** The objects of the database, and a digest of the rows of each table. */
const loadState = (url: string) =>
  withClient(new Client({ connectionString: url }), async (client) => {
    await client.query('SET timezone = UTC');
    const catalog = await readCatalog(client);
    const { rows } = await client.query<{ name: string }>(
      `SELECT c.oid::regclass::text AS name FROM pg_class c
      WHERE c.relnamespace IN ('public'::regnamespace, 'jobs'::regnamespace) AND c.relkind = 'r'`,
    );
    const digests: unknown[] = [];
    for (const { name } of rows) {
      // Which processes run is another question.
      if (name === 'processes') continue;
      const digest = `SELECT count(*), md5(string_agg(t::text, '|' ORDER BY t::text)) FROM ${name} t`;
      digests.push([name, (await client.query(digest)).rows]);
    }
    return { catalog, digests };
  });

describe.each(versions)('an installation of %s', (version) => {
  const release = readRelease(version);
  let now = new Date(release.at);
  const folder = newFolder();
  const opened: Installation[] = [];
  let url: string;
  let pending: string[];

  const start = async (database = url, storage = folder) => {
    const settings = { DATABASE_URL: database, STORAGE_DIR: storage, KEY_PEPPER: release.pepper };
    const installation = await openInstallation(testConfig(settings), {
      kind: 'server',
      clock: () => now,
    });
    opened.push(installation);
    return installation;
  };
  const stop = async () => {
    for (const installation of opened.splice(0)) await installation.close();
  };
  const openApis = ({ deps }: Installation): Api[] => {
    const app = buildApp(deps);
    return release.companies.map(({ auth }) => caller(app, auth));
  };
  const expectAnswers = async (installation: Installation) => {
    for (const [index, api] of openApis(installation).entries())
      for (const [path, answer] of Object.entries(release.companies[index]!.answers)) {
        const { body } = await api('get', path);
        // A later release may say more, which changes checksums, and nothing else.
        expect([path, body]).toMatchObject([path, withoutChecksum(answer)]);
      }
  };

  beforeAll(async () => {
    url = await restoreDatabase(version);
    restoreFiles(release, folder);
    pending = await withClient(new Client({ connectionString: url }), pendingMigrations);
  });
  afterEach(stop);

  test('reads as before after the first start, and further starts change nothing', async () => {
    const installation = await start();
    expect(installation.migrated).toEqual(pending);
    await expectAnswers(installation);
    await stop();
    const before = await loadState(url);
    expect((await start()).migrated).toEqual([]);
    await stop();
    expect(await loadState(url)).toEqual(before);
  });

  test('was made by migrations that have not changed since', async () => {
    const rows = await query<{ name: string; checksum: string }>(
      url,
      'SELECT migration_name AS name, checksum FROM _prisma_migrations',
    );
    for (const { name, checksum } of rows)
      if (release.migrations.includes(name)) expect([name, checksum]).toEqual([name, sum(name)]);
  });

  test('has the schema of a new installation', async () => {
    await start();
    const fresh = await emptyDatabase();
    await stop();
    await start(fresh, newFolder());
    const [upgraded, expected] = await Promise.all([loadState(url), loadState(fresh)]);
    const sorted = (items: object[]) => items.map((item) => JSON.stringify(item)).sort();
    expect(sorted(upgraded.catalog)).toEqual(sorted(expected.catalog));
  });

  test('has balances that its account entries add up to, and goes on from them', async () => {
    const [api] = openApis(await start());
    const { buyers } = (await api!('get', 'buyers', { query: { serializer: 'buyer_grid' } })).body;
    const prepaid = (buyers as { id: number; prepaid: boolean; balance: number }[]).find(
      (buyer) => buyer.prepaid,
    )!;
    const query = { buyer_id: prepaid.id, per_page: 1000 };
    const { account_entries: entries } = (await api!('get', 'account_entries', { query })).body;
    expect(entries.length).toBeGreaterThan(2);
    const sum = (entries as { amount: number }[]).reduce((all, { amount }) => all + amount, 0);
    expect(prepaid.balance).toBeCloseTo(sum, 2);
    const body = { buyer_id: prepaid.id, kind: 'deposit', amount: 10.5 };
    expect((await api!('post', 'account_entries', { body })).status).toBe(201);
    const { buyer } = (await api!('get', `buyers/${prepaid.id}`)).body;
    expect(buyer.balance).toBeCloseTo(prepaid.balance + 10.5, 2);
  });

  test('restores from its own backup, and reads as before', async () => {
    const database = await emptyDatabase();
    const storage = newFolder();
    const target = openDirectory({ folder: storage, reserve_bytes: 0 });
    await restore(findReleaseFile(version, 'backup.tar.gz'), {
      ...{ session_url: database, storage: target },
      keepPepper: (pepper) => expect(pepper).toBe(release.pepper),
    });
    await expectAnswers(await start(database, storage));
  });

  test('routes a call to its conversion, and does the work that was left', async () => {
    const installation = await start();
    const [api] = openApis(installation);
    const [offer] = (await api!('get', 'offers')).body.offers;
    const body = { offer_id: offer.id, caller_number: '+13105550199', tokens: { state: 'CA' } };
    const { call_session: session } = (await api!('post', 'call_sessions', { body })).body;
    expect(session.instruction).toMatchObject({ action: 'dial' });
    const [{ attempt }] = session.instruction.dial;
    const report = (event: object) =>
      api!('post', `call_sessions/${session.uuid}/events`, { body: event });
    const { body: answered } = await report({ event: 'answered', attempt });
    if (answered.call_session.instruction.action === 'ask_for_key')
      await report({ event: 'key_press', attempt, key: '1' });
    now = new Date(+now + 600_000);
    expect((await report({ event: 'completed' })).status).toBe(200);
    const { call } = (await api!('get', `calls/${session.id}`)).body;
    expect(call).toMatchObject({ status: 'completed', buyer_converted: true });
    const entries = (await api!('get', 'account_entries', { query: { per_page: 1000 } })).body;
    expect(entries.account_entries).toContainEqual(
      expect.objectContaining({ call_id: call.id, kind: 'conversion', amount: -call.revenue }),
    );
    const { deps } = installation;
    const workers = await startWorkers({
      ...{ database: deps.database, log: deps.log, runners: createRunners(deps) },
    });
    const count = 'SELECT count(*)::int AS jobs FROM jobs.job';
    await eventually(async () => (await query<{ jobs: number }>(url, count))[0]!.jobs === 0, 100);
    await workers.stop();
    const { body: files } = await openApis(installation)[1]!('get', 'buyer_suppression_files');
    // That of no list is not imported.
    const statuses = files.buyer_suppression_files.map(({ status }: { status: string }) => status);
    expect(statuses).toEqual(['succeeded', 'pending']);
  });
});
