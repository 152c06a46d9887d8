import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { pgbouncerIni } from '../../../src/main/cli/pgbouncer';
import { loadConfig } from '../../../src/main/config';
import { unpreparedReason } from '../../../src/data/postgres/pooler';
import { openInstallation } from '../../../src/operate/installation/open';
import { missingPgBouncer, startPgBouncer, type PgBouncer } from '../../support/pgbouncer';
import { runScript } from '../../support/process';
import { freshDatabase, PEPPER_OF_TESTS } from '../../support/world';

// A start refuses a pooler that would break what sessions are needed for, in one line.

type Environment = Record<string, string>;

const missing = missingPgBouncer();
const through = missing ? test.skip : test;
if (missing) process.stdout.write(`Tests with PgBouncer are skipped: ${missing}\n`);

const running: PgBouncer[] = [];
const start = async (settings?: Environment) => {
  const pgbouncer = await startPgBouncer(settings);
  running.push(pgbouncer);
  return pgbouncer;
};
afterAll(() => Promise.all(running.map((pgbouncer) => pgbouncer.stop())));

const buildEnvironment = (settings: Environment): Environment => ({
  DATA_DIR: mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'data-')),
  KEY_PEPPER: PEPPER_OF_TESTS,
  LOG_LEVEL: 'silent',
  ...settings,
});

