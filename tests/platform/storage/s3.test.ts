import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { openS3 } from '../../../src/platform/storage/s3';
import { S3_TIMEOUTS, type S3Timeouts } from '../../../src/platform/storage/s3-bucket';
import type { S3Settings } from '../../../src/platform/storage/s3-settings';
import { StorageUnavailable, type Storage } from '../../../src/platform/storage/storage';
import { breakAfter, startS3, type S3Server } from '../../support/s3-server';
import { toStorageKey } from '../../support/storage-keys';

// Failures between a process and a bucket.

const MEBIBYTE = 1_048_576;
const IMPATIENT: S3Timeouts = {
  connect: 300,
  idle: 300,
  request: 1_000,
  transfer: 2_000,
  pauses: [10, 20, 30],
};
let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3();
  storage = open();
  impatient = open({}, IMPATIENT);
});
beforeEach(async () => {
  s3.hook = () => false;
  s3.forget();
});
afterAll(() => s3.close());

const folder = mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 's3-'));
const open = (settings: Partial<S3Settings> = {}, timeouts = S3_TIMEOUTS) =>
  openS3({ folder, reserve_bytes: 0 }, { ...s3.settings, ...settings }, timeouts);
let storage: Storage;
/** With short limits. */
let impatient: Storage;
let files = 0;
function newFile(content: Buffer | string): { file: string; key: string } {
  const key = toStorageKey((files += 1));
  const file = join(storage.incoming, key);
  writeFileSync(file, content);
  return { file, key };
}
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('a download', () => {
  const content = randomBytes(3 * MEBIBYTE);
  let key: string;
  beforeAll(async () => {
    const createdFile = newFile(content);
    await storage.keep(createdFile.file, (key = createdFile.key));
  });

  test.each(['cut', 'stall'] as const)(
    'continues where it was after its connections were broken (%s)',
    async (how) => {
      let broken = 0;
      s3.hook = (_req, res) => {
        if (broken++ < 3) breakAfter(500_000, res, how);
        return false;
      };
      const { stream, bytes } = (await impatient.open(key))!;
      expect([bytes, sha256(await buffer(stream))]).toEqual([content.length, sha256(content)]);
      const ranges = s3.requests().map((request) => Number(/bytes=(\d+)-$/.exec(request)?.[1]));
      expect(ranges).toHaveLength(4);
      expect(ranges.slice(1)).toEqual(ranges.slice(1).toSorted((a, b) => a - b));
      expect(ranges[1]).toBeGreaterThan(0);
    },
  );

  test('ends as unavailable when the bucket stays away', async () => {
    s3.hook = (req, res) => {
      if (req.headers.range) res.destroy();
      else breakAfter(500_000, res, 'cut');
      return false;
    };
    const { stream } = (await impatient.open(key))!;
    await expect(buffer(stream)).rejects.toThrow(StorageUnavailable);
  });

  test('ends as unavailable when the object is deleted meanwhile', async () => {
    const { file, key: deletedKey } = newFile(content);
    await storage.keep(file, deletedKey);
    s3.hook = (_req, res) => {
      breakAfter(500_000, res, 'cut');
      return false;
    };
    const { stream } = (await impatient.open(deletedKey))!;
    await storage.remove(deletedKey);
    await expect(buffer(stream)).rejects.toThrow(StorageUnavailable);
  });
});

describe('an upload', () => {
  test('is sent in parts, each with its digest', async () => {
    const content = randomBytes(20 * MEBIBYTE);
    const digests: unknown[] = [];
    s3.hook = (req) => {
      if (req.method === 'PUT') digests.push(req.headers['x-amz-content-sha256']);
      return false;
    };
    const { file, key } = newFile(content);
    await storage.keep(file, key);
    const parts = [0, 8, 16].map((at) => content.subarray(at * MEBIBYTE, (at + 8) * MEBIBYTE));
    expect(digests).toEqual(parts.map(sha256));
  });

  test('that the bucket refuses for a moment is tried again', async () => {
    let refused = 0;
    s3.hook = (_req, res) => {
      if (++refused > 2) return false;
      res.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
      return true;
    };
    const { file, key } = newFile('content');
    await storage.keep(file, key);
    expect([await storage.readSize(key), refused]).toEqual([7, 4]);
  });

  test('of which a part is lost leaves no object, and takes its parts back', async () => {
    s3.hook = (req, res) => {
      if (!req.url!.includes('partNumber=2')) return false;
      res.destroy();
      return true;
    };
    const { file, key } = newFile(randomBytes(20 * MEBIBYTE));
    await expect(storage.keep(file, key)).rejects.toThrow(StorageUnavailable);
    expect(await s3.objects()).not.toContain(`files/${key}`);
    expect(s3.requests().some((line) => /^DELETE .*uploadId=/.test(line))).toBe(true);
  });

  test('whose last answer was lost is complete', async () => {
    let completions = 0;
    s3.hook = (req, res) => {
      if (req.method !== 'POST' || !req.url!.includes('uploadId')) return false;
      if (++completions === 1) {
        res.end = (() => res.socket?.destroy()) as never;
        return false;
      }
      res.writeHead(404).end('<Error><Code>NoSuchUpload</Code><Message>x</Message></Error>');
      return true;
    };
    const { file, key } = newFile(randomBytes(9 * MEBIBYTE));
    await storage.keep(file, key);
    expect([completions, await storage.readSize(key)]).toEqual([2, 9 * MEBIBYTE]);
  });
});

