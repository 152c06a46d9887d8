import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import pino from 'pino';
import { banner } from '../../src/main/banner';
import { loadConfig } from '../../src/main/config';
import { prepareCompanies } from '../../src/main/demo/demo';
import { runServer } from '../../src/main/server';
import { openInstallation, type Installation } from '../../src/operate/installation/open';
import { contract } from '../../src/platform/contract/contract';
import { withClient } from '../../src/data/postgres/with-client';
import { runRefused } from '../support/cli';
import { openBrowser, PASSWORD } from '../support/console-session';
import { freePort } from '../support/process';
import { buildApp, caller, freshDatabase, PEPPER_OF_TESTS } from '../support/world';

// A start that succeeds says how to go on.

type Environment = Record<string, string>;

const ROOT = join(__dirname, '../..');
const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'first-start-'));
const opened: Installation[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((installation) => installation.close()));
});

/** Opens an installation as a server does, and returns its greeting. */
async function start(environment: Environment) {
  const config = loadConfig(environment);
  const log = pino({ level: 'silent' });
  const installation = await openInstallation(config, { role: 'server', kind: 'server', log });
  opened.push(installation);
  const greeting = banner(config, installation, await prepareCompanies(installation.deps));
  return { greeting, deps: installation.deps };
}

async function occupy(port: number): Promise<Server> {
  const occupant = createServer();
  await new Promise<void>((done) => occupant.listen(port, '127.0.0.1', done));
  return occupant;
}

const loadCompanies = (url: string) =>
  withClient(new Client({ connectionString: url }), async (client) => {
    const { rows } = await client.query('SELECT name, demo FROM companies');
    return rows;
  });

test('a busy port costs nothing: the next start makes the demo and prints its keys', async () => {
  const url = await freshDatabase();
  const port = await freePort();
  const DATA_DIR = join(newFolder(), 'data');
  const environment = { DATABASE_URL: url, DATA_DIR, PORT: String(port) };
  const occupant = await occupy(port);
  const refused = await runRefused(runServer, environment);
  await new Promise((done) => occupant.close(done));
  expect(refused).toEqual({
    code: 1,
    output: '',
    errors: `Port ${port} is used by another program. Stop it, or set PORT to another port.`,
  });
  expect(await loadCompanies(url)).toEqual([]);
  expect(existsSync(DATA_DIR)).toBe(false);
  const { greeting, deps } = await start(environment);
  const [, key] = /curl -s -u (\S+)/.exec(greeting)!;
  const me = await caller(buildApp(deps), key!)('get', 'me');
  expect([me.status, await loadCompanies(url)]).toEqual([
    200,
    [{ name: 'Demo Company', demo: true }],
  ]);
  expect(greeting).toContain(`Keep ${join(DATA_DIR, 'key_pepper')}`);
});

test('the first start prints the link of the owner, and later ones how to get another', async () => {
  const url = await freshDatabase();
  const settings = { DATABASE_URL: url, DATA_DIR: newFolder(), KEY_PEPPER: PEPPER_OF_TESTS };
  const { greeting, deps } = await start({ ...settings, PUBLIC_URL: 'https://calls.example.com' });
  const [, token] = /https:\/\/calls\.example\.com\/console\/#\/owner\?token=(\S+)/.exec(greeting)!;
  const owner = { token, email: 'ann@example.com', password: PASSWORD };
  const browser = openBrowser({ app: buildApp(deps) });
  expect((await browser.send('post', '/console/owner', { body: owner })).status).toBe(201);
  const again = await start({ ...settings, PUBLIC_URL: 'https://calls.example.com' });
  expect(again.greeting).toContain('npx trunkline owner link');
  expect(again.greeting).not.toContain('own-');
});

test('DEMO=false: no company is made, and the start says how to make one', async () => {
  const url = await freshDatabase();
  const settings = { DATABASE_URL: url, DATA_DIR: newFolder(), KEY_PEPPER: PEPPER_OF_TESTS };
  const { greeting } = await start({ ...settings, DEMO: 'false' });
  expect(greeting).toContain('npx trunkline company create --name NAME');
  expect(greeting).not.toMatch(/private key|Found its data/);
  expect(await loadCompanies(url)).toEqual([]);
});

test('the start names its version and its database, without the password', async () => {
  const url = await freshDatabase();
  const settings = { DATABASE_URL: url, DATA_DIR: newFolder(), KEY_PEPPER: PEPPER_OF_TESTS };
  const { greeting } = await start(settings);
  const { pathname, password, port } = new URL(url);
  expect(greeting).toContain(`Version: ${contract.document.info.version}\n`);
  expect(greeting).toContain(
    `Database: "${pathname.slice(1)}" at 127.0.0.1:${port}, as the user "trunkline"\n`,
  );
  expect(greeting).not.toContain(password);
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
