import type { Deps } from '../deps';
import { invitationToken, INVITED_DAYS } from '../http/auth/invitations';
import type { Tasks } from '../jobs/tasks';

type Context = Pick<Deps, 'database' | 'mailer' | 'config' | 'pepper' | 'log'>;

const FIND = `SELECT u.email, c.name AS company FROM users u JOIN companies c ON c.id = u.company_id
  WHERE u.company_id = $1 AND u.id = $2 AND u.invitation_number = $3 AND u.invitation_open AND u.deleted_at IS NULL`;

/** Mails an invitation that is still open. Every run sends the same mail under the same key. Throws to be run again. */
export async function sendInvitation(
  { company_id, user_id, number }: Tasks['send_invitation'],
  { database, mailer, config, pepper, log }: Context,
): Promise<void> {
  const { rows } = await database.pool.query(FIND, [company_id, user_id, number]);
  if (!rows[0]) return;
  const { email, company } = rows[0] as { email: string; company: string };
  const token = invitationToken(
    { company_id: BigInt(company_id), user_id: BigInt(user_id), number },
    pepper,
  );
  const lines = [
    `You are invited to work with ${company}.`,
    '',
    `Open this page to set up your access token: ${config.public_url}/invitations?invitation_token=${token}`,
    '',
    `It works once, within ${INVITED_DAYS} days.`,
  ];
  const subject = `Invitation to ${company.replace(/[\r\n]+/g, ' ')}`;
  const sent = await mailer.send({
    key: `invitation-${company_id}-${user_id}-${number}`,
    from: config.mail_from,
    to: email,
    subject,
    text: lines.join('\n'),
  });
  if (sent.ok) return;
  if (sent.retryable) throw new Error(`an invitation was not taken: ${sent.code}`);
  log.warn(
    { code: sent.code, company_id, user_id },
    'an invitation was refused by the mail server',
  );
}
