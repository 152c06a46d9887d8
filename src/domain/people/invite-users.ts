import type { Db } from '../../data/db';
import type { Queue } from '../../data/jobs/queue';
import { BEGIN_INVITATIONS } from './queries/mail-addresses';
import { buildWaitProblem, requireMailQuota, type MailContext } from './take-mails';

/** An address is not invited again within this time: the invitation is still open. */
export const REINVITE_MINUTES = 60;

export interface InviteContext extends MailContext {
  queue: Queue;
}

/**
 * Invalidates the earlier invitations of users and queues a new one for each: it is mailed once
 * this transaction is committed. Throws 429, about the field that names the users, where one of
 * their addresses was invited within the hour, by any user, or has used up its mails of the day.
 */
export async function inviteUsers(
  db: Db,
  ids: readonly bigint[],
  { queue, field, ...context }: InviteContext & { field: string },
): Promise<void> {
  if (ids.length === 0) return;
  const { now } = context;
  const where = { id: { in: [...ids] }, deleted_at: null };
  const users = await db.prisma.user.findMany({ where, select: { email: true } });
  const emails = users.map(({ email }) => email).toSorted();
  const retryWindow = { now, again_minutes: REINVITE_MINUTES };
  const invitations = await db.sql(BEGIN_INVITATIONS, { ...retryWindow, emails });
  const mayBeInvited = new Set(invitations.map(({ email }) => email));
  const early = emails.find((email) => !mayBeInvited.has(email));
  if (early !== undefined) throw await buildReinviteProblem(db, early, { field, now });
  await requireMailQuota(db, emails, { ...context, field });
  const invited = await db.prisma.user.updateManyAndReturn({
    where,
    data: {
      invitation_number: { increment: 1 },
      invitation_open: true,
      invited_at: now,
      updated_at: now,
    },
  });
  const companyId = String(db.company_id);
  const jobs = invited.map(({ id, invitation_number }) => ({
    company_id: companyId,
    user_id: String(id),
    number: invitation_number,
  }));
  await queue.addAll(db, 'send_invitation', jobs);
}

async function buildReinviteProblem(
  db: Db,
  email: string,
  { field, now }: { field: string; now: Date },
): Promise<Error> {
  const address = await db.prisma.mailAddress.findFirstOrThrow({ where: { email } });
  const invitedAt = address.invited_at!;
  const nextAt = new Date(invitedAt.getTime() + REINVITE_MINUTES * 60_000);
  const reason = `${email} was invited at ${invitedAt.toISOString()}`;
  return buildWaitProblem(field, reason, { next_at: nextAt, now });
}
