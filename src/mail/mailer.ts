import { isMailAddress, parseMailbox } from './address';

export type MailerName = 'sandbox' | 'smtp';

export interface Mail {
  /** UUID; the same at every try of the same mail, and in its Message-ID, by which mailboxes drop what came twice. */
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
  /** It may be tried again later. What is not retryable will be refused again. */
  retryable: boolean;
  /** invalid_key, invalid_from, invalid_to, invalid_subject, rejected, unavailable or unauthorized. */
  code: string;
  /** For people. */
  message: string;
}

export type MailOutcome = { ok: true; message_id: string } | MailFailure;

/** Sends mail. Nothing of it throws. */
export interface Mailer {
  name: MailerName;
  /** Answers without leaving the process: many may be asked inside one transaction, and none can be lost between asking and recording. */
  instant: boolean;
  send(mail: Mail): Promise<MailOutcome>;
  close(): void;
}

/** What is wrong with a mail, before anything of it goes to a library that would read one line or address as several. */
export function faultOf({ key, from, to, subject }: Mail): MailFailure | undefined {
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
