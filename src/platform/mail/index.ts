import type { Mailer, MailerName } from './mailer';
import { sandboxMailer } from './sandbox';
import { smtp, type SmtpOptions } from './smtp';

export type MailerOptions = Partial<SmtpOptions>;

const MAILERS = { sandbox: sandboxMailer, smtp: openSmtp } satisfies Record<
  MailerName,
  (options: MailerOptions) => Mailer
>;

/** The mailer of that name. Throws when an option that it needs is missing. */
export const openMailer = (name: MailerName, options: MailerOptions = {}): Mailer =>
  MAILERS[name](options);

function openSmtp({ url, ...rest }: MailerOptions): Mailer {
  if (!url) throw new Error('The mailer smtp needs the url of a server.');
  return smtp({ url, ...rest });
}
