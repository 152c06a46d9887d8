import type { Config } from '../../platform/config';
import type { TenantSql } from '../../data/sql';
import { HttpProblem } from '../../platform/errors';
import { toMailbox } from '../../platform/mail/address';
import { TAKE_MAILS } from './queries/mail-addresses';

// Mails to addresses that a company names: alerts, invitations, confirmations, news of webhooks.
// They are counted in the transaction that queues them, so that a repeated job counts nothing.

export interface MailContext {
  config: Pick<Config, 'mails_per_day' | 'mails_per_address_per_day'>;
  now: Date;
}

export interface RefusedMail {
  email: string;
  reason: string;
}

export interface MailReservation {
  granted: string[];
  refused: RefusedMail[];
  /** Start of the next day. */
  next_at: Date;
}

/** Counts a mail to each of the addresses, as far as the quotas of the day allow. */
export async function reserveMails(
  { sql }: { sql: TenantSql },
  emails: readonly string[],
  { config, now }: MailContext,
): Promise<MailReservation> {
  const day = now.toISOString().slice(0, 10);
  const nextAt = new Date(Date.parse(day) + 24 * 3_600_000);
  if (emails.length === 0) return { granted: [], refused: [], next_at: nextAt };
  const [row] = await sql(TAKE_MAILS, {
    day,
    mailboxes: emails.map(toMailbox),
    company_max: config.mails_per_day,
    mailbox_max: config.mails_per_address_per_day,
  });
  const refusals = row!.refusals!;
  const reasonFor = (email: string, refusal: string) =>
    refusal === 'company'
      ? `the ${config.mails_per_day} mails that a company may send in a day are sent`
      : `${email} has got the ${config.mails_per_address_per_day} mails of a day`;
  return {
    granted: emails.filter((_, n) => refusals[n] === ''),
    refused: emails.flatMap((email, n) =>
      refusals[n] === '' ? [] : [{ email, reason: reasonFor(email, refusals[n]!) }],
    ),
    next_at: nextAt,
  };
}

/**
 * Like `reserveMails`, for a request: throws 429, which rolls it back, where a quota is used up.
 */
export async function requireMailQuota(
  db: { sql: TenantSql },
  emails: readonly string[],
  { field, ...context }: MailContext & { field: string },
): Promise<void> {
  const { refused, next_at } = await reserveMails(db, emails, context);
  const [first] = refused;
  if (first) throw buildWaitProblem(field, first.reason, { next_at, now: context.now });
}

/** Builds a 429 problem: the mail may be sent later. */
export function buildWaitProblem(
  field: string,
  reason: string,
  { next_at, now }: { next_at: Date; now: Date },
): HttpProblem {
  const message = `must wait until ${next_at.toISOString()}: ${reason}`;
  const seconds = Math.max(1, Math.ceil((next_at.getTime() - now.getTime()) / 1000));
  return new HttpProblem('rate_limited', `${field} ${message}`, {
    faults: { [field]: [{ code: 'rate_limited', message }] },
    headers: { 'Retry-After': String(seconds) },
  });
}
