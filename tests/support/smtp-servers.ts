import { randomUUID } from 'node:crypto';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { openMailer } from '../../src/platform/mail';
import type { Mail, Mailer, MailerName } from '../../src/platform/mail/mailer';

export interface Delivered {
  from: string;
  to: string[];
  text: string;
}

const FROM = '"Acme, Inc." <leads@acme.example>';
export const mail = (more: Partial<Mail> = {}): Mail => ({
  key: randomUUID(),
  from: FROM,
  to: 'ann@example.com',
  subject: 'A new lead: Zoë',
  text: 'Hello',
  ...more,
});
const rejection = (responseCode: number, message: string) =>
  Object.assign(new Error(message), { responseCode });

/** Refuses the magic mailboxes of the sandbox. */
export const RULES: SMTPServerOptions = {
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  disableReverseLookup: true,
  onRcptTo: ({ address }, _session, done) => {
    if (address.startsWith('bounce@')) return done(rejection(550, 'No such user'));
    if (address.startsWith('unavailable@')) return done(rejection(451, 'Try again later'));
    done();
  },
};

/** Opens an SMTP server on loopback before each test, and closes it and all mailers afterwards. */
export function smtpServers() {
  const delivered: Delivered[] = [];
  const mailers: Mailer[] = [];
  let smtpServer: SMTPServer;
  let raw: { server: Server; sockets: Set<Socket> } | undefined;
  let url: string;

  beforeEach(async () => {
    delivered.splice(0);
    mailers.splice(0);
    raw = undefined;
    url = await listen();
  });
  afterEach(async () => {
    for (const mailer of mailers) mailer.close();
    await new Promise<void>((done) => smtpServer.close(() => done()));
    for (const socket of raw?.sockets ?? []) socket.destroy();
    await new Promise<void>((done) => (raw ? raw.server.close(() => done()) : done()));
  });

  /** Opens another server in place of the test's; content with the word SPAM is refused. */
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

  /** Opens a TCP server that does with each connection what `serve` says. */
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

  function open(name: MailerName, more: { url?: string; timeout_ms?: number } = {}): Mailer {
    const mailer = openMailer(name, { url, ...more });
    mailers.push(mailer);
    return mailer;
  }

  return { delivered, server: () => smtpServer, listenRaw, open };
}

/** Texts that are not exactly one address. */
export const ADDRESS_LISTS = [
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
