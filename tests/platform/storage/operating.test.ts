import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyToBucket } from '../../../src/main/cli/storage';
import { loadConfig } from '../../../src/main/config';
import { freePort, startServer, TYPESCRIPT } from '../../support/process';
import { toStorageKey } from '../../support/storage-keys';
import { repetitions } from '../../support/repetitions';
import { startS3, type S3Server } from '../../support/s3-server';
import { freshDatabase, PEPPER_OF_TESTS } from '../../support/world';

// A bucket, as operators meet it: settings, start, doctor, storage copy, memory.

const ROOT = join(__dirname, '../../..');
const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'operating-'));
let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3({ prefix: 'live' });
});
afterAll(() => s3.close());

/** Runs a script to its end, while this process goes on: the bucket is in it. */
const run = (file: string, args: string[], environment: Record<string, string>) =>
  new Promise<{ code: number; output: string; errors: string }>((done) => {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment };
    const options = { cwd: ROOT, env: env as NodeJS.ProcessEnv };
    execFile('node', [...TYPESCRIPT, file, ...args], options, (error, output, errors) =>
      done({ code: error ? Number(error.code) : 0, output, errors }),
    );
  });

describe('settings', () => {
  const BUCKET = { S3_BUCKET: 'bucket', AWS_REGION: 'eu-west-1' };
  const KEYS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };

  test('none of them: files are in the folder', () => {
    expect(loadConfig({ ...KEYS, AWS_REGION: 'eu-west-1' }).s3).toBeUndefined();
  });

  test('a bucket of Amazon S3, with the credentials that AWS gives the machine', () => {
    expect(loadConfig(BUCKET).s3).toEqual({
      bucket: 'bucket',
      prefix: '',
      region: 'eu-west-1',
      endpoint: undefined,
      path_style: false,
      credentials: undefined,
    });
  });

  test('a bucket of another service', () => {
    const S3_ENDPOINT = 'https://s3.example.com/';
    const settings = { S3_BUCKET: 'bucket', S3_ENDPOINT, S3_PREFIX: 'apps/trunkline', ...KEYS };
    expect(loadConfig(settings).s3).toEqual({
      bucket: 'bucket',
      prefix: 'apps/trunkline/',
      region: 'us-east-1',
      endpoint: 'https://s3.example.com',
      path_style: true,
      credentials: { id: 'id', secret: 'secret', session: undefined },
    });
    expect(loadConfig({ ...settings, S3_FORCE_PATH_STYLE: 'false' }).s3!.path_style).toBe(false);
  });

  const faults: [Record<string, string>, string][] = [
    [{ S3_ENDPOINT: 'https://s3.example.com' }, 'S3_BUCKET must be given with S3_ENDPOINT'],
    [{ S3_PREFIX: 'x' }, 'S3_BUCKET must be given with S3_PREFIX'],
    [{ S3_FORCE_PATH_STYLE: 'true' }, 'S3_BUCKET must be given with S3_FORCE_PATH_STYLE'],
    [{ S3_BUCKET: 'bucket' }, 'AWS_REGION must be given with S3_BUCKET, or S3_ENDPOINT'],
    [
      { ...BUCKET, AWS_ACCESS_KEY_ID: 'id' },
      'AWS_SECRET_ACCESS_KEY must be given with AWS_ACCESS_KEY_ID',
    ],
    [
      { ...BUCKET, AWS_SECRET_ACCESS_KEY: 'secret' },
      'AWS_ACCESS_KEY_ID must be given with AWS_SECRET_ACCESS_KEY',
    ],
    [
      { ...BUCKET, AWS_SESSION_TOKEN: 'token' },
      'AWS_ACCESS_KEY_ID must be given with AWS_SESSION_TOKEN',
    ],
    [
      { ...BUCKET, S3_BUCKET: 'My_Bucket' },
      'S3_BUCKET must be the name of a bucket: 3 to 63 of a-z, 0-9, hyphen and dot',
    ],
    [
      { ...BUCKET, S3_PREFIX: '/x' },
      'S3_PREFIX must be a prefix such as trunkline or apps/trunkline',
    ],
    [
      { ...BUCKET, S3_ENDPOINT: 's3.example.com' },
      'S3_ENDPOINT must be a URL such as https://s3.example.com',
    ],
  ];
  test.each(faults)('%j are refused by name', (environment, fault) => {
    expect(() => loadConfig(environment)).toThrow(
      `The configuration cannot be used:\n  - ${fault}`,
    );
  });
});

