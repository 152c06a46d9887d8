import type { Deps } from '../deps';
import { invitationToken, INVITED_DAYS } from '../../api/auth/invitations';
import { buildInvitationLink } from './console-links';
import { deliverMail } from './deliver-mail';
import type { Tasks } from '../../data/jobs/tasks';

type Context = Pick<Deps, 'tenants' | 'mailer' | 'config' | 'pepper' | 'log'>;

/**
 * Mails an invitation that is still open. Throws when the mail should be retried: every run sends
 * the same mail under the same key.
 */
export async function sendInvitation(
  { company_id, user_id, number }: Tasks['send_invitation'],
  deps: Context,
): Promise<void> {
  const { tenants, config, pepper } = deps;
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
  await deliverMail(
    deps,
    {
      key: `invitation-${company_id}-${user_id}-${number}`,
      to: email,
      subject: `Invitation to ${company.name}`,
      lines,
    },
    { kind: 'invitation', company_id, id: user_id },
  );
}
