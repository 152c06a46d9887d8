import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import {
  guardedRequest,
  refusedHeaders,
  refusedUrl,
  type Lookup,
  type Outgoing,
} from '../../src/egress/guarded-request';
import { LITERALS } from '../support/refused-hosts';

const LOOPBACK = ['127.0.0.0/8', '::1'];
const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

/** A server on loopback that counts who connects. */
async function listen(
  listener: RequestListener,
  host = '127.0.0.1',
  port = 0,
): Promise<{ port: number; connections: () => number; close: () => void }> {
  let connections = 0;
  const server: Server = createServer(listener).on('connection', () => connections++);
  await new Promise<void>((done, fail) => server.once('error', fail).listen(port, host, done));
  opened.push(() => (server.closeAllConnections(), server.close()));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    close: opened.at(-1)!,
  };
}

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

function guarded(allow_networks: string[] = [], lookup?: Lookup) {
  const send = guardedRequest({ allow_networks, lookup });
  opened.unshift(send.close);
  return (url: string, more: Partial<Outgoing> = {}) =>
    send({ url, method: 'GET', headers: {}, timeout_ms: 2_000, ...more });
}

const names =
  (...addresses: string[]): Lookup =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

const UNREADABLE = [
  '[::1%25lo]',
  '[fe80::1%25eth0]',
  '[::ffff:0x7f.1]',
  '256.0.0.1',
  '0x100000000',
  '127.0.0.1%00',
  '127.0.0.0x',
  '[::1',
  '',
];

