import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { openStorage } from '../../../src/platform/storage/open';
import type { Storage } from '../../../src/platform/storage/storage';
import { startS3, type S3Server } from '../../support/s3-server';
import { toStorageKey } from '../../support/storage-keys';

// Guarantees of both storages.

const MEBIBYTE = 1_048_576;
let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3({ page: 2, prefix: 'a/prefix' });
});
afterAll(() => s3.close());

const newFolder = () => mkdtempSync(join(process.env.TRUNKLINE_TEST_FOLDER!, 'storage-'));
const kinds: [string, () => Storage][] = [
  ['a folder', () => openStorage({ folder: newFolder(), reserve_bytes: 0 })],
  ['a bucket', () => openStorage({ folder: newFolder(), reserve_bytes: 0, s3: s3.settings })],
];

describe.each(kinds)('%s', (kind, open) => {
  let storage: Storage;
  beforeAll(() => void (storage = open()));
  const incoming = (content: Buffer | string): string => {
    const file = join(storage.incoming, randomBytes(8).toString('hex'));
    writeFileSync(file, content);
    return file;
  };
  const keys = async (ageMs: number) => {
    const all: string[] = [];
    for await (const some of storage.keysOlderThan(ageMs)) all.push(...some);
    return all.toSorted();
  };
  const loadContent = async (key: string) => {
    const file = await storage.open(key);
    return file && { bytes: file.bytes, content: await buffer(file.stream) };
  };

  test('can be used', async () => {
    await storage.check();
    expect(await keys(-60_000)).toEqual([]);
  });

  test.each([1, 8 * MEBIBYTE, 8 * MEBIBYTE + 1, 20 * MEBIBYTE])(
    'gives a file of %d bytes back as it was, with its size, and leaves the original',
    async (bytes) => {
      const content = randomBytes(bytes);
      const file = incoming(content);
      await storage.keep(file, toStorageKey(bytes));
      const loadedFile = await loadContent(toStorageKey(bytes));
      expect([loadedFile!.bytes, loadedFile!.content.equals(content)]).toEqual([bytes, true]);
      expect(await storage.readSize(toStorageKey(bytes))).toBe(bytes);
      expect(existsSync(file)).toBe(true);
      await storage.remove(toStorageKey(bytes));
      expect(await storage.open(toStorageKey(bytes))).toBeUndefined();
    },
  );

  test('has no file under a key that none was stored under', async () => {
    expect(await storage.open(toStorageKey(404))).toBeUndefined();
    expect(await storage.readSize(toStorageKey(404))).toBeUndefined();
    await storage.remove(toStorageKey(404));
  });

  test('stores nothing of a file that there is not', async () => {
    const file = join(storage.incoming, 'none');
    await expect(storage.keep(file, toStorageKey(405))).rejects.toThrow('ENOENT');
    expect(await storage.readSize(toStorageKey(405))).toBeUndefined();
  });

  test('lets a reader leave before the end', async () => {
    await storage.keep(incoming(randomBytes(4 * MEBIBYTE)), toStorageKey(406));
    const { stream } = (await storage.open(toStorageKey(406)))!;
    await once(stream, 'readable');
    stream.destroy();
    await once(stream, 'close');
    const unread = (await storage.open(toStorageKey(406)))!.stream;
    unread.destroy();
    await once(unread, 'close');
    await storage.remove(toStorageKey(406));
  });

  test('lists all keys of a certain age, also where there are many', async () => {
    const all = [1, 2, 3, 4, 5].map(toStorageKey);
    for (const key of all) await storage.keep(incoming('x'), key);
    expect(await keys(-60_000)).toEqual(all);
    expect(await keys(60_000)).toEqual([]);
    await storage.remove(toStorageKey(3));
    expect(await keys(-60_000)).toEqual(all.filter((key) => key !== toStorageKey(3)));
  });

  test('clears what was left of requests, by its age', async () => {
    const [old, young] = [incoming('x'), incoming('y')];
    utimesSync(old, 1, 1);
    await storage.clearIncoming(60_000);
    expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
    await storage.clearIncoming(-60_000);
    expect(readdirSync(storage.incoming)).toEqual([]);
  });

  test('knows whether its disk has room for what arrives', async () => {
    expect(await storage.hasRoomFor(1)).toBe(true);
    expect(await storage.hasRoomFor(1e18)).toBe(false);
  });

  if (kind === 'a bucket')
    test('keeps its objects below the prefix', async () => {
      expect(await s3.objects()).toEqual(
        [1, 2, 4, 5].map((n) => `a/prefix/files/${toStorageKey(n)}`),
      );
    });
});
