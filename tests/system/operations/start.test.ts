import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { loadConfig } from '../../../src/main/config';
import { contract } from '../../../src/platform/contract/contract';
import { listenFault } from '../../../src/operate/installation/listen';
import { freePort, runScript, startServer } from '../../support/process';
import { freshDatabase, PEPPER_OF_TESTS } from '../../support/world';

// A start that succeeds says how to go on; one that fails says why in one line, and changes
// nothing.

const ROOT = join(__dirname, '../../..');
const folder = join(process.env.TRUNKLINE_TEST_FOLDER!, 'start');
mkdirSync(folder);
const file = join(folder, 'file');
writeFileSync(file, '');
const DATA_DIR = join(folder, 'data');
const serverUrl = process.env.TRUNKLINE_TEST_DATABASE!;

type Environment = Record<string, string>;

/** The URL of the database server of tests, with another part. */
function databaseUrl(change: (url: URL) => void): string {
  const url = new URL(serverUrl);
  change(url);
  return url.href;
}

async function occupy(port: number): Promise<Server> {
  const occupant = createServer();
  await new Promise<void>((done) => occupant.listen(port, '127.0.0.1', done));
  return occupant;
}

const loadCompanies = async (url: string) => {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('SELECT name, demo FROM companies');
  await client.end();
  return rows;
};

test('a busy port costs nothing: the next start makes the demo and prints its keys', async () => {
  const url = await freshDatabase();
  const port = await freePort();
  const environment = { DATABASE_URL: url, DATA_DIR, PORT: String(port) };
  const occupant = await occupy(port);
  const failed = runScript('src/main/server.ts', [], environment);
  await new Promise((done) => occupant.close(done));
  expect(failed).toEqual({
    code: 1,
    output: '',
    errors: `Port ${port} is used by another program. Stop it, or set PORT to another port.\n`,
  });
  expect(await loadCompanies(url)).toEqual([]);
  expect(existsSync(DATA_DIR)).toBe(false);
  const server = await startServer(environment);
  const [, key] = /curl -s -u (\S+)/.exec(server.output())!;
  const authorization = `Basic ${Buffer.from(key!).toString('base64')}`;
  const me = await fetch(`${server.url}/api/v1/me`, { headers: { authorization } });
  expect([me.status, await loadCompanies(url)]).toEqual([
    200,
    [{ name: 'Demo Company', demo: true }],
  ]);
  expect(server.output()).toContain(`Keep ${join(DATA_DIR, 'key_pepper')}`);
  expect(await server.end('SIGTERM')).toBe(0);
});

test('DEMO=false: no company is made, and the start says how to make one', async () => {
  const url = await freshDatabase();
  const STORAGE_DIR = join(folder, 'storage of no demo');
  const settings = { DATABASE_URL: url, DATA_DIR, STORAGE_DIR, KEY_PEPPER: PEPPER_OF_TESTS };
  const environment = { ...settings, DEMO: 'false' };
  const server = await startServer(environment);
  expect(server.output()).toContain('npx trunkline company create --name NAME');
  expect(server.output()).not.toMatch(/private key|Found its data/);
  expect(await server.end('SIGTERM')).toBe(0);
  expect(await loadCompanies(url)).toEqual([]);
});

test('the start names its version and its database, without the password', async () => {
  const url = await freshDatabase();
  const STORAGE_DIR = join(folder, 'storage of the named');
  const environment = { DATABASE_URL: url, DATA_DIR, STORAGE_DIR, KEY_PEPPER: PEPPER_OF_TESTS };
  const server = await startServer(environment);
  const { pathname, password, port } = new URL(url);
  expect(server.output()).toContain(`Version: ${contract.document.info.version}\n`);
  expect(server.output()).toContain(
    `Database: "${pathname.slice(1)}" at 127.0.0.1:${port}, as the user "trunkline"\n`,
  );
  expect(server.output()).not.toContain(password);
  expect(await server.end('SIGTERM')).toBe(0);
});

