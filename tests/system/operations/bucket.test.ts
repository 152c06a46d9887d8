import { execFile } from 'node:child_process';
import { mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtProduct } from '../../support/build';
import { runProgram, TYPESCRIPT } from '../../support/process';
import { repetitions } from '../../support/repetitions';
import { startS3, type S3Server } from '../../support/s3-server';

// A bucket costs a process the memory of a few parts, and a library that is loaded only for it.

const ROOT = join(__dirname, '../../..');
const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'bucket-'));
let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3({ prefix: 'live' });
});
afterAll(() => s3.close());

test('without a bucket, the library is not loaded', () => {
  const script = `
    for (const name of ['main/server', 'main/worker', 'main/app', 'main/background/start'])
      require('./dist/' + name);
    const { openStorage } = require('./dist/platform/storage/open');
    openStorage({ folder: ${JSON.stringify(newFolder())}, reserve_bytes: 0 }).check();
    const loaded = Object.keys(require.cache).filter((file) => file.includes('@aws-sdk'));
    process.stdout.write(String(loaded.length));`;
  const ended = runProgram('node', ['-e', script], { cwd: builtProduct(), env: {} });
  expect(ended).toEqual({ code: 0, output: '0', errors: '' });
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
  // This process goes on meanwhile: the bucket is in it.
  const { stdout } = await promisify(execFile)(
    'node',
    [...TYPESCRIPT, 'tests/support/s3-memory.run.ts', folder, 'small', 'large'],
    {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        ...s3.environment,
      } as NodeJS.ProcessEnv,
    },
  );
  const measured = JSON.parse(stdout) as { bytes: number; grown: number };
  expect(measured.bytes).toBe(bytes);
  expect(measured.grown).toBeLessThan(60 * 1_048_576);
});
