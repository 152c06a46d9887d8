import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { openMailer } from '../../../src/platform/mail';
import { repetitions } from '../../support/repetitions';
import { mail, RULES, smtpServers, type Delivered } from '../../support/smtp-servers';
import { patient } from '../../support/patience';

const { delivered, server, listenRaw, open } = smtpServers();

describe('smtp: what arrives', () => {
  test('one recipient, one Message-ID, the name and the subject as they were', async () => {
    const message = mail({ html: '<p>Hello</p>' });
    await open('smtp').send(message);
    const [{ from, to, text }] = delivered as [Delivered];
    expect([from, to]).toEqual(['leads@acme.example', ['ann@example.com']]);
    const headers = text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n');
    expect(headers).toEqual(
      expect.arrayContaining([
        'From: "Acme, Inc." <leads@acme.example>',
        'To: ann@example.com',
        `Message-ID: <${message.key}@acme.example>`,
      ]),
    );
    expect(headers.find((header) => header.startsWith('Subject:'))).toMatch(/=\?UTF-8\?/);
    expect(headers.filter((header) => /^(b?cc|to):/i.test(header))).toHaveLength(1);
    expect([text.includes('<p>Hello</p>'), text.includes('text/plain')]).toEqual([true, true]);
  });

  test('a text that begins with a dot, or holds the end of a mail, arrives whole', async () => {
    await open('smtp').send(mail({ text: '.\r\n.hidden\r\n.\r\nMAIL FROM:<eve@example.net>\r\n' }));
    expect(delivered).toHaveLength(1);
    expect(delivered[0]!.text).toContain('\r\n.\r\n.hidden\r\n.\r\nMAIL FROM:<eve@example.net>');
  });

  test('twenty at once each arrive once', async () => {
    const mailer = open('smtp');
    const mails = Array.from({ length: 20 }, (_, n) => mail({ to: `n${n}@example.com` }));
    expect(
      (await Promise.all(mails.map((message) => mailer.send(message)))).every(({ ok }) => ok),
    ).toBe(true);
    expect(delivered.flatMap(({ to }) => to).sort()).toEqual(mails.map(({ to }) => to).sort());
  });

  test('after a refusal the next mail goes through', async () => {
    const mailer = open('smtp');
    expect(await mailer.send(mail({ to: 'bounce@example.com' }))).toMatchObject({ ok: false });
    expect(await mailer.send(mail())).toMatchObject({ ok: true });
  });
});

describe('smtp: failures', () => {
  test('content that is refused is final', async () => {
    expect(await open('smtp').send(mail({ text: 'SPAM' }))).toMatchObject({
      ok: false,
      retryable: false,
      code: 'rejected',
      message: expect.stringContaining('Refused by content'),
    });
  });

  test('a login that is refused is for the operator to mend', async () => {
    const refusingServer = new SMTPServer({
      ...RULES,
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(new Error('No')),
    });
    await new Promise<void>((done) => refusingServer.listen(0, '127.0.0.1', () => done()));
    const { port } = refusingServer.server.address() as AddressInfo;
    for (const credentials of ['user:secret@', ''])
      expect(
        await open('smtp', { url: `smtp://${credentials}127.0.0.1:${port}` }).send(mail()),
      ).toMatchObject({
        ok: false,
        retryable: true,
        code: 'unauthorized',
      });
    await new Promise<void>((done) => refusingServer.close(() => done()));
  });

  test('a greeting that is refused is about us, not about the mail', async () => {
    const refusing = await listenRaw((socket) => socket.end('554 Not from there\r\n'));
    expect(await open('smtp', { url: refusing }).send(mail())).toMatchObject({
      ok: false,
      retryable: true,
      code: 'unavailable',
    });
  });

  test('no server listens', async () => {
    await new Promise<void>((done) => server().close(() => done()));
    expect(await open('smtp').send(mail())).toMatchObject({
      ok: false,
      retryable: true,
      code: 'unavailable',
    });
  });

  test('a server that never greets is given up after five seconds', async () => {
    const silent = await listenRaw(() => undefined);
    const began = Date.now();
    // In npm test after less.
    const options = repetitions(0, 1) > 0 ? {} : { timeout_ms: 300 };
    expect(await open('smtp', { url: silent, ...options }).send(mail())).toMatchObject({
      ok: false,
      retryable: true,
      code: 'unavailable',
    });
    expect(Date.now() - began).toBeLessThan(patient(6_000));
  });

  test('a server that says a little now and then is given up as well', async () => {
    const dripping = await listenRaw((socket) => {
      socket.write('220 dripping\r\n');
      const drip = setInterval(() => socket.write('250-wait\r\n'), 50);
      socket.once('close', () => clearInterval(drip));
    });
    const began = Date.now();
    expect(await open('smtp', { url: dripping, timeout_ms: 300 }).send(mail())).toMatchObject({
      ok: false,
      retryable: true,
      code: 'unavailable',
    });
    expect(Date.now() - began).toBeLessThan(patient(2_000));
  });

  test('a server that dies with the mail in its hands is not given it again', async () => {
    let deliveries = 0;
    const dying = await listenRaw((socket) => {
      let text = '';
      socket.write('220 dying\r\n');
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (/\r\n\.\r\n$/.test(text)) {
          deliveries++;
          return void socket.destroy();
        }
        const command = chunk.slice(0, 4).toUpperCase();
        if (command === 'DATA') socket.write('354 go\r\n');
        else if (['EHLO', 'MAIL', 'RCPT'].includes(command)) socket.write('250 ok\r\n');
      });
    });
    expect(await open('smtp', { url: dying, timeout_ms: 1_000 }).send(mail())).toMatchObject({
      ok: false,
      retryable: true,
      code: 'unavailable',
    });
    expect(deliveries).toBe(1);
  });

  test('a connection that the server has closed meanwhile costs no mail', async () => {
    const mailer = open('smtp');
    await mailer.send(mail());
    for (const { _socket } of (server() as unknown as { connections: Set<{ _socket: Socket }> })
      .connections)
      _socket.destroy();
    expect(await mailer.send(mail())).toMatchObject({ ok: true });
    expect(delivered).toHaveLength(2);
  });

  test('without a server it does not open', () => {
    expect(() => openMailer('smtp')).toThrow('url');
  });
});
