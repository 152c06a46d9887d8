import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contract } from '../../../src/platform/contract/contract';
import { completionFor } from '../../../src/main/cli/completion';
import { createProgram } from '../../../src/main/cli/program';
import { builtProduct } from '../../support/build';
import { freePort, runProgram, runScript, type Ended } from '../../support/process';
import { freshDatabase, PEPPER_OF_TESTS } from '../../support/world';

// How the programs of an installation end: compiled, without development packages, called from
// anywhere. What each command does is tested in tests/main/cli/, what a start refuses in
// tests/main/refused-start.test.ts.

const ROOT = join(__dirname, '../../..');
const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'cli-'));
const elsewhere = newFolder();
const { version } = contract.document.info;
let program: string;
let folder: string;
beforeAll(() => {
  folder = builtProduct();
  program = join(folder, 'dist/main/cli/index.js');
});

const cli = (args: string[], env: Record<string, string> = {}, cwd = elsewhere): Ended =>
  runProgram('node', [program, ...args], { cwd, env });

const wrongPassword = (): string => {
  const url = new URL(process.env.TRUNKLINE_TEST_DATABASE!);
  url.password = 'wrong';
  return url.href;
};

test('it runs without tsx and other development packages, and says its version', () => {
  expect(existsSync(join(folder, 'node_modules/commander'))).toBe(true);
  for (const name of ['tsx', 'jest', '@swc/core'])
    expect(existsSync(join(folder, 'node_modules', name))).toBe(false);
  expect(cli(['--version'])).toEqual({ code: 0, output: `${version}\n`, errors: '' });
});

test('npx finds it below the folder of the installation, without the network', () => {
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(bin).toEqual({ trunkline: 'dist/main/cli/index.js' });
  const env = { HOME: elsewhere, npm_config_offline: 'true' };
  const cwd = join(folder, 'dist');
  expect(runProgram('npx', ['trunkline', '--version'], { cwd, env })).toMatchObject({
    code: 0,
    output: `${version}\n`,
  });
});

describe('a command', () => {
  test('that works ends with 0, and says which database it is without its password', async () => {
    const url = await freshDatabase();
    const { code, output, errors } = cli(['company', 'create', '--name', 'Mine', '--json'], {
      DATABASE_URL: url,
      KEY_PEPPER: PEPPER_OF_TESTS,
    });
    expect([code, JSON.parse(output)]).toMatchObject([0, { company_id: expect.any(Number) }]);
    const { pathname, port, password } = new URL(url);
    expect(errors).toBe(
      `Database: "${pathname.slice(1)}" at 127.0.0.1:${port}, as the user "trunkline"\n`,
    );
    expect(password.length).toBeGreaterThan(8);
    expect(errors).not.toContain(password);
  });

  test('that prints much prints all of it before it ends', () => {
    const whole = completionFor('bash', createProgram());
    expect(cli(['completion', 'bash'])).toEqual({ code: 0, output: whole, errors: '' });
  });

  test('that cannot do something ends with 1, and says so in one line, without a stack', () => {
    const cwd = newFolder();
    const { code, errors } = cli(['key', 'list'], {}, cwd);
    expect([code, errors.split('\n').length]).toEqual([1, 3]);
    expect(errors).toMatch(/There is no database in DATA_DIR, \S+\/\.data:/);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test('that meets an error of the system ends with 1, without a stack', () => {
    const args = [
      'import',
      '1',
      'nowhere\u001b.csv',
      '--key',
      'a:b',
      '--url',
      'http://127.0.0.1:1',
    ];
    expect(cli(args)).toEqual({
      code: 1,
      output: '',
      errors: "ENOENT: no such file or directory, stat 'nowhere?.csv'\n",
    });
  });

  test('that is called wrongly ends with 2', () => {
    const { code, errors } = cli(['key', 'list', '--nonsense']);
    expect([code, errors]).toEqual([2, expect.stringMatching(/unknown option '--nonsense'/)]);
  });
});

describe('a start that is refused ends with 1, and says why in one line', () => {
  const NEEDED = { HOME: elsewhere, DATA_DIR: join(elsewhere, 'data') };

  test('npm start, which needs no compiler when it is built', () => {
    const env = { ...NEEDED, PORT: 'x' };
    const { code, output, errors } = runProgram('npm', ['run', '-s', 'start'], {
      cwd: folder,
      env,
    });
    expect([code, output]).toEqual([1, '']);
    expect(errors).toMatch(/^The configuration cannot be used:\n {2}- PORT is not usable.*\n$/);
  });

  test('npm run worker, which needs no compiler when it is built', () => {
    const env = { ...NEEDED, DATABASE_URL: wrongPassword() };
    const { code, output, errors } = runProgram('npm', ['run', '-s', 'worker'], {
      cwd: folder,
      env,
    });
    expect([code, output]).toEqual([1, '']);
    expect(errors).toMatch(/^DATABASE_URL: \S+ refuses the password .*\(28P01\)\.\n$/);
  });

  test('the server of a user who may not write in STORAGE_DIR', async () => {
    const closed = join(elsewhere, 'closed');
    for (const name of ['incoming', 'files']) mkdirSync(join(closed, name), { recursive: true });
    for (const name of ['incoming', 'files', '.']) chmodSync(join(closed, name), 0o555);
    // Others may pass through the folders above it.
    for (const path of [process.env.TRUNKLINE_TEST_FOLDER!, elsewhere]) chmodSync(path, 0o711);
    const account = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    const environment = {
      DATABASE_URL: await freshDatabase(),
      KEY_PEPPER: PEPPER_OF_TESTS,
      STORAGE_DIR: closed,
      PORT: String(await freePort()),
    };
    const { code, output, errors } = runScript('src/main/server.ts', [], environment, account);
    expect([code, output]).toEqual([1, '']);
    expect(errors).toMatch(
      /^STORAGE_DIR: the folder .* cannot be used, because this user has no right .*\(EACCES\).*\n$/,
    );
  });
});
