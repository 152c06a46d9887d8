import type { Db } from '../db/tenant';
import { HttpProblem } from '../errors';
import type { Confirmation } from '../http/auth/confirmations';
import type { Queue } from '../jobs/queue';
import { BEGIN_CONFIRMATIONS, CONFIRM_ADDRESS, FIND_CONFIRMED } from './queries/mail-addresses';
import { requireMails, type MailContext } from './take-mails';

// An address that a rule or a webhook names gets nothing but one mail with a link, until whoever has
// it has opened the link and said yes.

/** How long nobody is asked again. */
const AGAIN_HOURS = 24;

interface Asking extends MailContext {
  queue: Queue;
  field: string;
}

/**
 * Queues a mail to each of the addresses that is not confirmed, and was not asked within a day.
 * Throws 429 where the quotas of mails have no room.
 */
export async function requestConfirmations(
  db: Pick<Db, 'sql' | 'query' | 'company_id'>,
  emails: readonly string[],
  { queue, ...context }: Asking,
): Promise<void> {
  if (emails.length === 0) return;
  const lowered = [...new Set(emails.map((email) => email.toLowerCase()))].toSorted();
  const { now } = context;
  const again = { now, again_hours: AGAIN_HOURS };
  const begun = await db.sql(BEGIN_CONFIRMATIONS, { ...again, emails: lowered });
  await requireMails(
    db,
    begun.map(({ email }) => email),
    context,
  );
  const company_id = String(db.company_id);
  const jobs = begun.map(({ id, number }) => ({ company_id, id, number }));
  await queue.addAll(db, 'send_confirmation', jobs);
}

/** Those of the addresses that are confirmed, as they are written here. */
export async function findConfirmed(
  { sql }: Pick<Db, 'sql'>,
  emails: readonly string[],
): Promise<string[]> {
  const lowered = emails.map((email) => email.toLowerCase());
  const rows = await sql(FIND_CONFIRMED, { emails: lowered });
  const confirmed = new Set(rows.map(({ email }) => email));
  return emails.filter((_, n) => confirmed.has(lowered[n]!));
}

/** Confirms an address, once. Throws 401 where that was done, or asked again, in the meantime. */
export async function confirmAddress(
  { sql }: Pick<Db, 'sql'>,
  { id, number }: Confirmation,
  now: Date,
): Promise<{ email: string; company: string; confirmed_at: Date }> {
  const [address] = await sql(CONFIRM_ADDRESS, { id, number, now });
  if (!address)
    throw new HttpProblem(
      'wrong_credentials',
      'This address has been confirmed, or asked again, in the meantime.',
    );
  return { ...address, confirmed_at: address.confirmed_at! };
}
