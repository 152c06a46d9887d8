import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { withClient } from '../../../src/data/postgres/with-client';
import { runCommand, type Printed } from '../../support/cli';
import { emptyDatabase, PEPPER_OF_TESTS } from '../../support/world';

// Commands where there is no database, or an empty one: only `migrate` and `demo` make it.

const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'no-database-'));
const run = (args: string[], environment: Record<string, string>): Promise<Printed> =>
  runCommand(args, { KEY_PEPPER: PEPPER_OF_TESTS, ...environment });

const loadTables = (url: string): Promise<string[]> =>
  withClient(new Client({ connectionString: url }), async (client) => {
    const { rows } = await client.query(
      `SELECT schemaname || '.' || tablename AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    return rows.map(({ name }) => name);
  });

const OTHERS = [
  ['company', 'create', '--name', 'x'],
  ['demo', 'remove'],
  ['key', 'create', '--name', 'x'],
  ['key', 'list'],
  ['key', 'revoke', 'pk_x'],
  ['number', 'add', '+12135550123'],
  ['import', '1', 'numbers.csv'],
  ['pepper', 'replace'],
  ['doctor'],
].map((args) => ({ command: args.join(' '), args }));

test.each(OTHERS)('$command in a folder without one: nothing is made', async ({ args }) => {
  const folder = newFolder();
  const { code, output, errors } = await run(args, { DATA_DIR: join(folder, 'data') });
  expect([code, (output + errors).match(/There is no database in DATA_DIR, \S+\/data:/g)]).toEqual([
    1,
    expect.any(Array),
  ]);
  expect(readdirSync(folder)).toEqual([]);
});

test.each(OTHERS.filter(({ command }) => /^(company|demo|pepper|doctor)/.test(command)))(
  '$command with an empty database: it stays empty',
  async ({ args }) => {
    const url = await emptyDatabase();
    const DATA_DIR = join(newFolder(), 'data');
    const { code, output, errors } = await run(args, { DATABASE_URL: url, DATA_DIR });
    expect([code, /This database is empty|pending: /.test(output + errors)]).toEqual([1, true]);
    expect(await loadTables(url)).toEqual([]);
    expect(existsSync(DATA_DIR)).toBe(false);
  },
);

test.each([['migrate'], ['demo']])('%s makes it', async (command) => {
  const url = await emptyDatabase();
  const { code, errors } = await run([command!], { DATABASE_URL: url, DATA_DIR: newFolder() });
  expect([code, errors.split('\n').length]).toEqual([0, 2]);
  expect(await loadTables(url)).toContain('public.companies');
});

test('a command explains a database that it cannot reach in one line', async () => {
  const url = new URL(process.env.TRUNKLINE_TEST_DATABASE!);
  url.password = 'wrong';
  const { code, errors } = await run(['token', 'list'], { DATABASE_URL: url.href });
  expect([code, errors.trimEnd().split('\n')]).toEqual([
    1,
    [expect.stringMatching(/^Database: /), expect.stringMatching(/refuses the password.*28P01/)],
  ]);
});
