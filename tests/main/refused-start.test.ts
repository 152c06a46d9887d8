import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { runServer } from '../../src/main/server';
import { runWorker } from '../../src/main/worker';
import { listenFault } from '../../src/operate/installation/listen';
import { runCommand, runRefused } from '../support/cli';
import { freePort } from '../support/process';
import { startS3, type S3Server } from '../support/s3-server';
import { freshDatabase, PEPPER_OF_TESTS } from '../support/world';

// A start that is refused says why in one line, and makes nothing. What a process prints then, and
// its exit code, are tested with the built program (tests/system/operations/cli.test.ts).

type Environment = Record<string, string>;
type Start = typeof runServer;

const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'refused-'));
const file = join(folder, 'file');
writeFileSync(file, '');
const DATA_DIR = join(folder, 'data');

async function expectOneLine(start: Start, faulty: Environment, line: RegExp): Promise<void> {
  const { code, output, errors } = await runRefused(start, {
    DATA_DIR,
    KEY_PEPPER: PEPPER_OF_TESTS,
    PORT: String(await freePort()),
    ...faulty,
  });
  expect([code, output, errors.split('\n')]).toEqual([1, '', [expect.stringMatching(line)]]);
}

/** The database server of tests, with another part. */
function database(change: (url: URL) => void): Environment {
  const url = new URL(process.env.TRUNKLINE_TEST_DATABASE!);
  change(url);
  return { DATABASE_URL: url.href };
}

const FAULTS: [string, Environment, RegExp][] = [
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
  [
    'a DATA_DIR that cannot be made',
    { DATA_DIR: join(file, 'data') },
    /^DATA_DIR: the folder .*file\/data cannot be used, because a part of its path is a file/,
  ],
];

describe.each<[string, Start]>([
  ['server', runServer],
  ['worker', runWorker],
])('a %s is refused in one line with', (_, start) => {
  test.each(FAULTS)('%s', (_fault, faulty, line) => expectOneLine(start, faulty, line));

  test('a STORAGE_DIR that cannot be made', async () => {
    await expectOneLine(
      start,
      { DATABASE_URL: await freshDatabase(), STORAGE_DIR: file },
      /^STORAGE_DIR: the folder .*\/file cannot be used, because a part of its path is a file/,
    );
  });
});

test.each<[string, Environment, RegExp]>([
  [
    'an address of another machine',
    { HOST: '203.0.113.7' },
    /^HOST=203\.0\.113\.7 is not an address of this machine: set HOST to 127\.0\.0\.1/,
  ],
  ['an unknown name', { HOST: 'nowhere.invalid' }, /^HOST=nowhere\.invalid is unknown: set HOST/],
])('a server is refused in one line with HOST as %s', (_, faulty, line) =>
  expectOneLine(runServer, faulty, line),
);

describe('with a bucket', () => {
  let s3: S3Server;
  beforeAll(async () => void (s3 = await startS3()));
  afterAll(() => s3.close());

  test.each<[string, Start, Environment, RegExp]>([
    [
      'a server that names a bucket that there is not',
      runServer,
      { S3_BUCKET: 'nowhere' },
      /^S3_BUCKET: http:\S+ has no bucket "nowhere"; make it, or correct S3_BUCKET\.$/,
    ],
    [
      'a worker whose service is down',
      runWorker,
      { S3_ENDPOINT: 'http://127.0.0.1:1' },
      /^S3_ENDPOINT: http:\/\/127\.0\.0\.1:1 does not answer \(ECONNREFUSED\); .*\.$/,
    ],
  ])('%s is refused in one line, and no database is made', async (_, start, faulty, line) => {
    const ownFolder = mkdtempSync(join(folder, 'bucket-'));
    await expectOneLine(start, { ...s3.environment, DATA_DIR: ownFolder, ...faulty }, line);
    expect(readdirSync(ownFolder)).toEqual(['storage']);
  });
});

describe('the configuration', () => {
  test('every fault of it is named at once, by a start and by the doctor', async () => {
    const wrong = { PORT: 'x', DATABASE_URL: 'mysql://x', KEY_PEPPER: 'short', LOG_LEVEL: 'loud' };
    const { errors } = await runRefused(runServer, { ...wrong, DATABASE_POOL_SIZE: '0' });
    for (const name of [...Object.keys(wrong), 'DATABASE_POOL_SIZE'])
      expect(errors).toContain(`- ${name} `);
    const doctor = await runCommand(['doctor'], { PORT: 'x', KEY_PEPPER: 'short' });
    expect([doctor.code, doctor.output.match(/WRONG/g)]).toEqual([1, ['WRONG', 'WRONG']]);
  });

  test('a HOST that is no host, and a DATABASE_URL that is no URL, are named', async () => {
    const { code, errors } = await runRefused(runServer, {
      HOST: 'this host!',
      DATABASE_URL: 'postgresql://user:a#b@127.0.0.1/name',
    });
    expect(code).toBe(1);
    expect(errors).toMatch(/- HOST must be an IP address or a host name of this machine/);
    expect(errors).toMatch(/- DATABASE_URL must be a URL .* %23/);
    expect(errors).not.toMatch(/^ +at /m);
  });
});

/** Runs the work as a user without rights: as root, that is uid 65534. */
async function withoutRights(work: () => Promise<void>): Promise<void> {
  if (process.getuid!() !== 0) return work();
  process.seteuid!(65_534);
  return work().finally(() => process.seteuid!(0));
}

const NEEDS_RIGHTS =
  /^Port 80 needs rights that this user does not have: set PORT to 1024 or more[^\n]*\.$/;

/** Some systems, containers above all, let everybody listen on port 80. */
const UNPRIVILEGED = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
const isGuarded = existsSync(UNPRIVILEGED) && Number(readFileSync(UNPRIVILEGED, 'utf8')) > 80;

describe('a user without rights', () => {
  beforeAll(() => {
    for (const path of [process.env.TRUNKLINE_TEST_FOLDER!, folder]) chmodSync(path, 0o711);
  });

  test('may not make DATA_DIR, and is refused in one line', async () => {
    const closed = join(folder, 'closed');
    mkdirSync(closed, { mode: 0o555 });
    const line =
      /^DATA_DIR: the folder .* cannot be used, because this user has no right .*\(EACCES\)/;
    await withoutRights(() => expectOneLine(runServer, { DATA_DIR: join(closed, 'data') }, line));
  });

  (isGuarded ? test : test.skip)('may not use port 80, and is refused in one line', () =>
    withoutRights(() => expectOneLine(runServer, { PORT: '80' }, NEEDS_RIGHTS)),
  );
});

test('a port that needs rights is named, like any other reason not to listen', () => {
  const explain = (code: string) =>
    listenFault(
      { port: 80, host: '127.0.0.1' },
      Object.assign(new Error(), { code, syscall: 'listen' }),
    ) as Error;
  expect(explain('EACCES').message).toMatch(NEEDS_RIGHTS);
  expect(explain('EMFILE').message).toBe('HOST=127.0.0.1, PORT=80 cannot be used (EMFILE).');
});

test('a start that was refused has made no folder of data', () => {
  expect(existsSync(DATA_DIR)).toBe(false);
});
