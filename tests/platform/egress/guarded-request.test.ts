import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import type { Lookup } from '../../../src/platform/egress/resolve-names';
import {
  LOOPBACK,
  closeLater,
  closeLoopback,
  createGuardedClient,
  listenOnLoopback,
  names,
} from '../../support/loopback';
import { patient } from '../../support/patience';

afterEach(closeLoopback);

describe('responses', () => {
  test('of an allowed network are returned with code, headers and body', async () => {
    const canary = await listenOnLoopback(async (req, res) => {
      const body = await req.setEncoding('utf8').toArray();
      res
        .writeHead(418, { 'set-cookie': ['a=1', 'b=2'], 'x-method': req.method! })
        .end(`${req.url} ${req.headers['x-key']} ${req.headers.host} ${body.join('')}`);
    });
    const more = { method: 'post', headers: { 'X-Key': 'k' }, body: 'grüße' };
    for (const host of ['127.0.0.1', '0x7f.1', 'localhost', 'name.test']) {
      const answer = await createGuardedClient(LOOPBACK, names('127.0.0.1'))(
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
      await createGuardedClient(LOOPBACK)(`http://127.0.0.1:${canary.port}/`, { method: 'HEAD' }),
    ).toMatchObject({ ok: true, code: 418, body: '' });
    expect(canary.connections()).toBe(5);
  });

  test('are never awaited for a request that must not be sent', async () => {
    const canary = await listenOnLoopback((_, res) => res.end());
    const send = createGuardedClient(LOOPBACK);
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

  test('time out while a name, headers or the body are awaited', async () => {
    const hanging = await listenOnLoopback(() => undefined);
    const dripping = await listenOnLoopback((_, res) => {
      res.writeHead(200);
      const drops = setInterval(() => res.write('.'), 20);
      res.on('close', () => clearInterval(drops));
    });
    const late = (url: string, lookup?: Lookup) =>
      createGuardedClient(LOOPBACK, lookup)(url, { timeout_ms: 250 });
    const answers = [
      late(`http://127.0.0.1:${hanging.port}/`),
      late(`http://127.0.0.1:${dripping.port}/`),
      late('http://name.test/', () => new Promise(() => undefined)),
    ];
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatchObject({ ok: false, reason: 'timeout' });
      expect(answer.duration_ms).toBeGreaterThanOrEqual(240);
      expect(answer.duration_ms).toBeLessThan(patient(1_500));
    }
  });

  test('a request that waited too long for one of ten connections is never sent', async () => {
    let [received, open, most] = [0, 0, 0];
    const slow = await listenOnLoopback((_, res) => {
      received++;
      most = Math.max(most, ++open);
      setTimeout(() => (open--, res.end()), 400);
    });
    const send = createGuardedClient(LOOPBACK);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        send(`http://127.0.0.1:${slow.port}/`, {
          timeout_ms: i < 10 ? patient(2_000) : 200,
          method: 'POST',
          body: 'x',
        }),
      ),
    );
    expect(answers.map(({ ok }) => ok)).toEqual([...Array<boolean>(10).fill(true), false, false]);
    await send(`http://127.0.0.1:${slow.port}/`);
    expect([most, received]).toEqual([10, 11]);
  });

  test('of more than 20 kB are cut, and the rest is not read', async () => {
    let sentBytes = 0;
    let close: (value?: unknown) => void;
    const closed = new Promise((done) => (close = done));
    const endless = await listenOnLoopback((_, res) => {
      const more = () => {
        while (!res.destroyed && res.write('é'.repeat(4_096))) sentBytes += 8_192;
      };
      res.on('drain', more).on('close', () => close());
      res.write('a');
      more();
    });
    const answer = await createGuardedClient(LOOPBACK)(`http://127.0.0.1:${endless.port}/`);
    expect(answer).toMatchObject({ ok: true, code: 200 });
    // The 19,999 bytes after the first are 9,999 letters of two bytes, and half of another.
    expect(answer).toHaveProperty('body', `a${'é'.repeat(9_999)}`);
    await closed;
    expect(sentBytes).toBeLessThan(20_000_000);
    const full = await listenOnLoopback((_, res) => res.end('x'.repeat(20_000)));
    expect(await createGuardedClient(LOOPBACK)(`http://127.0.0.1:${full.port}/`)).toHaveProperty(
      'body',
      'x'.repeat(20_000),
    );
  });

  test('that fail have a reason', async () => {
    const raw = async (say: string) => {
      const server = createTcpServer((socket) =>
        socket.on('error', () => undefined).once('data', () => socket.end(say)),
      );
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      closeLater(() => server.close());
      return (server.address() as AddressInfo).port;
    };
    const send = createGuardedClient(LOOPBACK);
    const closedServer = await listenOnLoopback(() => undefined);
    closedServer.close();
    expect(await send(`http://127.0.0.1:${closedServer.port}/`)).toMatchObject({
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
    const notFound = createGuardedClient([], () =>
      Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })),
    );
    expect(await notFound('http://name.test/')).toMatchObject({
      ok: false,
      reason: 'name not found',
    });
  });
});
