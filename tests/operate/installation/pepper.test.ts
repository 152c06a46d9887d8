import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import pino from 'pino';
import { loadConfig } from '../../../src/main/config';
import { runServer } from '../../../src/main/server';
import { runWorker } from '../../../src/main/worker';
import { createCompany, type NewCompany } from '../../../src/operate/installation/create-company';
import { openInstallation, type Installation } from '../../../src/operate/installation/open';
import { WrongPepper } from '../../../src/operate/installation/pepper';
import { runCommand, runRefused, type Printed } from '../../support/cli';
import { freePort } from '../../support/process';
import { buildApp, caller, freshDatabase } from '../../support/world';

const PEPPER = 'one pepper, long enough to be accepted';
const OTHER = 'another pepper, just as long as the first';
const opened: Installation[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((installation) => installation.close()));
});

const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'pepper-'));
const fileIn = (DATA_DIR: string) => join(DATA_DIR, 'key_pepper');

/** Opens an installation as a process with this environment does. */
async function open(environment: Record<string, string>): Promise<Installation> {
  const config = loadConfig({ DATA_DIR: newFolder(), ...environment });
  const installation = await openInstallation(config, { log: pino({ level: 'silent' }) });
  opened.push(installation);
  return installation;
}

const company = ({ deps }: Installation): Promise<NewCompany> => createCompany('Test', deps);

/** The status of GET /me for the first key pair of a company. */
async function loadStatus({ deps }: Installation, { credentials }: NewCompany): Promise<number> {
  const key = `${credentials.public_key}:${credentials.private_key}`;
  return (await caller(buildApp(deps), key)('get', 'me')).status;
}

async function execute(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(statement);
  await client.end();
  return rows;
}

describe('a new database', () => {
  test('takes the pepper of its first process, and credentials work after a restart', async () => {
    const DATABASE_URL = await freshDatabase();
    const createdCompany = await company(await open({ DATABASE_URL, KEY_PEPPER: PEPPER }));
    const installation = await open({ DATABASE_URL, KEY_PEPPER: PEPPER });
    expect(await loadStatus(installation, createdCompany)).toBe(200);
  });

  test('gets one pepper from processes that share DATA_DIR and start at once', async () => {
    const environment = { DATABASE_URL: await freshDatabase(), DATA_DIR: newFolder() };
    const all = await Promise.all(Array.from({ length: 4 }, () => open(environment)));
    const peppers = new Set(all.map(({ deps }) => deps.pepper));
    expect([...peppers]).toEqual([readFileSync(fileIn(environment.DATA_DIR), 'utf8')]);
    expect([...peppers][0]).toMatch(/^[0-9a-f]{64}$/);
  });

  test('accepts one of the processes that start at once with different peppers', async () => {
    const DATABASE_URL = await freshDatabase();
    const peppers = Array.from({ length: 4 }, (_, n) => `${PEPPER} ${n}`);
    const results = await Promise.allSettled(
      peppers.map((KEY_PEPPER) => open({ DATABASE_URL, KEY_PEPPER })),
    );
    const refused = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason] : [],
    );
    expect(refused.map((error) => error instanceof WrongPepper)).toEqual([true, true, true]);
  });
});

