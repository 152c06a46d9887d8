import { isMailAddress, parseMailbox } from './address';

export type MailerName = 'sandbox' | 'smtp';

export interface Mail {
  /**
   * UUID; the same at every try of one e-mail. It is in the Message-ID, by which mailboxes drop
   * duplicates.
   */
  key: string;
  /** An address, or `Name <address>`. */
  from: string;
  /** One address and nothing else. */
  to: string;
  subject: string;
  text?: string;
  html?: string;
}

export interface MailFailure {
  ok: false;
  /** It may be retried later. Otherwise it would be refused again. */
  retryable: boolean;
  /** rejected, unavailable, unauthorized, or invalid_ with key, from, to or subject. */
  code: string;
  message: string;
}

export type MailOutcome = { ok: true; message_id: string } | MailFailure;

/** Sends e-mails. Its functions never throw. */
export interface Mailer {
  name: MailerName;
  /**
   * Responds without leaving the process: many e-mails may be sent inside one transaction, and none
   * can be lost before its result is recorded.
   */
  instant: boolean;
  send(mail: Mail): Promise<MailOutcome>;
  close(): void;
}

/**
 * The fault of an e-mail; undefined when it has none. Checked before the library could read one
 * line or address as several.
 */
export function validateMail({ key, from, to, subject }: Mail): MailFailure | undefined {
  if (!/^[A-Za-z0-9-]{1,64}$/.test(key)) return fault('key', 'is not letters, digits and hyphens');
  if (!parseMailbox(from)) return fault('from', 'is not one address, or one as Name <address>');
  if (!isMailAddress(to)) return fault('to', 'is not one address');
  if (/[\r\n\0]/.test(subject)) return fault('subject', 'has more than one line');
  return undefined;
}

const fault = (field: string, problem: string): MailFailure => ({
  ok: false,
  retryable: false,
  code: `invalid_${field}`,
  message: `${field} ${problem}.`,
});
