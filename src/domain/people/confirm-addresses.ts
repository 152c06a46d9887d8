import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import type { Confirmation } from '../../api/auth/scheme';
import type { Queue } from '../../data/jobs/queue';
import { BEGIN_CONFIRMATIONS, CONFIRM_ADDRESS, FIND_CONFIRMED } from './queries/mail-addresses';
import { requireMailQuota, type MailContext } from './take-mails';

// An address that a rule or a webhook names gets only one mail with a link, until its owner has
// opened the link and confirmed.

/** Time until an unconfirmed address gets another mail. */
const RESEND_HOURS = 24;

interface ConfirmationContext extends MailContext {
  queue: Queue;
  field: string;
}

/**
 * Queues a mail to each address that is not confirmed and was not asked within a day. Throws 429
 * when a mail quota is used up.
 */
export async function requestConfirmations(
  db: Pick<Db, 'sql' | 'query' | 'company_id'>,
  emails: readonly string[],
  { queue, ...context }: ConfirmationContext,
): Promise<void> {
  if (emails.length === 0) return;
  const lowered = [...new Set(emails.map((email) => email.toLowerCase()))].toSorted();
  const { now } = context;
  const retryWindow = { now, again_hours: RESEND_HOURS };
  const confirmations = await db.sql(BEGIN_CONFIRMATIONS, { ...retryWindow, emails: lowered });
  await requireMailQuota(
    db,
    confirmations.map(({ email }) => email),
    context,
  );
  const companyId = String(db.company_id);
  const jobs = confirmations.map(({ id, number }) => ({ company_id: companyId, id, number }));
  await queue.addAll(db, 'send_confirmation', jobs);
}

/** The confirmed addresses among `emails`, in the given spelling. */
export async function findConfirmed(
  { sql }: Pick<Db, 'sql'>,
  emails: readonly string[],
): Promise<string[]> {
  const lowered = emails.map((email) => email.toLowerCase());
  const rows = await sql(FIND_CONFIRMED, { emails: lowered });
  const confirmed = new Set(rows.map(({ email }) => email));
  return emails.filter((_, n) => confirmed.has(lowered[n]!));
}

/** Confirms an address once. Throws 401 when it was confirmed, or asked again, in the meantime. */
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