describe('addresses that are not the internet’s', () => {
  test('no spelling of one is connected to', async () => {
    const canary = await listen((_, res) => res.end());
    const six = hasIpv6 ? await listen((_, res) => res.end(), '::1', canary.port) : canary;
    expect(LITERALS.length).toBeGreaterThan(95);
    const send = guarded([], names('127.0.0.1'));
    for (const scheme of ['http', 'https'])
      for (const host of LITERALS)
        expect([host, await send(`${scheme}://${host}:${canary.port}/`)]).toEqual([
          host,
          { ok: false, reason: 'refused_address', duration_ms: expect.any(Number) },
        ]);
    expect(LITERALS.filter((host) => !refusedUrl(`http://${host}/`, []))).toEqual([]);
    for (const host of UNREADABLE)
      expect([host, await send(`http://${host}:${canary.port}/`)]).toEqual([
        host,
        expect.objectContaining({ ok: false }),
      ]);
    for (const url of [
      `http:127.0.0.1:${canary.port}`,
      `http:\\\\127.0.0.1:${canary.port}`,
      ` http://127.0.\n0.1:${canary.port}`,
      `http:///127.0.0.1:${canary.port}`,
    ])
      expect(await send(url)).toMatchObject({ reason: 'refused_address' });
    expect([canary.connections(), six.connections()]).toEqual([0, 0]);
  });

  test('no name leads to one', async () => {
    const canary = await listen((_, res) => res.end());
    const at = `http://name.test:${canary.port}/`;
    for (const addresses of [
      ['127.0.0.1'],
      ['8.8.8.8', '127.0.0.1'],
      ['2606:4700::1111', '::1'],
      ['::ffff:127.0.0.1'],
      ['fe80::1%lo'],
      ['64:ff9b::7f00:1'],
      ['no address'],
    ])
      expect(await guarded([], names(...addresses))(at)).toMatchObject({
        ok: false,
        reason: 'refused_address',
      });
    for (const host of [
      '127.0.0.1..',
      '127.0.0.1.nip.io',
      'metadata',
      'metadata.google.internal',
      'ip6-localhost',
    ])
      expect(await guarded([], names('127.0.0.1'))(`http://${host}:${canary.port}/`)).toMatchObject(
        { ok: false, reason: 'refused_address' },
      );
    expect(await guarded([], names())(at)).toMatchObject({ reason: 'name not found' });
    expect(canary.connections()).toBe(0);
  });

  test('a name that leads elsewhere the second time is judged by where it leads then', async () => {
    const [canary, outside] = [
      await listen((_, res) => res.end()),
      await listen((_, res) => res.setHeader('connection', 'close').end('outside'), '127.0.0.2'),
    ];
    const answers = [['127.0.0.2'], ['127.0.0.1'], ['127.0.0.2', '127.0.0.1']];
    let asked = 0;
    const send = guarded(['127.0.0.2/32'], (name) => names(...answers[asked++]!)(name));
    expect(await send(`http://name.test:${outside.port}/`)).toMatchObject({
      ok: true,
      body: 'outside',
    });
    // Asked once for one connection: between what is judged and what is connected to there is no second answer.
    expect(asked).toBe(1);
    for (let i = 0; i < 2; i++)
      expect(await send(`http://name.test:${canary.port}/`)).toMatchObject({
        ok: false,
        reason: 'refused_address',
      });
    expect([asked, canary.connections()]).toEqual([3, 0]);
  });

  test('a redirect to one is an answer', async () => {
    const canary = await listen((_, res) => res.end());
    const outside = await listen(
      (_, res) => res.writeHead(302, { location: `http://127.0.0.1:${canary.port}/` }).end(),
      '127.0.0.2',
    );
    const answer = await guarded(['127.0.0.2'])(`http://127.0.0.2:${outside.port}/`);
    expect(answer).toMatchObject({
      ok: true,
      code: 302,
      headers: { location: expect.any(String) },
    });
    expect(canary.connections()).toBe(0);
  });

  test('public addresses beside them are not refused', () => {
    const beside =
      '1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0';
    const more =
      '192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 example.com example.com. localhost.example.com notlocalhost';
    const six =
      '[2606:4700::1111] [2001:200::1] [2001:db7:ffff::] [2001:db9::] [2003::1] [3ffe::1] [::ffff:8.8.8.8] [64:ff9b::8.8.8.8]';
    expect(
      `${beside} ${more} ${six}`.split(' ').filter((host) => refusedUrl(`https://${host}/`, [])),
    ).toEqual([]);
  });

  test('allowed networks open nothing else', () => {
    const opens = (network: string, host: string) =>
      refusedUrl(`http://${host}/`, [network]) === undefined;
    expect(
      ['10.1.2.3', '[::ffff:10.1.2.3]', '[64:ff9b::a01:203]', '10.2.0.0', '127.0.0.1', '[::1]'].map(
        (host) => opens('10.1.0.0/16', host),
      ),
    ).toEqual([true, true, true, false, false, false]);
    expect(
      ['[fd00::1]', '[fc00::1]', '[::1]', '10.0.0.1', '127.0.0.1', 'localhost'].map((host) =>
        opens('fd00::/8', host),
      ),
    ).toEqual([true, false, false, false, false, false]);
    expect(
      ['127.0.0.1', '[::ffff:127.0.0.1]', '[64:ff9b::a00:1]'].map((host) => opens('::/0', host)),
    ).toEqual([false, false, false]);
    for (const wrong of [
      '10.0.0.0/',
      '10.0.0.0/33',
      'localhost',
      '',
      '10.0.0.0/8/8',
      '10.0.0/8',
      '/0',
    ])
      expect(() => guardedRequest({ allow_networks: [wrong] })).toThrow();
  });
});

