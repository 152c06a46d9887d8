import { createSocket, type Socket } from 'node:dgram';
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { nameResolver } from '../../src/egress/resolve-names';

// Names that resolve slowly, which a customer can put into any webhook, hold up no other lookup.

const ADDRESS = [203, 0, 113, 7];
let server: Socket;
let servers: string[];
let asked = 0;

/** A name server that knows the names that begin with "fast", and never answers for others. */
beforeAll(async () => {
  server = createSocket('udp4').on('message', (query, { port, address }) => {
    asked++;
    const name_length = query.indexOf(0, 12) - 12;
    const is_known = query.subarray(13, 17).toString() === 'fast';
    const is_ipv4 = query.readUInt16BE(12 + name_length + 1) === 1;
    if (!is_known) return;
    const question = query.subarray(12, 12 + name_length + 5);
    const header = Buffer.from([
      ...query.subarray(0, 2),
      0x81,
      0x80,
      0,
      1,
      0,
      Number(is_ipv4),
      0,
      0,
      0,
      0,
    ]);
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...ADDRESS]);
    server.send(Buffer.concat([header, question, ...(is_ipv4 ? [answer] : [])]), port, address);
  });
  await new Promise<void>((done) => server.bind(0, '127.0.0.1', done));
  servers = [`127.0.0.1:${(server.address() as AddressInfo).port}`];
});
afterAll(() => void server.close());

const failure = (lookup: Promise<LookupAddress[]>) =>
  lookup.then(
    () => undefined,
    ({ code }: NodeJS.ErrnoException) => code,
  );

test('fifty slow names delay neither other names nor the lookups of the process', async () => {
  const lookup = nameResolver({ servers, timeout_ms: 1_000 });
  let failed = 0;
  const slow = Array.from({ length: 50 }, (_, n) =>
    failure(lookup(`slow-${n}.example.com`)).then((code) => {
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
  const hosts_file = join(process.env.TRUNKLINE_TEST_FOLDER!, 'hosts');
  writeFileSync(
    hosts_file,
    '# names\n192.0.2.1 one.test ONE # first\n2001:db8::1 one.test\nbroken\n',
  );
  const lookup = nameResolver({ servers, hosts_file });
  const before = asked;
  expect(await lookup('One.Test.')).toEqual([
    { address: '192.0.2.1', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ]);
  expect((await lookup('one'))[0]!.address).toBe('192.0.2.1');
  expect((await lookup('app.localhost')).map(({ address }) => address)).toEqual([
    '127.0.0.1',
    '::1',
  ]);
  expect(asked).toBe(before);
});

test('a name that no server knows is not found', async () => {
  const none = nameResolver({ servers: ['127.0.0.1:1'], hosts_file: '/nowhere' });
  expect(await failure(none('unknown.example.com'))).toBe('ENOTFOUND');
});
