import type { Deps } from '../deps';
import { invitationToken, INVITED_DAYS } from '../../api/auth/invitations';
import { buildInvitationLink } from './console-links';
import type { Tasks } from '../../data/jobs/tasks';

type Context = Pick<Deps, 'tenants' | 'mailer' | 'config' | 'pepper' | 'log'>;

/**
 * Mails an invitation that is still open. Throws when the mail should be retried: every run sends
 * the same mail under the same key.
 */
export async function sendInvitation(
  { company_id, user_id, number }: Tasks['send_invitation'],
  { tenants, mailer, config, pepper, log }: Context,
): Promise<void> {
  const user = await tenants.of(BigInt(company_id)).prisma.user.findFirst({
    where: {
      id: BigInt(user_id),
      invitation_number: number,
      invitation_open: true,
      deleted_at: null,
    },
    select: { email: true, company: { select: { name: true } } },
  });
  if (!user) return;
  const { email, company } = user;
  const token = invitationToken(
    { company_id: BigInt(company_id), user_id: BigInt(user_id), number },
    pepper,
  );
  const lines = [
    `You are invited to work with ${company.name}.`,
    '',
    `Open this page to choose a password: ${buildInvitationLink(config, token)}`,
    '',
    `It works once, within ${INVITED_DAYS} days.`,
  ];
  const subject = `Invitation to ${company.name.replace(/[\r\n]+/g, ' ')}`;
  const delivery = await mailer.send({
    key: `invitation-${company_id}-${user_id}-${number}`,
    from: config.mail_from,
    to: email,
    subject,
    text: lines.join('\n'),
  });
  if (delivery.ok) return;
  if (delivery.retryable)
    throw new Error(`the mail server did not accept an invitation: ${delivery.code}`);
  log.warn({ code: delivery.code, company_id, user_id }, 'the mail server rejected an invitation');
}
