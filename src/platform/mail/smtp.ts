import { createTransport } from 'nodemailer';
import { parseMailbox } from './address';
import { cutText } from '../storable-text';
import { validateMail, type Mail, type Mailer, type MailFailure, type MailOutcome } from './mailer';

export interface SmtpOptions {
  /** smtp://user:password@host:587, or smtps: for TLS from the first byte. */
  url: string;
  /** For connecting, for the greeting, and for each pause of the server. */
  timeout_ms?: number;
}

const MAX_CONNECTIONS = 5;
/** A server that sends slowly without pausing meets no timeout: an e-mail has this many in all. */
const TIMEOUTS_PER_MAIL = 4;
const MAX_MESSAGE_CHARS = 500;

type Transport = ReturnType<typeof open>;

/** Connections stay open for the next e-mail until `close`. */
export function smtp({ url, timeout_ms = 5_000 }: SmtpOptions): Mailer {
  const transport = open(url, timeout_ms);
  return {
    name: 'smtp',
    instant: false,
    send: (mail) => send(transport, mail, timeout_ms * TIMEOUTS_PER_MAIL),
    close: () => transport.close(),
  };
}

/** Connects and signs in; returns what is wrong, or undefined. */
export async function findSmtpFault(
  url: string,
  timeoutMs: number = 5_000,
): Promise<string | undefined> {
  const transport = open(url, timeoutMs);
  try {
    await transport.verify();
    return undefined;
  } catch (error) {
    return cutText((error as Error).message, MAX_MESSAGE_CHARS);
  } finally {
    transport.close();
  }
}

function open(url: string, timeoutMs: number) {
  return createTransport({
    url,
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    // A connection that the server closed before any of the e-mail was sent is replaced once. The
    // caller repeats other failures.
    maxRequeues: 1,
    // Below the socket's timeout, which would end idle connections with an error.
    idleTimeout: timeoutMs / 2,
    dnsTimeout: timeoutMs,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

async function send(transport: Transport, mail: Mail, deadlineMs: number): Promise<MailOutcome> {
  const fault = validateMail(mail);
  if (fault) return fault;
  const from = parseMailbox(mail.from)!;
  const messageId = `<${mail.key}@${from.address.split('@')[1]}>`;
  try {
    await transport.sendMail({
      // Objects, because strings would be parsed as lists of addresses.
      from: { name: from.name ?? '', address: from.address },
      to: { name: '', address: mail.to },
      subject: mail.subject,
      text: mail.text,
      html: mail.html,
      messageId,
      signal: AbortSignal.timeout(deadlineMs),
    });
    return { ok: true, message_id: messageId };
  } catch (error) {
    return toMailFailure(error as SmtpError);
  }
}

interface SmtpError extends Error {
  code?: string;
  responseCode?: number;
}

/**
 * Only a server's rejection of the sender, the recipient or the content is final. A refused
 * greeting or login, and 530 (log in first), are about this installation; 421 and 503 about the
 * connection.
 */
function toMailFailure({ code = '', responseCode, message }: SmtpError): MailFailure {
  const ofMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  const final =
    ofMail &&
    (responseCode === undefined ||
      (responseCode >= 500 && responseCode !== 503 && responseCode !== 530));
  const login = responseCode === 530 || ['EAUTH', 'ENOAUTH', 'EOAUTH2'].includes(code);
  const temporaryCode = login ? 'unauthorized' : 'unavailable';
  return {
    ok: false,
    retryable: !final,
    code: final ? 'rejected' : temporaryCode,
    message: cutText(message, MAX_MESSAGE_CHARS),
  };
}
