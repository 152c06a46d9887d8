import { readdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { openDirectory } from '../../../src/platform/storage/directory';
import { useWorld } from '../../support/use-world';
import { buildApp, basic } from '../../support/world';

// An upload that does not say how long it is cannot use up the reserve of the disk.

const CHUNK = Buffer.alloc(1_000_000, '3105550123\n');
const CHUNKS = 200;
const HEAD = '--x\r\nContent-Disposition: form-data; name="import_file"; filename="a.csv"\r\n\r\n';
const world = useWorld();

test('a chunked upload is refused as soon as it reaches the reserve, and leaves nothing', async () => {
  const { storage_dir } = world.deps.config;
  const answers: boolean[] = [];
  let free = 60_000_000;
  const storage = {
    ...openDirectory({ folder: storage_dir, reserve_bytes: 0 }),
    hasRoomFor: async (bytes: number) => {
      free -= bytes;
      answers.push(free >= 0);
      return free >= 0;
    },
  };
  const server = buildApp({ ...world.deps, storage }).listen(0);
  expect(await upload((server.address() as AddressInfo).port)).toBe(507);
  server.close();
  expect(readdirSync(join(storage_dir, 'incoming'))).toEqual([]);
  // The fourth piece does not fit; of the other eight nothing is written.
  expect(answers).toEqual([true, true, true, true, false]);
});

/** Sends a form in chunks, without its length, and returns the status of the answer. */
function upload(port: number): Promise<number | undefined> {
  const headers = {
    Authorization: basic(world.company.auth),
    'Content-Type': 'multipart/form-data; boundary=x',
  };
  const path = '/api/v1/buyer_suppression_files';
  return new Promise((done, fail) => {
    const req = request({ port, method: 'POST', path, headers });
    req.on('response', (res) => done(res.resume().statusCode)).on('error', fail);
    const body = Readable.from([HEAD, ...Array<Buffer>(CHUNKS).fill(CHUNK), '\r\n--x--\r\n']);
    body.pipe(req);
  });
}