describe('a database that was used with another pepper', () => {
  let DATABASE_URL: string;
  beforeAll(async () => {
    DATABASE_URL = await freshDatabase();
    const first = await open({ DATABASE_URL, KEY_PEPPER: PEPPER });
    await company(first);
  });

  const sentence =
    /^The credentials in this database were made with another pepper [^\n]*set KEY_PEPPER[^\n]*\.$/;

  type Run = (environment: Record<string, string>) => Promise<Printed>;
  test.each<[string, Run]>([
    ['a server', (environment) => runRefused(runServer, environment)],
    ['a worker', (environment) => runRefused(runWorker, environment)],
    ['token list', (environment) => runCommand(['token', 'list'], environment)],
    [
      'company create',
      (environment) => runCommand(['company', 'create', '--name', 'x'], environment),
    ],
    ['demo', (environment) => runCommand(['demo'], environment)],
  ])('is refused by %s, in one sentence that says what to do', async (_, run) => {
    const PORT = String(await freePort());
    const environment = { DATABASE_URL, DATA_DIR: newFolder(), KEY_PEPPER: OTHER, PORT };
    const { code, output, errors } = await run(environment);
    expect([code, output, errors.trimEnd().split('\n').at(-1)]).toEqual([
      1,
      '',
      expect.stringMatching(sentence),
    ]);
  });

  test('is refused without a pepper, as in a container that lost its disk; none is made', async () => {
    const DATA_DIR = newFolder();
    const lost = /made with a pepper that is missing in \S+\/key_pepper: set KEY_PEPPER/;
    await expect(open({ DATABASE_URL, DATA_DIR })).rejects.toThrow(lost);
    expect(existsSync(fileIn(DATA_DIR))).toBe(false);
  });

  test('is refused with the file of another installation, which is named', async () => {
    const DATA_DIR = newFolder();
    writeFileSync(fileIn(DATA_DIR), OTHER);
    await expect(open({ DATABASE_URL, DATA_DIR })).rejects.toThrow(fileIn(DATA_DIR));
  });

  test('can be migrated and examined: neither needs a pepper, and the doctor names it', async () => {
    const environment = { DATABASE_URL, DATA_DIR: newFolder() };
    expect(await runCommand(['migrate', '--json'], environment)).toMatchObject({
      code: 0,
      output: '{"applied":[]}\n',
    });
    const { code, output } = await runCommand(['doctor', '--json'], environment);
    expect(code).toBe(1);
    expect(JSON.parse(output)).toContainEqual({
      check: 'pepper',
      ok: false,
      finding: expect.stringContaining('set KEY_PEPPER'),
    });
    expect(existsSync(fileIn(environment.DATA_DIR))).toBe(false);
  });
});

test('a file without a whole pepper is refused', async () => {
  const DATA_DIR = newFolder();
  writeFileSync(fileIn(DATA_DIR), '');
  const opening = open({ DATABASE_URL: await freshDatabase(), DATA_DIR });
  await expect(opening).rejects.toThrow(/key_pepper is damaged: it must have at least 32/);
});

describe('a database of an older version, with credentials and without a digest', () => {
  const older = async () => {
    const DATABASE_URL = await freshDatabase();
    const createdCompany = await company(await open({ DATABASE_URL, KEY_PEPPER: PEPPER }));
    await execute(DATABASE_URL, 'DELETE FROM installations');
    return { DATABASE_URL, createdCompany };
  };

  test('takes the pepper that is configured, and from then on no other', async () => {
    const { DATABASE_URL, createdCompany } = await older();
    const upgraded = await open({ DATABASE_URL, KEY_PEPPER: PEPPER });
    expect(await loadStatus(upgraded, createdCompany)).toBe(200);
    await expect(open({ DATABASE_URL, KEY_PEPPER: OTHER })).rejects.toThrow(WrongPepper);
  });

  test('is refused without a pepper: a new one would refuse every credential', async () => {
    const { DATABASE_URL } = await older();
    await expect(open({ DATABASE_URL })).rejects.toThrow(WrongPepper);
  });
});

describe('pepper replace', () => {
  test('makes the configured pepper the one of the database, and says what it costs', async () => {
    const DATABASE_URL = await freshDatabase();
    const createdCompany = await company(await open({ DATABASE_URL, KEY_PEPPER: PEPPER }));
    const replace = (KEY_PEPPER: string) =>
      runCommand(['pepper', 'replace', '--json'], {
        DATABASE_URL,
        DATA_DIR: newFolder(),
        KEY_PEPPER,
      });
    expect(await replace(OTHER)).toMatchObject({ code: 0, output: '{"invalid_credentials":1}\n' });
    await expect(open({ DATABASE_URL, KEY_PEPPER: PEPPER })).rejects.toThrow(WrongPepper);
    const installation = await open({ DATABASE_URL, KEY_PEPPER: OTHER });
    expect(await loadStatus(installation, createdCompany)).toBe(401);
    expect(await loadStatus(installation, await company(installation))).toBe(200);
    expect(await replace(OTHER)).toMatchObject({ code: 0, output: '{"invalid_credentials":0}\n' });
  });

  test('makes a pepper where none is configured', async () => {
    const DATABASE_URL = await freshDatabase();
    await company(await open({ DATABASE_URL, KEY_PEPPER: PEPPER }));
    const DATA_DIR = newFolder();
    const replaced = await runCommand(['pepper', 'replace'], { DATABASE_URL, DATA_DIR });
    expect(replaced.code).toBe(0);
    const { deps } = await open({ DATABASE_URL, DATA_DIR });
    expect(deps.pepper).toBe(readFileSync(fileIn(DATA_DIR), 'utf8'));
  });
});