describe('a start', () => {
  type Change = (environment: Record<string, string>) => Record<string, string>;
  const wrong: [string, string, Change, RegExp][] = [
    [
      'server with a bucket that there is not',
      'src/main/server.ts',
      (environment) => ({ ...environment, S3_BUCKET: 'nowhere' }),
      /^S3_BUCKET: http:\S+ has no bucket "nowhere"; make it, or correct S3_BUCKET\.\n$/,
    ],
    [
      'worker with a service that is down',
      'src/main/worker.ts',
      (environment) => ({ ...environment, S3_ENDPOINT: 'http://127.0.0.1:1' }),
      /^S3_ENDPOINT: http:\/\/127\.0\.0\.1:1 does not answer \(ECONNREFUSED\); .*\.\n$/,
    ],
  ];
  test.each(wrong)('of the %s is refused in one line', async (_, program, change, line) => {
    const settings = { PORT: String(await freePort()), DATA_DIR: newFolder() };
    const ended = await run(program, [], { ...settings, ...change(s3.environment) });
    expect(ended).toEqual({ code: 1, output: '', errors: expect.stringMatching(line) });
    // Nothing else was made: no database either.
    expect(readdirSync(settings.DATA_DIR)).toEqual(['storage']);
  });

  test('with a bucket that can be used serves, and leaves its mark in it', async () => {
    const server = await startServer({
      ...s3.environment,
      DATABASE_URL: await freshDatabase(),
      DATA_DIR: newFolder(),
      KEY_PEPPER: PEPPER_OF_TESTS,
    });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(await server.end('SIGTERM')).toBe(0);
    expect(await s3.objects()).toEqual(['live/files/installation']);
    expect(server.output()).not.toContain('Warning');
  });

  test('without a bucket does not load the library', async () => {
    const script = join(newFolder(), 'loaded.ts');
    const names = ['src/main/app', 'src/operate/installation/deps', 'src/main/background/start'];
    const imports = names.map((name) => `require(${JSON.stringify(join(ROOT, name))});`).join('\n');
    writeFileSync(
      script,
      `${imports}
      const { openStorage } = require(${JSON.stringify(join(ROOT, 'src/platform/storage/open'))});
      openStorage({ folder: ${JSON.stringify(newFolder())}, reserve_bytes: 0 }).check();
      const loaded = Object.keys(require.cache).filter((file) => file.includes('@aws-sdk'));
      process.stdout.write(String(loaded.length));`,
    );
    expect(await run(script, [], {})).toMatchObject({ code: 0, output: '0' });
  });
});

describe('doctor', () => {
  const readStorageCheck = async (environment: Record<string, string>) => {
    const settings = { DATA_DIR: newFolder(), PORT: String(await freePort()) };
    const { output } = await run('src/main/cli/index.ts', ['doctor', '--json'], {
      ...settings,
      ...environment,
    });
    return (JSON.parse(output) as { check: string }[]).find(({ check }) => check === 'storage');
  };

  test('says that the bucket can be used', async () => {
    expect(await readStorageCheck(s3.environment)).toEqual({
      check: 'storage',
      ok: true,
      finding: `s3://files-of-tests/live/ at ${s3.url} can be written`,
    });
  });

  test('says what is wrong', async () => {
    expect(await readStorageCheck({ ...s3.environment, S3_BUCKET: 'nowhere' })).toEqual({
      check: 'storage',
      ok: false,
      finding: `S3_BUCKET: ${s3.url} has no bucket "nowhere"; make it, or correct S3_BUCKET.`,
    });
  });
});

