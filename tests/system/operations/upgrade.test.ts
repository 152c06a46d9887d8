import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { migrationNames, pendingMigrations } from '../../../src/data/postgres/migrate';
import { withClient } from '../../../src/data/postgres/with-client';
import {
  findReleaseFile,
  readRelease,
  restoreDatabase,
  restoreFiles,
} from '../../support/kept-release';
import { patient } from '../../support/patience';
import { runScript, startServer } from '../../support/process';
import { basic } from '../../support/world';

// Processes of this release that start at once on the database of an earlier one.

test.each(readdirSync(findReleaseFile('.', '.')))(
  'two servers that start at once upgrade %s once, and the doctor is content',
  async (version) => {
    const release = readRelease(version);
    const DATABASE_URL = await restoreDatabase(version);
    const pending = await withClient(
      new Client({ connectionString: DATABASE_URL }),
      pendingMigrations,
    );
    const DATA_DIR = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'upgrade-'));
    restoreFiles(release, join(DATA_DIR, 'storage'));
    const environment = { DATABASE_URL, DATA_DIR, KEY_PEPPER: release.pepper, RUN_JOBS: 'false' };
    const servers = await Promise.all([startServer(environment), startServer(environment)]);
    const upgrades = servers.filter(({ output }) => output().includes('Database ready'));
    expect(upgrades).toHaveLength(pending.length > 0 ? 1 : 0);
    for (const { url } of servers)
      for (const { auth } of release.companies) {
        const headers = { authorization: basic(auth) };
        expect((await fetch(`${url}/api/v1/calls`, { headers })).status).toBe(200);
      }
    const { rows } = await withClient(new Client({ connectionString: DATABASE_URL }), (client) =>
      client.query<{ name: string }>('SELECT migration_name AS name FROM _prisma_migrations'),
    );
    expect(rows.map(({ name }) => name).toSorted()).toEqual(migrationNames());
    for (const server of servers) expect(await server.end('SIGTERM')).toBe(0);
    const { code, output } = runScript('src/main/cli/index.ts', ['doctor', '--json'], environment);
    const findings = JSON.parse(output) as { ok: boolean }[];
    expect([code, findings.filter(({ ok }) => !ok)]).toEqual([0, []]);
  },
  patient(120_000),
);