test('what is wrong with a URL or a header is said when it is saved', () => {
  expect(refusedUrl('https://example.com:8443/a?b=[c]{d}#e', [])).toBeUndefined();
  for (const url of [
    'ftp://example.com',
    'file:///etc/passwd',
    'javascript:1',
    'example.com',
    'http://',
    'http://a b/',
    'http://example.com:65536/',
  ])
    expect([url, refusedUrl(url, [])]).toEqual([url, 'must be an http or https URL']);
  expect(refusedUrl('https://user@example.com', [])).toMatch(/user name/);
  expect(refusedUrl('https://:secret@example.com', [])).toMatch(/password/);
  expect(refusedUrl('http://example.com:25', [])).toMatch(/port 25/);
  expect(refusedUrl('http://example.com:0', [])).toMatch(/port 0/);
  expect(refusedUrl('http://127.0.0.1', [])).toMatch(/address/);
  expect(refusedHeaders({ 'X-Key': 'café\t1', accept: '' })).toBeUndefined();
  for (const name of [
    'Host',
    'content-length',
    'Transfer-Encoding',
    'connection',
    'a b',
    '',
    'a:',
    'x\r\ny',
  ])
    expect(refusedHeaders({ [name]: '1' })).toBeDefined();
  for (const value of ['a\r\nb: c', 'a\nb', 'a\rb', 'a\0', 'a\u010a', '\u{1f4a1}'])
    expect(refusedHeaders({ a: value })).toBeDefined();
});

