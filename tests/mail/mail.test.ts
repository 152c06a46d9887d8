import { randomUUID } from 'node:crypto';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { openMailer } from '../../src/mail';
import { isMailAddress, parseMailbox } from '../../src/mail/address';
import type { Mail, Mailer, MailerName } from '../../src/mail/mailer';
import { MAGIC_MAILBOXES } from '../../src/mail/sandbox';

interface Delivered {
  from: string;
  to: string[];
  text: string;
}

const FROM = '"Acme, Inc." <leads@acme.example>';
const mail = (more: Partial<Mail> = {}): Mail => ({
  key: randomUUID(),
  from: FROM,
  to: 'ann@example.com',
  subject: 'A new lead: Zoë',
  text: 'Hello',
  ...more,
});
const rejection = (responseCode: number, message: string) =>
  Object.assign(new Error(message), { responseCode });

/** Refuses by the names that are magic in the sandbox, and 5xx content by a word. */
const RULES: SMTPServerOptions = {
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  disableReverseLookup: true,
  onRcptTo: ({ address }, _session, done) => {
    if (address.startsWith('bounce@')) return done(rejection(550, 'No such user'));
    if (address.startsWith('unavailable@')) return done(rejection(451, 'Try again later'));
    done();
  },
};

let delivered: Delivered[];
let mailers: Mailer[];
let smtpServer: SMTPServer;
let raw: { server: Server; sockets: Set<Socket> } | undefined;
let url: string;

async function listen(more: SMTPServerOptions = {}): Promise<string> {
  smtpServer = new SMTPServer({
    ...RULES,
    onData: (stream, { envelope }, done) => {
      let text = '';
      stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      stream.once('end', () => {
        if (text.includes('SPAM')) return done(rejection(554, 'Refused by content'));
        delivered.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          text,
        });
        done(null, 'Taken');
      });
    },
    ...more,
  });
  smtpServer.on('error', () => undefined);
  await new Promise<void>((done) => smtpServer.listen(0, '127.0.0.1', () => done()));
  return `smtp://127.0.0.1:${(smtpServer.server.address() as AddressInfo).port}`;
}

/** A server that is told what to do with each connection. */
async function listenRaw(serve: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    serve(socket);
  });
  raw = { server, sockets };
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeEach(async () => {
  [delivered, mailers, raw] = [[], [], undefined];
  url = await listen();
});
afterEach(async () => {
  for (const mailer of mailers) mailer.close();
  await new Promise<void>((done) => smtpServer.close(() => done()));
  for (const socket of raw?.sockets ?? []) socket.destroy();
  await new Promise<void>((done) => (raw ? raw.server.close(() => done()) : done()));
});

function open(name: MailerName, more: { url?: string; timeout_ms?: number } = {}): Mailer {
  const mailer = openMailer(name, { url, ...more });
  mailers.push(mailer);
  return mailer;
}

const ADDRESS_LISTS = [
  'ann@example.com, eve@example.net',
  'ann@example.com,eve@example.net',
  'ann@example.com; eve@example.net',
  'ann@example.com eve@example.net',
  'ann@example.com\r\nBcc: eve@example.net',
  'ann@example.com\neve@example.net',
  'ann@example.com\r\n',
  'ann@example.com\0',
  '<ann@example.com>, <eve@example.net>',
  'Ann <ann@example.com> <eve@example.net>',
  'group: ann@example.com, eve@example.net;',
  '"eve@example.net, x"@example.com',
  '"eve@example.net x"@example.com',
  'ann@example.com(eve@example.net)',
  'eve@example.net@example.com',
  'ann\\,eve@example.com',
  'ann@example',
  'ann@[127.0.0.1]',
  '',
];

describe.each<MailerName>(['sandbox', 'smtp'])('%s', (name) => {
  test('says who it is, and takes a mail', async () => {
    const one = mail();
    const mailer = open(name);
    expect(mailer).toMatchObject({ name, instant: name === 'sandbox' });
    const sent = await mailer.send(one);
    expect(sent).toEqual({
      ok: true,
      message_id: `<${one.key}@${name === 'smtp' ? 'acme.example' : 'sandbox'}>`,
    });
    expect(await mailer.send(one)).toEqual(sent);
    expect(delivered.map(({ to }) => to)).toEqual(
      name === 'smtp' ? [['ann@example.com'], ['ann@example.com']] : [],
    );
  });

  test.each(Object.entries(MAGIC_MAILBOXES))(
    '%s@ is refused as said',
    async (local, { failure }) => {
      const { retryable, code } = failure;
      expect(await open(name).send(mail({ to: `${local}@example.com` }))).toMatchObject({
        ok: false,
        retryable,
        code,
        message: expect.any(String),
      });
      expect(delivered).toEqual([]);
    },
  );

  test.each([...ADDRESS_LISTS, 'Ann <ann@example.com>'])(
    'to %j is refused, and nobody gets it',
    async (to) => {
      expect(await open(name).send(mail({ to }))).toMatchObject({
        ok: false,
        retryable: false,
        code: 'invalid_to',
      });
      expect(delivered).toEqual([]);
    },
  );

  test.each([
    ...ADDRESS_LISTS,
    'Ann\r\nBcc: eve@example.net <ann@example.com>',
    'eve@example.net <ann@example.com>',
    'Ann, Eve <ann@example.com>',
  ])('from %j is refused', async (from) => {
    expect(await open(name).send(mail({ from }))).toMatchObject({
      ok: false,
      retryable: false,
      code: 'invalid_from',
    });
    expect(delivered).toEqual([]);
  });

  test.each(['A\r\nBcc: eve@example.net', 'A\nB', 'A\rB', 'A\0B'])(
    'the subject %j is refused',
    async (subject) => {
      expect(await open(name).send(mail({ subject }))).toMatchObject({
        ok: false,
        retryable: false,
        code: 'invalid_subject',
      });
      expect(delivered).toEqual([]);
    },
  );

  test.each(['', 'a\r\nBcc: eve@example.net', 'a>b'])('the key %j is refused', async (key) => {
    expect(await open(name).send(mail({ key }))).toMatchObject({
      ok: false,
      retryable: false,
      code: 'invalid_key',
    });
  });
});

