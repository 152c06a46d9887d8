import type { Db } from '../../data/db';
import { HttpProblem } from '../../platform/errors';
import type { Confirmation } from '../../api/auth/scheme';
import type { Queue } from '../../data/jobs/queue';
import { BEGIN_CONFIRMATIONS, FIND_CONFIRMED } from './queries/mail-addresses';
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
  { prisma }: Pick<Db, 'prisma'>,
  { id, number }: Confirmation,
  now: Date,
): Promise<{ email: string; company: string; confirmed_at: Date }> {
  const [address] = await prisma.mailAddress.updateManyAndReturn({
    where: { id, confirmation_number: number, confirmed_at: null },
    data: { confirmed_at: now },
    select: { email: true, company: { select: { name: true } } },
  });
  if (!address)
    throw new HttpProblem(
      'wrong_credentials',
      'This address has been confirmed, or asked again, in the meantime.',
    );
  return { email: address.email, company: address.company.name, confirmed_at: now };
}

/** An accepted invitation proves that its address was read. */
export async function confirmInvitedAddress(
  { prisma, company_id }: Db,
  email: string,
  now: Date,
): Promise<void> {
  const data = { company_id, email, created_at: now };
  await prisma.mailAddress.createMany({ data, skipDuplicates: true });
  await prisma.mailAddress.updateMany({
    where: { email, confirmed_at: null },
    data: { confirmed_at: now },
  });
}
