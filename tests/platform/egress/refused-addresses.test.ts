import { findUrlFault } from '../../../src/platform/egress/refused-urls';
import {
  closeLoopback,
  createGuardedClient,
  hasIpv6,
  listenOnLoopback,
  names,
} from '../../support/loopback';
import { LITERALS } from '../../support/refused-hosts';

afterEach(closeLoopback);

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

describe('addresses that are not public', () => {
  test('are never connected to, however they are written', async () => {
    const canary = await listenOnLoopback((_, res) => res.end());
    const six = hasIpv6
      ? await listenOnLoopback((_, res) => res.end(), '::1', canary.port)
      : canary;
    expect(LITERALS.length).toBeGreaterThan(95);
    const send = createGuardedClient([], names('127.0.0.1'));
    for (const scheme of ['http', 'https'])
      for (const host of LITERALS)
        expect([host, await send(`${scheme}://${host}:${canary.port}/`)]).toEqual([
          host,
          { ok: false, reason: 'refused_address', duration_ms: expect.any(Number) },
        ]);
    expect(LITERALS.filter((host) => !findUrlFault(`http://${host}/`, []))).toEqual([]);
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

  test('are never connected to through a name', async () => {
    const canary = await listenOnLoopback((_, res) => res.end());
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
      expect(await createGuardedClient([], names(...addresses))(at)).toMatchObject({
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
      expect(
        await createGuardedClient([], names('127.0.0.1'))(`http://${host}:${canary.port}/`),
      ).toMatchObject({ ok: false, reason: 'refused_address' });
    expect(await createGuardedClient([], names())(at)).toMatchObject({ reason: 'name not found' });
    expect(canary.connections()).toBe(0);
  });

  test('are never connected to when a name changes its address', async () => {
    const [canary, outside] = [
      await listenOnLoopback((_, res) => res.end()),
      await listenOnLoopback(
        (_, res) => res.setHeader('connection', 'close').end('outside'),
        '127.0.0.2',
      ),
    ];
    const answers = [['127.0.0.2'], ['127.0.0.1'], ['127.0.0.2', '127.0.0.1']];
    let lookups = 0;
    const send = createGuardedClient(['127.0.0.2/32'], (name) =>
      names(...answers[lookups++]!)(name),
    );
    expect(await send(`http://name.test:${outside.port}/`)).toMatchObject({
      ok: true,
      body: 'outside',
    });
    // One lookup for a connection: the checked address is the one that is connected to.
    expect(lookups).toBe(1);
    for (let i = 0; i < 2; i++)
      expect(await send(`http://name.test:${canary.port}/`)).toMatchObject({
        ok: false,
        reason: 'refused_address',
      });
    expect([lookups, canary.connections()]).toEqual([3, 0]);
  });

  test('are never connected to through a redirect, which is a response', async () => {
    const canary = await listenOnLoopback((_, res) => res.end());
    const outside = await listenOnLoopback(
      (_, res) => res.writeHead(302, { location: `http://127.0.0.1:${canary.port}/` }).end(),
      '127.0.0.2',
    );
    const answer = await createGuardedClient(['127.0.0.2'])(`http://127.0.0.2:${outside.port}/`);
    expect(answer).toMatchObject({
      ok: true,
      code: 302,
      headers: { location: expect.any(String) },
    });
    expect(canary.connections()).toBe(0);
  });
});