describe('smtp: what arrives', () => {
  test('one recipient, one Message-ID, the name and the subject as they were', async () => {
    const one = mail({ html: '<p>Hello</p>' });
    await open('smtp').send(one);
    const [{ from, to, text }] = delivered as [Delivered];
    expect([from, to]).toEqual(['leads@acme.example', ['ann@example.com']]);
    const headers = text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n');
    expect(headers).toEqual(
      expect.arrayContaining([
        'From: "Acme, Inc." <leads@acme.example>',
        'To: ann@example.com',
        `Message-ID: <${one.key}@acme.example>`,
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
    expect((await Promise.all(mails.map((one) => mailer.send(one)))).every(({ ok }) => ok)).toBe(
      true,
    );
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
    const other = new SMTPServer({
      ...RULES,
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(new Error('No')),
    });
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', () => done()));
    const { port } = other.server.address() as AddressInfo;
    for (const credentials of ['user:secret@', ''])
      expect(
        await open('smtp', { url: `smtp://${credentials}127.0.0.1:${port}` }).send(mail()),
      ).toMatchObject({
        ok: false,
        retryable: true,
        code: 'unauthorized',
      });
    await new Promise<void>((done) => other.close(() => done()));
  });

  test('a greeting that is refused is about us, not about the mail', async () => {
    const refusing = await listenRaw((socket) => socket.end('554 Not from there\r\n'));
    expect(await open('smtp', { url: refusing }).send(mail())).toMatchObject({
      ok: false,
      retryable: true,
      code: 'unavailable',
    });
  });

  test('nobody listens', async () => {
    await new Promise<void>((done) => smtpServer.close(() => done()));
    expect(await open('smtp').send(mail())).toMatchObject({
      ok: false,
      retryable: true,
      code: 'unavailable',
    });
  });

  test('a server that never greets is given up within six seconds', async () => {
    const silent = await listenRaw(() => undefined);
    const began = Date.now();
    expect(await open('smtp', { url: silent }).send(mail())).toMatchObject({
      ok: false,
      retryable: true,
      code: 'unavailable',
    });
    expect(Date.now() - began).toBeLessThan(6_000);
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
    expect(Date.now() - began).toBeLessThan(2_000);
  });

  test('a server that dies with the mail in its hands is not given it again', async () => {
    let given = 0;
    const dying = await listenRaw((socket) => {
      let text = '';
      socket.write('220 dying\r\n');
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (/\r\n\.\r\n$/.test(text)) {
          given++;
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
    expect(given).toBe(1);
  });

  test('a connection that the server has closed meanwhile costs no mail', async () => {
    const mailer = open('smtp');
    await mailer.send(mail());
    for (const { _socket } of (smtpServer as unknown as { connections: Set<{ _socket: Socket }> })
      .connections)
      _socket.destroy();
    expect(await mailer.send(mail())).toMatchObject({ ok: true });
    expect(delivered).toHaveLength(2);
  });

  test('without a server it does not open', () => {
    expect(() => openMailer('smtp')).toThrow('url');
  });
});

describe('addresses', () => {
  test.each([
    'ann@example.com',
    'a.b+c@sub.example.co.uk',
    'zoë@example.com',
    "o'hara@example.com",
  ])('%s is one', (address) => {
    expect([isMailAddress(address), parseMailbox(address)]).toEqual([true, { address }]);
  });

  test.each([
    ['Ann <ann@example.com>', { name: 'Ann', address: 'ann@example.com' }],
    ['Ann O’Hara   <ann@example.com>', { name: 'Ann O’Hara', address: 'ann@example.com' }],
    ['"Acme, Inc. (leads)" <a@b.example>', { name: 'Acme, Inc. (leads)', address: 'a@b.example' }],
    ['<ann@example.com>', { address: 'ann@example.com' }],
    ['"" <ann@example.com>', { address: 'ann@example.com' }],
  ])('%s is %j', (text, mailbox) => {
    expect(parseMailbox(text)).toEqual(mailbox);
  });

  test.each(ADDRESS_LISTS)('%j is none', (text) => {
    expect([isMailAddress(text), parseMailbox(text)]).toEqual([false, undefined]);
  });

  test('a long text is read in no time', () => {
    const began = Date.now();
    for (const text of [
      'a'.repeat(100_000),
      `${' '.repeat(5_000)}<`,
      `"${' '.repeat(5_000)}`,
      `a@${'a.'.repeat(5_000)}`,
    ])
      expect(parseMailbox(text)).toBeUndefined();
    expect(Date.now() - began).toBeLessThan(500);
  });
});