/** The message of a refused start; undefined if it is not refused. */
async function findRefusal(settings: Environment): Promise<string | undefined> {
  try {
    const installation = await openInstallation(loadConfig(buildEnvironment(settings)));
    await installation.close();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const toDatabaseName = (url: string) => new URL(url).pathname.slice(1);
const buildPlainEntry = (url: string, name = toDatabaseName(url)) => {
  const { hostname, port } = new URL(url);
  return `${name} = host=${hostname} port=${port} dbname=${toDatabaseName(url)}`;
};

through('with both URLs and the entries that the command prints, it starts', async () => {
  const pgbouncer = await start();
  expect(await findRefusal(await pgbouncer.serve(await freshDatabase()))).toBeUndefined();
});

through('an empty database is migrated on PostgreSQL itself', async () => {
  const server = process.env.TRUNKLINE_TEST_DATABASE!;
  const client = new Client({ connectionString: server });
  await client.connect();
  await client.query('CREATE DATABASE empty_behind_pgbouncer');
  await client.end();
  const pgbouncer = await start();
  const url = server.replace(/\/postgres$/, '/empty_behind_pgbouncer');
  const settings = await pgbouncer.serve(url);
  expect([await findRefusal(settings), await findRefusal(settings)]).toEqual([
    undefined,
    undefined,
  ]);
});

through('a pooler without DATABASE_DIRECT_URL is refused in one line', async () => {
  const pgbouncer = await start();
  const url = await freshDatabase();
  const DATABASE_URL = await pgbouncer.add(url, [buildPlainEntry(url)]);
  const { code, output, errors } = runScript(
    'src/main/server.ts',
    [],
    buildEnvironment({ DATABASE_URL }),
  );
  expect({ code, output }).toEqual({ code: 1, output: '' });
  expect(errors).toMatch(
    /^DATABASE_URL: 127\.0\.0\.1:\d+ is a connection pooler, .* set DATABASE_DIRECT_URL .*\n$/,
  );
});

through('so is one that ignores what connections set at their start', async () => {
  const pgbouncer = await start({ ignore_startup_parameters: 'options,extra_float_digits' });
  const url = await freshDatabase();
  const DATABASE_URL = await pgbouncer.add(url, [buildPlainEntry(url)]);
  expect(await findRefusal({ DATABASE_URL })).toMatch(/is a connection pooler/);
});

through('a pooler as DATABASE_DIRECT_URL is refused', async () => {
  const pgbouncer = await start();
  const { DATABASE_URL } = await pgbouncer.serve(await freshDatabase());
  expect(
    await findRefusal({ DATABASE_URL: DATABASE_URL!, DATABASE_DIRECT_URL: DATABASE_URL! }),
  ).toMatch(
    /^DATABASE_DIRECT_URL: .* is a connection pooler, such as PgBouncer; set it to PostgreSQL/,
  );
});

through('max_prepared_statements = 0 is refused by name', async () => {
  const pgbouncer = await start({ max_prepared_statements: '0' });
  const settings = await pgbouncer.serve(await freshDatabase());
  const refused =
    /^DATABASE_URL: .* is PgBouncer [\d.]+ with max_prepared_statements = 0: set it to 1000/;
  expect(await findRefusal(settings)).toMatch(refused);
  // State that the first start has left there changes nothing.
  expect(await findRefusal(settings)).toMatch(refused);
});

test('a PgBouncer before 1.21 is refused by its version', () => {
  expect([
    unpreparedReason('db:6432', '1.18.0'),
    unpreparedReason('db:6432', '1.20.1'),
    unpreparedReason('db:6432', '1.21.0'),
    unpreparedReason('db:6432', undefined),
  ]).toEqual([
    'db:6432 is PgBouncer 1.18.0, which is too old: PgBouncer 1.21 or later with ' +
      'max_prepared_statements above 0 is needed',
    'db:6432 is PgBouncer 1.20.1, which is too old: PgBouncer 1.21 or later with ' +
      'max_prepared_statements above 0 is needed',
    'db:6432 is PgBouncer 1.21.0 with max_prepared_statements = 0: set it to 1000',
    'the pooler at db:6432 does not handle prepared statements: PgBouncer 1.21 or later with ' +
      'max_prepared_statements above 0 is needed',
  ]);
});

through('an entry that is missing is named', async () => {
  const pgbouncer = await start();
  const url = await freshDatabase();
  const DATABASE_URL = await pgbouncer.add(url, [
    `${buildPlainEntry(url)} connect_query='SET statement_timeout = 10000'`,
  ]);
  expect(await findRefusal({ DATABASE_URL, DATABASE_DIRECT_URL: url })).toMatch(
    new RegExp(`has no entry "${toDatabaseName(url)}_prepared"; print .* npx trunkline pgbouncer`),
  );
});

through('sessions that are not set as they must be are named, with their settings', async () => {
  const pgbouncer = await start();
  const url = await freshDatabase();
  const names = ['', '_prepared', '_searches', '_routing', '_credentials', '_batched'];
  const DATABASE_URL = await pgbouncer.add(
    url,
    names.map((name) => buildPlainEntry(url, toDatabaseName(url) + name)),
  );
  const refused = await findRefusal({ DATABASE_URL, DATABASE_DIRECT_URL: url });
  expect(refused).toContain(`${toDatabaseName(url)}: statement_timeout is 0 and must be 10000; `);
  expect(refused).toContain('plan_cache_mode is auto and must be force_generic_plan');
  expect(refused).toContain('work_mem is 4096 and must be 32768');
  expect(refused).toContain('lock_timeout is 0 and must be 250');
});

through('other timeouts of entries than of the process are named', async () => {
  const pgbouncer = await start();
  const settings = await pgbouncer.serve(await freshDatabase());
  expect(await findRefusal({ ...settings, DATABASE_TIMEOUT_SECONDS: '20' })).toMatch(
    /statement_timeout is 10000 and must be 20000; .*searches: statement_timeout is 5000/,
  );
});

through('a pooler that resets sessions after each transaction is refused', async () => {
  const pgbouncer = await start({ server_reset_query_always: '1', default_pool_size: '1' });
  expect(await findRefusal(await pgbouncer.serve(await freshDatabase()))).toMatch(
    /sessions of .* are not set as they must be: .*server_reset_query_always/,
  );
});

through('another database behind the pooler is refused', async () => {
  const pgbouncer = await start();
  const [url, otherUrl] = [await freshDatabase(), await freshDatabase()];
  const { DATABASE_URL } = await pgbouncer.serve(url);
  expect(await findRefusal({ DATABASE_URL: DATABASE_URL!, DATABASE_DIRECT_URL: otherUrl })).toMatch(
    /is not the database of DATABASE_DIRECT_URL/,
  );
});

test('PostgreSQL itself as DATABASE_URL needs no DATABASE_DIRECT_URL', async () => {
  const url = await freshDatabase();
  expect(await findRefusal({ DATABASE_URL: url, DATABASE_DIRECT_URL: url })).toMatch(
    /^DATABASE_DIRECT_URL is set, and DATABASE_URL, .* is PostgreSQL itself and no pooler/,
  );
  expect(await findRefusal({ DATABASE_URL: url })).toBeUndefined();
});

through('what is wrong with DATABASE_DIRECT_URL is said of it', async () => {
  const pgbouncer = await start();
  const settings = await pgbouncer.serve(await freshDatabase());
  const DATABASE_DIRECT_URL = settings.DATABASE_DIRECT_URL!.replace(
    /:\/\/(\w+):\w+@/,
    '://$1:wrong@',
  );
  expect(await findRefusal({ ...settings, DATABASE_DIRECT_URL })).toMatch(
    /^DATABASE_DIRECT_URL: .* refuses the password/,
  );
});

test('DATABASE_DIRECT_URL alone, and a pooler without a database, are refused', async () => {
  const DATABASE_DIRECT_URL = 'postgresql://db/trunkline';
  expect(await findRefusal({ DATABASE_DIRECT_URL })).toContain(
    'DATABASE_URL must be given with DATABASE_DIRECT_URL',
  );
  expect(await findRefusal({ DATABASE_DIRECT_URL, DATABASE_URL: 'postgresql://pooler' })).toContain(
    'DATABASE_URL must end with the name of its database',
  );
});

test('the documentation shows what the command prints', () => {
  const config = loadConfig({
    DATABASE_URL: 'postgresql://trunkline:PASSWORD@pgbouncer:6432/trunkline',
    DATABASE_DIRECT_URL: 'postgresql://trunkline:PASSWORD@postgres:5432/trunkline',
  });
  const guide = readFileSync(join(__dirname, '../../../docs/scale.md'), 'utf8');
  expect(guide).toContain(`\`\`\`ini\n${pgbouncerIni(config)}\`\`\`\n`);
});