describe.each<[string, () => Promise<void> | void, () => Promise<void> | void]>([
  ['is stopped', () => s3.stop(), () => s3.start()],
  ['does not answer', () => void (s3.hook = () => true), () => undefined],
  [
    'answers 500',
    () => {
      s3.hook = (_req, res) => {
        res.writeHead(500).end();
        return true;
      };
    },
    () => undefined,
  ],
])('a service that %s', (_, away, back) => {
  beforeAll(away);
  afterAll(back);
  beforeEach(away);

  test.each<[string, () => Promise<unknown>]>([
    ['open', () => impatient.open(toStorageKey(0))],
    ['keep', () => impatient.keep(newFile('x').file, toStorageKey(0))],
    [
      'keep in parts',
      () => impatient.keep(newFile(randomBytes(9 * MEBIBYTE)).file, toStorageKey(0)),
    ],
    ['remove', () => impatient.remove(toStorageKey(0))],
    ['bytesOf', () => impatient.readSize(toStorageKey(0))],
    ['keysOlderThan', () => impatient.keysOlderThan(0)[Symbol.asyncIterator]().next()],
  ])('makes %s unavailable, after a limited time', async (_name, work) => {
    await expect(work()).rejects.toThrow(StorageUnavailable);
  });
});

describe('the check at the start', () => {
  test('leaves nothing in the bucket', async () => {
    const before = await s3.objects();
    await open().check();
    expect(await s3.objects()).toEqual(before);
  });

  const faults: [string, Partial<S3Settings>, RegExp][] = [
    [
      'a bucket that does not exist',
      { bucket: 'nowhere' },
      /^S3_BUCKET: http:\S+ has no bucket "nowhere"; make it, or correct S3_BUCKET\.$/,
    ],
    [
      'credentials that the service does not know',
      { credentials: { id: 'unknown', secret: 'unknown', session: undefined } },
      /^S3_BUCKET: http:\S+ does not allow s3:ListBucket .*check AWS_ACCESS_KEY_ID/,
    ],
    [
      'an endpoint where nothing listens',
      { endpoint: 'http://127.0.0.1:1' },
      /^S3_ENDPOINT: http:\/\/127\.0\.0\.1:1 does not answer \(ECONNREFUSED\); correct it/,
    ],
    [
      'an endpoint that there is not',
      { endpoint: 'http://nowhere.invalid' },
      /^S3_ENDPOINT: http:\/\/nowhere\.invalid does not answer \((ENOTFOUND|EAI_AGAIN)\); /,
    ],
  ];
  test.each(faults)('names the variable that is wrong: %s', async (_, settings, sentence) => {
    await expect(open(settings).check()).rejects.toThrow(sentence);
  });

  test.each([
    ['PUT', 's3:PutObject'],
    ['GET', 's3:GetObject'],
    ['DELETE', 's3:DeleteObject'],
  ])('names the right that is missing: %s', async (method, right) => {
    s3.hook = (req, res) => {
      if (req.method !== method) return false;
      res.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>no</Message></Error>');
      return true;
    };
    await expect(open().check()).rejects.toThrow(`does not allow ${right} in the bucket`);
  });

  test('names the region of a bucket that is in another one', async () => {
    s3.hook = (_req, res) => {
      res.writeHead(301, { 'x-amz-bucket-region': 'eu-west-1' }).end();
      return true;
    };
    await expect(open().check()).rejects.toThrow(
      'AWS_REGION: the bucket "files-of-tests" is in eu-west-1, not in us-east-1; correct it.',
    );
  });
});