const database = (change: (url: URL) => void) => ({ DATABASE_URL: databaseUrl(change) });
const DATABASE_FAULTS: [string, Environment, RegExp][] = [
  [
    'a wrong password',
    database((url) => (url.password = 'wrong')),
    /^DATABASE_URL: 127\.0\.0\.1:\d+ refuses the password of the user "trunkline"; .*\(28P01\)\.$/,
  ],
  [
    'a missing database',
    database((url) => (url.pathname = '/nothing')),
    /^DATABASE_URL: 127\.0\.0\.1:\d+ has no database "nothing"; create it.* \(3D000\)\.$/,
  ],
  [
    'an unknown host',
    database((url) => (url.hostname = 'nowhere.invalid')),
    /^DATABASE_URL: the host nowhere\.invalid:\d+ (is unknown|cannot be looked up); correct it/,
  ],
  [
    'a port where nothing listens',
    database((url) => (url.port = '1')),
    /^DATABASE_URL: nothing listens at 127\.0\.0\.1:1; .* \(ECONNREFUSED\)\.$/,
  ],
  [
    'a host name with several addresses, where nothing listens',
    database((url) => ((url.hostname = 'localhost'), (url.port = '1'))),
    /^DATABASE_URL: nothing listens at localhost:1; .* \(ECONNREFUSED\)\.$/,
  ],
];

describe.each(['src/main/server.ts', 'src/main/worker.ts'])(
  'one line, no stack: %s with',
  (program) => {
    test.each<[string, Environment, RegExp]>([
      ...DATABASE_FAULTS,
      [
        'a DATA_DIR that cannot be made',
        { DATA_DIR: join(file, 'data') },
        /^DATA_DIR: the folder .*file\/data cannot be used, because a part of its path is a file/,
      ],
      [
        'a STORAGE_DIR that cannot be made',
        { STORAGE_DIR: file },
        /^STORAGE_DIR: the folder .*\/file cannot be used, because a part of its path is a file/,
      ],
    ])('%s', async (_, faulty, line) => {
      const PORT = String(await freePort());
      const environment: Environment = { DATA_DIR, KEY_PEPPER: PEPPER_OF_TESTS, PORT, ...faulty };
      if (environment.STORAGE_DIR) environment.DATABASE_URL = await freshDatabase();
      const { code, output, errors } = runScript(program, [], environment);
      expect([code, output, errors.trimEnd().split('\n')]).toEqual([
        1,
        '',
        [expect.stringMatching(line)],
      ]);
    });
  },
);

test.each<[string, Environment, RegExp]>([
  [
    'an address of another machine',
    { HOST: '203.0.113.7' },
    /^HOST=203\.0\.113\.7 is not an address of this machine: set HOST to 127\.0\.0\.1/,
  ],
  ['an unknown name', { HOST: 'nowhere.invalid' }, /^HOST=nowhere\.invalid is unknown: set HOST/],
])('one line, no stack: HOST with %s', (_, faulty, line) => {
  const { code, output, errors } = runScript('src/main/server.ts', [], { DATA_DIR, ...faulty });
  expect([code, output, errors.trimEnd().split('\n')]).toEqual([
    1,
    '',
    [expect.stringMatching(line)],
  ]);
});

test('a HOST that is no host, and a DATABASE_URL that is no URL, are named', () => {
  const { code, errors } = runScript('src/main/server.ts', [], {
    HOST: 'this host!',
    DATABASE_URL: 'postgresql://user:a#b@127.0.0.1/name',
  });
  expect(code).toBe(1);
  expect(errors).toMatch(/- HOST must be an IP address or a host name of this machine/);
  expect(errors).toMatch(/- DATABASE_URL must be a URL .* %23/);
  expect(errors).not.toMatch(/^ +at /m);
});

/** A user without rights: as root, uid 65534; otherwise the user that runs the tests. */
const account = process.getuid?.() === 0 ? { uid: 65_534 } : {};

