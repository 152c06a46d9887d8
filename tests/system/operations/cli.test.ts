import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { contract } from '../../../src/platform/contract/contract';
import { buildProduct } from '../../support/build';
import { runCommand } from '../../support/cli';
import { runProgram, type Ended } from '../../support/process';
import { emptyDatabase, freshDatabase, PEPPER_OF_TESTS } from '../../support/world';

// The program `trunkline` as an installation has it: compiled, without development packages, called
// from anywhere.

const ROOT = join(__dirname, '../../..');
const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'cli-'));
const elsewhere = newFolder();
let program: string;
let folder: string;
beforeAll(async () => {
  folder = await buildProduct();
  program = join(folder, 'dist/main/cli/index.js');
}, 600_000);

const cli = (args: string[], env: Record<string, string>, cwd = elsewhere): Ended =>
  runProgram('node', [program, ...args], { cwd, env: { KEY_PEPPER: PEPPER_OF_TESTS, ...env } });

/** Runs the command in this process, which is faster. */
const run = (args: string[], env: Record<string, string>): Promise<Ended> =>
  runCommand(args, { KEY_PEPPER: PEPPER_OF_TESTS, ...env });

async function schemas(url: string): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `SELECT schemaname || '.' || tablename AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  await client.end();
  return rows.map(({ name }) => name);
}

test('it runs without tsx and other development packages, and says its version', () => {
  expect(existsSync(join(folder, 'node_modules/commander'))).toBe(true);
  for (const name of ['tsx', 'jest', '@swc/core'])
    expect(existsSync(join(folder, 'node_modules', name))).toBe(false);
  const { version } = contract.document.info;
  expect(cli(['--version'], {})).toEqual({ code: 0, output: `${version}\n`, errors: '' });
});

test('npx finds it below the folder of the installation, without the network', () => {
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(bin).toEqual({ trunkline: 'dist/main/cli/index.js' });
  const env = { HOME: elsewhere, npm_config_offline: 'true' };
  const cwd = join(folder, 'dist');
  expect(runProgram('npx', ['trunkline', '--version'], { cwd, env })).toMatchObject({
    code: 0,
    output: `${contract.document.info.version}\n`,
  });
});

test.each(['start', 'worker'])('npm run %s needs no compiler when it is built', (script) => {
  const { code, errors } = runProgram('npm', ['run', script], {
    cwd: folder,
    env: { HOME: elsewhere, PORT: 'x' },
  });
  expect([code, errors]).toEqual([1, expect.stringContaining('- PORT is not usable')]);
});

test('a command on a database works, and says which it is without its password', async () => {
  const url = await freshDatabase();
  const { code, output, errors } = cli(['company', 'create', '--name', 'Mine', '--json'], {
    DATABASE_URL: url,
  });
  expect([code, JSON.parse(output)]).toMatchObject([0, { company_id: expect.any(Number) }]);
  const { pathname, port, password } = new URL(url);
  expect(errors).toBe(
    `Database: "${pathname.slice(1)}" at 127.0.0.1:${port}, as the user "trunkline"\n`,
  );
  expect(password.length).toBeGreaterThan(8);
  expect(errors).not.toContain(password);
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

describe('only migrate and demo make a database', () => {
  test.each(OTHERS)('$command in a folder without one: nothing is made', async ({ args }) => {
    const folder = newFolder();
    const { code, output, errors } = await run(args, { DATA_DIR: join(folder, 'data') });
    expect([
      code,
      (output + errors).match(/There is no database in DATA_DIR, \S+\/data:/g),
    ]).toEqual([1, expect.any(Array)]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a program that cannot do something says so in one line, without a stack', () => {
    const cwd = newFolder();
    const { code, errors } = cli(['key', 'list'], {}, cwd);
    expect([code, errors.split('\n').length]).toEqual([1, 3]);
    expect(errors).toMatch(/There is no database in DATA_DIR, \S+\/\.data:/);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test.each(OTHERS.filter(({ command }) => /^(company|demo|pepper|doctor)/.test(command)))(
    '$command with an empty database: it stays empty',
    async ({ args }) => {
      const url = await emptyDatabase();
      const DATA_DIR = join(newFolder(), 'data');
      const { code, output, errors } = await run(args, { DATABASE_URL: url, DATA_DIR });
      expect([code, /This database is empty|pending: /.test(output + errors)]).toEqual([1, true]);
      expect(await schemas(url)).toEqual([]);
      expect(existsSync(DATA_DIR)).toBe(false);
    },
  );

  test.each([['migrate'], ['demo']])('%s makes it', async (command) => {
    const url = await emptyDatabase();
    const { code, errors } = await run([command!], { DATABASE_URL: url, DATA_DIR: newFolder() });
    expect([code, errors.split('\n').length]).toEqual([0, 2]);
    expect(await schemas(url)).toContain('public.companies');
  });
});

test('a command explains a database that it cannot reach in one line', () => {
  const url = new URL(process.env.TRUNKLINE_TEST_DATABASE!);
  url.password = 'wrong';
  const { code, errors } = cli(['token', 'list'], { DATABASE_URL: url.href });
  expect([code, errors.trimEnd().split('\n')]).toEqual([
    1,
    [expect.stringMatching(/^Database: /), expect.stringMatching(/refuses the password.*28P01/)],
  ]);
});

test('every command that a message names works in production', () => {
  const messages = (at: string): string[] =>
    readdirSync(join(ROOT, at), { withFileTypes: true }).flatMap((entry) => {
      const path = `${at}/${entry.name}`;
      if (entry.isDirectory()) return path === 'src/generated' ? [] : messages(path);
      const code = readFileSync(join(ROOT, path), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
      return [...code.matchAll(/(?:npm (?:run )?|npx )[^\n'"`]*/g)].map(([text]) => text);
    });
  const namedCommands = messages('src');
  expect(namedCommands.length).toBeGreaterThan(5);
  for (const text of namedCommands)
    expect(text).toMatch(/^(npm start$|npm run worker|npx trunkline )/);
  const commands = namedCommands
    // Commands of the examples are checked by tests/main/cli/program.test.ts.
    .filter((text) => text.startsWith('npx') && !text.includes('${'))
    .map((text) => {
      const [, ...words] = /^npx trunkline ([a-z]+)(?: ([a-z]+))?(?: --|$)/.exec(
        text.replace(/ \(.*/, ''),
      )!;
      return words.filter(Boolean).join(' ');
    });
  for (const command of new Set(commands)) {
    const { code, output } = cli([...command.split(' '), '--help'], {});
    expect([code, output]).toEqual([0, expect.stringContaining(`Usage: trunkline ${command} `)]);
  }
});