describe('answers', () => {
  test('of an allowed network are handed on whole', async () => {
    const canary = await listen(async (req, res) => {
      const body = await req.setEncoding('utf8').toArray();
      res
        .writeHead(418, { 'set-cookie': ['a=1', 'b=2'], 'x-method': req.method! })
        .end(`${req.url} ${req.headers['x-key']} ${req.headers.host} ${body.join('')}`);
    });
    const more = { method: 'post', headers: { 'X-Key': 'k' }, body: 'grüße' };
    for (const host of ['127.0.0.1', '0x7f.1', 'localhost', 'name.test']) {
      const answer = await guarded(LOOPBACK, names('127.0.0.1'))(
        `http://${host}:${canary.port}/p?q=1#f`,
        more,
      );
      const shown = host === '0x7f.1' ? '127.0.0.1' : host;
      expect(answer).toMatchObject({
        ok: true,
        code: 418,
        headers: { 'set-cookie': 'a=1, b=2', 'x-method': 'POST' },
      });
      expect(answer).toHaveProperty('body', `/p?q=1 k ${shown}:${canary.port} grüße`);
    }
    expect(
      await guarded(LOOPBACK)(`http://127.0.0.1:${canary.port}/`, { method: 'HEAD' }),
    ).toMatchObject({ ok: true, code: 418, body: '' });
    expect(canary.connections()).toBe(5);
  });

  test('are not waited for when the request may not be sent', async () => {
    const canary = await listen((_, res) => res.end());
    const send = guarded(LOOPBACK);
    const url = `http://127.0.0.1:${canary.port}/`;
    for (const headers of [
      { Host: 'a' },
      { 'Content-length': '1' },
      { 'transfer-encoding': 'chunked' },
      { CONNECTION: 'close' },
      { a: 'b\r\nc: d' },
    ] as Record<string, string>[])
      expect(await send(url, { headers })).toMatchObject({ ok: false, reason: 'refused_header' });
    for (const method of ['CONNECT', 'TRACE', 'GET / HTTP/1.1\r\nx: y', ''])
      expect(await send(url, { method })).toMatchObject({ ok: false, reason: 'refused_method' });
    for (const wrong of [
      `http://user:pass@127.0.0.1:${canary.port}/`,
      `ftp://127.0.0.1:${canary.port}/`,
      '',
    ])
      expect(await send(wrong)).toMatchObject({ ok: false, reason: 'refused_url' });
    expect(canary.connections()).toBe(0);
  });

  test('that do not come in time are a timeout: name, headers or body', async () => {
    const hanging = await listen(() => undefined);
    const dripping = await listen((_, res) => {
      res.writeHead(200);
      const drops = setInterval(() => res.write('.'), 20);
      res.on('close', () => clearInterval(drops));
    });
    const late = (url: string, lookup?: Lookup) =>
      guarded(LOOPBACK, lookup)(url, { timeout_ms: 250 });
    const answers = [
      late(`http://127.0.0.1:${hanging.port}/`),
      late(`http://127.0.0.1:${dripping.port}/`),
      late('http://name.test/', () => new Promise(() => undefined)),
    ];
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatchObject({ ok: false, reason: 'timeout' });
      expect(answer.duration_ms).toBeGreaterThanOrEqual(240);
      expect(answer.duration_ms).toBeLessThan(1_500);
    }
  });

  test('a request that waited too long for one of ten connections is never sent', async () => {
    let [received, open, most] = [0, 0, 0];
    const slow = await listen((_, res) => {
      received++;
      most = Math.max(most, ++open);
      setTimeout(() => (open--, res.end()), 400);
    });
    const send = guarded(LOOPBACK);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        send(`http://127.0.0.1:${slow.port}/`, {
          timeout_ms: i < 10 ? 2_000 : 200,
          method: 'POST',
          body: 'x',
        }),
      ),
    );
    expect(answers.map(({ ok }) => ok)).toEqual([...Array<boolean>(10).fill(true), false, false]);
    await send(`http://127.0.0.1:${slow.port}/`);
    expect([most, received]).toEqual([10, 11]);
  });

  test('of more than 20 kB are cut off, and the rest is not read', async () => {
    let sent = 0;
    let close: (value?: unknown) => void;
    const closed = new Promise((done) => (close = done));
    const endless = await listen((_, res) => {
      const more = () => {
        while (!res.destroyed && res.write('é'.repeat(4_096))) sent += 8_192;
      };
      res.on('drain', more).on('close', () => close());
      res.write('a');
      more();
    });
    const answer = await guarded(LOOPBACK)(`http://127.0.0.1:${endless.port}/`);
    expect(answer).toMatchObject({ ok: true, code: 200 });
    // 19 999 bytes after the first hold 9 999 letters of two bytes, and half of one.
    expect(answer).toHaveProperty('body', `a${'é'.repeat(9_999)}`);
    await closed;
    expect(sent).toBeLessThan(20_000_000);
    const full = await listen((_, res) => res.end('x'.repeat(20_000)));
    expect(await guarded(LOOPBACK)(`http://127.0.0.1:${full.port}/`)).toHaveProperty(
      'body',
      'x'.repeat(20_000),
    );
  });

  test('that are none say why', async () => {
    const raw = async (say: string) => {
      const server = createTcpServer((socket) =>
        socket.on('error', () => undefined).once('data', () => socket.end(say)),
      );
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      opened.push(() => server.close());
      return (server.address() as AddressInfo).port;
    };
    const send = guarded(LOOPBACK);
    const gone = await listen(() => undefined);
    gone.close();
    expect(await send(`http://127.0.0.1:${gone.port}/`)).toMatchObject({
      ok: false,
      reason: 'connection refused',
    });
    expect(await send(`http://127.0.0.1:${await raw('')}/`)).toMatchObject({
      ok: false,
      reason: 'connection closed',
    });
    expect(await send(`http://127.0.0.1:${await raw('SSH-2.0-OpenSSH\r\n')}/`)).toMatchObject({
      ok: false,
      reason: 'invalid response',
    });
    expect(
      await send(
        `http://127.0.0.1:${await raw(`HTTP/1.1 200 OK\r\na: ${'x'.repeat(100_000)}\r\n\r\n`)}/`,
      ),
    ).toMatchObject({
      ok: false,
      reason: 'invalid response',
    });
    expect(
      await send(
        `http://127.0.0.1:${await raw('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort')}/`,
      ),
    ).toMatchObject({
      ok: false,
      reason: 'connection closed',
    });
    expect(
      await send(`https://127.0.0.1:${await raw('HTTP/1.1 400 Bad Request\r\n\r\n')}/`),
    ).toMatchObject({ ok: false, reason: 'no secure connection' });
    const notFound = guarded([], () =>
      Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })),
    );
    expect(await notFound('http://name.test/')).toMatchObject({
      ok: false,
      reason: 'name not found',
    });
  });
});