describe('a user without rights', () => {
  // The code that this user loads must be compiled already: the user may not write here.
  beforeAll(() => void runScript('src/main/server.ts', [], { PORT: 'x' }));

  test.each<[string, () => Environment, RegExp]>([
    [
      'may not make DATA_DIR',
      () => ({ DATA_DIR: join(createClosedFolder('closed'), 'data') }),
      /^DATA_DIR: the folder .* cannot be used, because this user has no right .*\(EACCES\)/,
    ],
    [
      'may not write in STORAGE_DIR',
      () => ({ STORAGE_DIR: createClosedFolder('storage') }),
      /^STORAGE_DIR: the folder .* cannot be used, because this user has no right .*\(EACCES\)/,
    ],
  ])('%s', async (_, faulty, line) => {
    const environment: Environment = {
      KEY_PEPPER: PEPPER_OF_TESTS,
      PORT: String(await freePort()),
      DATA_DIR: join(file, 'data'),
      ...faulty(),
    };
    if (environment.STORAGE_DIR) environment.DATABASE_URL = await freshDatabase();
    const { code, output, errors } = runScript('src/main/server.ts', [], environment, account);
    expect([code, output, errors.trimEnd().split('\n')]).toEqual([
      1,
      '',
      [expect.stringMatching(line)],
    ]);
  });
});

const NEEDS_RIGHTS =
  /^Port 80 needs rights that this user does not have: set PORT to 1024 or more[^\n]*\.$/;

/** Some systems, containers above all, let everybody listen on port 80. */
const UNPRIVILEGED = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
const isGuarded = existsSync(UNPRIVILEGED) && Number(readFileSync(UNPRIVILEGED, 'utf8')) > 80;
(isGuarded ? test : test.skip)('one line, no stack: port 80 without rights', () => {
  runScript('src/main/server.ts', [], { PORT: 'x' });
  const environment = { PORT: '80', DATA_DIR: join(file, 'data') };
  const { code, output, errors } = runScript('src/main/server.ts', [], environment, account);
  expect([code, output, errors.trimEnd()]).toEqual([1, '', expect.stringMatching(NEEDS_RIGHTS)]);
});

test('a port that needs rights is named, like any other reason not to listen', () => {
  const fault = (code: string) =>
    listenFault(
      { port: 80, host: '127.0.0.1' },
      Object.assign(new Error(), { code, syscall: 'listen' }),
    ) as Error;
  expect(fault('EACCES').message).toMatch(NEEDS_RIGHTS);
  expect(fault('EMFILE').message).toBe('HOST=127.0.0.1, PORT=80 cannot be used (EMFILE).');
});

/** A folder that all users may read and only root may write. */
function createClosedFolder(name: string): string {
  chmodSync(process.env.TRUNKLINE_TEST_FOLDER!, 0o711);
  chmodSync(folder, 0o755);
  const path = join(folder, name);
  mkdirSync(join(path, 'incoming'), { recursive: true });
  mkdirSync(join(path, 'files'), { recursive: true });
  for (const subfolder of ['files', 'incoming', '.']) chmodSync(join(path, subfolder), 0o555);
  return path;
}

test('.env.example can be sourced by a shell, and its values are the defaults', () => {
  const declared = [
    ...readFileSync(join(ROOT, '.env.example'), 'utf8').matchAll(/^([A-Z\d_]+)=/gm),
  ];
  const names = declared.map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(20);
  const script = 'set -eu; set -a; . ./.env.example; set +a; env -0';
  const text = execFileSync('sh', ['-c', script], { cwd: ROOT, encoding: 'utf8', env: {} });
  const values = Object.fromEntries(
    text.split('\0').flatMap((line) => {
      const [name = '', ...rest] = line.split('=');
      return names.includes(name) ? [[name, rest.join('=')]] : [];
    }),
  );
  expect(Object.keys(values).toSorted()).toEqual(names.toSorted());
  expect(loadConfig(values)).toEqual(loadConfig({}));
});

test('the package and the contract have the same version', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  expect([contract.document.info.version, lock.version, lock.packages[''].version]).toEqual([
    version,
    version,
    version,
  ]);
});
