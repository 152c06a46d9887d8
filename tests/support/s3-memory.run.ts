import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { loadConfig } from '../../src/main/config';
import { openStorage } from '../../src/platform/storage/open';
import { toStorageKey } from './storage-keys';

// Stores a file in a bucket and reads it; prints by how many bytes the process grew meanwhile.

async function main(): Promise<void> {
  const [folder, small, large] = process.argv.slice(2) as [string, string, string];
  const { s3 } = loadConfig();
  const storage = openStorage({ folder, reserve_bytes: 0, s3 });
  const read = async (key: string) => {
    let bytes = 0;
    const count = new Writable({
      write: (piece: Buffer, _encoding, done) => {
        bytes += piece.length;
        done();
      },
    });
    await pipeline((await storage.open(key))!.stream, count);
    return bytes;
  };
  // A first file of one part: what is loaded and kept once does not count.
  for (const key of [toStorageKey(1), toStorageKey(2)]) {
    await storage.keep(join(folder, small), key);
    await read(key);
  }
  const before = process.resourceUsage().maxRSS;
  await storage.keep(join(folder, large), toStorageKey(3));
  const bytes = await read(toStorageKey(3));
  const grown = (process.resourceUsage().maxRSS - before) * 1024;
  process.stdout.write(JSON.stringify({ bytes, grown }));
}

void main();
