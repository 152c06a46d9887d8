import { createSocket, type Socket } from 'node:dgram';
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createNameResolver } from '../../../src/platform/egress/resolve-names';

// Names that resolve slowly, which a customer can put into any webhook, hold up no other lookup.

const ADDRESS = [203, 0, 113, 7];
let server: Socket;
let servers: string[];
let queryCount = 0;

/** A name server that knows the names that begin with "fast", and never answers for others. */
beforeAll(async () => {
  server = createSocket('udp4').on('message', (query, { port, address }) => {
    queryCount++;
    const nameLength = query.indexOf(0, 12) - 12;
    const isKnown = query.subarray(13, 17).toString() === 'fast';
    const isIpv4 = query.readUInt16BE(12 + nameLength + 1) === 1;
    if (!isKnown) return;
    const question = query.subarray(12, 12 + nameLength + 5);
    const header = Buffer.from([
      ...query.subarray(0, 2),
      0x81,
      0x80,
      0,
      1,
      0,
      Number(isIpv4),
      0,
      0,
      0,
      0,
    ]);
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...ADDRESS]);
    server.send(Buffer.concat([header, question, ...(isIpv4 ? [answer] : [])]), port, address);
  });
  await new Promise<void>((done) => server.bind(0, '127.0.0.1', done));
  servers = [`127.0.0.1:${(server.address() as AddressInfo).port}`];
});
afterAll(() => void server.close());

const readFailure = (lookup: Promise<LookupAddress[]>) =>
  lookup.then(
    () => undefined,
    ({ code }: NodeJS.ErrnoException) => code,
  );

test('fifty slow names delay neither other names nor the lookups of the process', async () => {
  const lookup = createNameResolver({ servers, timeout_ms: 1_000 });
  let failed = 0;
  const slow = Array.from({ length: 50 }, (_, n) =>
    readFailure(lookup(`slow-${n}.example.com`)).then((code) => {
      failed++;
      return code;
    }),
  );
  expect(await lookup('fast.example.com')).toEqual([{ address: ADDRESS.join('.'), family: 4 }]);
  await new Promise((done) => systemLookup('localhost', done));
  expect(failed).toBe(0);
  expect(new Set(await Promise.all(slow))).toEqual(new Set(['ETIMEDOUT']));
});

test('the hosts file comes first, and localhost is never asked of a name server', async () => {
  const hostsFile = join(process.env.TRUNKLINE_TEST_FOLDER!, 'hosts');
  writeFileSync(
    hostsFile,
    '# names\n192.0.2.1 one.test ONE # first\n2001:db8::1 one.test\nbroken\n',
  );
  const lookup = createNameResolver({ servers, hosts_file: hostsFile });
  const before = queryCount;
  expect(await lookup('One.Test.')).toEqual([
    { address: '192.0.2.1', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ]);
  expect((await lookup('one'))[0]!.address).toBe('192.0.2.1');
  expect((await lookup('app.localhost')).map(({ address }) => address)).toEqual([
    '127.0.0.1',
    '::1',
  ]);
  expect(queryCount).toBe(before);
});

test('a name that no server knows is not found', async () => {
  const none = createNameResolver({ servers: ['127.0.0.1:1'], hosts_file: '/nowhere' });
  expect(await readFailure(none('unknown.example.com'))).toBe('ENOTFOUND');
});
