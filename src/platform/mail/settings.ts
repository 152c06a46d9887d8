import { makeValidator, type CleanedEnv } from 'envalid';
import { parseMailbox } from './address';

export interface MailSettings {
  /** The server that sends e-mails; absent: they are only stored. */
  smtp_url: string | undefined;
  /** The sender of e-mails when neither action nor schedule has one. */
  mail_from: string;
  /**
   * Limits of mails such as alerts and invitations in a day (UTC): of a company, and of a company
   * to one address; 0 for no limit.
   */
  mails_per_day: number;
  mails_per_address_per_day: number;
}

const smtpUrl = makeValidator<string>((input) => {
  if (!/^smtps?:\/\/[^/\s]+/.test(input))
    throw new Error('must be a URL that begins with smtp:// or smtps://');
  return input;
});
const mailbox = makeValidator<string>((input) => {
  if (!parseMailbox(input))
    throw new Error('must be one address, such as desk@example.com or Desk <desk@example.com>');
  return input;
});
const MAX_QUOTA = 1_000_000_000;
const quota = makeValidator<number>((input) => {
  const value = Number(input);
  if (!Number.isInteger(value) || value < 0 || value > MAX_QUOTA)
    throw new Error(`must be a whole number from 0 to ${MAX_QUOTA}`);
  return value;
});

export const MAIL_VARIABLES = {
  SMTP_URL: smtpUrl({ default: undefined }),
  MAIL_FROM: mailbox({ default: 'Trunkline <no-reply@trunkline.example>' }),
  MAILS_PER_DAY: quota({ default: 1_000 }),
  MAILS_PER_ADDRESS_PER_DAY: quota({ default: 100 }),
};

export const readMailSettings = (values: CleanedEnv<typeof MAIL_VARIABLES>): MailSettings => ({
  smtp_url: values.SMTP_URL,
  mail_from: values.MAIL_FROM,
  mails_per_day: values.MAILS_PER_DAY,
  mails_per_address_per_day: values.MAILS_PER_ADDRESS_PER_DAY,
});