describe('storage copy', () => {
  const STORAGE_DIR = newFolder();
  const files = join(STORAGE_DIR, 'files');
  const buildConfig = (folder = STORAGE_DIR, environment = s3.environment) =>
    loadConfig({ STORAGE_DIR: folder, ...environment });
  const names = [1, 2, 3].map(toStorageKey);
  const fourth = toStorageKey(4);
  beforeAll(() => {
    mkdirSync(files);
    names.forEach((name, n) => writeFileSync(join(files, name), 'x'.repeat(n + 1)));
  });

  test('copies each file once, and again when its size differs', async () => {
    const environment = { ...s3.environment, DATA_DIR: newFolder(), STORAGE_DIR };
    const first = await run('src/main/cli/index.ts', ['storage', 'copy', '--json'], environment);
    expect({ ...first, output: JSON.parse(first.output) as unknown }).toEqual({
      code: 0,
      errors: '',
      output: {
        from: STORAGE_DIR,
        to: `s3://files-of-tests/live/ at ${s3.url}`,
        copied: 3,
        copied_bytes: 6,
        present: 0,
      },
    });
    const copies = (await s3.objects()).filter((key) => key !== 'live/files/installation');
    expect(copies).toEqual(names.map((key) => `live/files/${key}`));
    writeFileSync(join(files, names[2]!), 'longer');
    const oneCopied = { copied: 1, copied_bytes: 6, present: 2 };
    expect(await copyToBucket(buildConfig())).toMatchObject(oneCopied);
    const nothing = { copied: 0, copied_bytes: 0, present: 3 };
    expect(await copyToBucket(buildConfig(newFolder()), STORAGE_DIR)).toMatchObject(nothing);
    expect(readdirSync(files).toSorted()).toEqual(names);
  });

  test('ends with an error when less arrived than was sent', async () => {
    writeFileSync(join(files, fourth), 'four');
    s3.hook = (req, res) => {
      if (req.method !== 'PUT' || !req.url!.includes(fourth)) return false;
      req.resume();
      res.writeHead(200, { ETag: '"x"' }).end();
      return true;
    };
    const copying = copyToBucket(buildConfig());
    await expect(copying).rejects.toThrow(
      `${fourth} has no bytes after it was copied, instead of 4.`,
    );
    s3.hook = () => false;
    rmSync(join(files, fourth));
  });

  test('says what is missing', async () => {
    await expect(copyToBucket(buildConfig(STORAGE_DIR, {}))).rejects.toThrow(
      'S3_BUCKET: it must be given, to say where to copy to.',
    );
    const empty = newFolder();
    await expect(copyToBucket(buildConfig(), empty)).rejects.toThrow(
      `--from: ${empty} is no folder of uploaded files: it has no folder "files".`,
    );
  });
});

const MEGABYTES = repetitions(128, 1_024);
test(`a file of ${MEGABYTES} MB is stored and read in the memory of a few parts`, async () => {
  const [folder, bytes] = [newFolder(), MEGABYTES * 1_048_576];
  for (const [name, size] of [
    ['small', 8 * 1_048_576 + 1],
    ['large', bytes],
  ] as const) {
    writeFileSync(join(folder, name), '');
    truncateSync(join(folder, name), size);
  }
  const script = 'tests/support/s3-memory.run.ts';
  const { output } = await run(script, [folder, 'small', 'large'], s3.environment);
  const measured = JSON.parse(output) as { bytes: number; grown: number };
  expect(measured.bytes).toBe(bytes);
  expect(measured.grown).toBeLessThan(60 * 1_048_576);
});
