import type { Db } from '../../data/tenant';
import { HttpProblem } from '../../platform/errors';
import type { Invitation } from '../../api/auth/invitations';
import { issueCredentials, type IssuedCredentials } from './issue-credentials';
import { CONFIRM_INVITED_ADDRESS } from './queries/mail-addresses';
import { ACCEPT_INVITATION } from './queries/users';

/**
 * Issues the access token of an invitation, which can be accepted once. Throws a 401 problem when
 * the invitation has been accepted or replaced in the meantime.
 */
export async function acceptInvitation(
  db: Db,
  { user_id, number }: Invitation,
  { name, pepper, now }: { name: string; pepper: string; now: Date },
): Promise<IssuedCredentials> {
  const [user] = await db.sql(ACCEPT_INVITATION, { user_id, number, now: now.toISOString() });
  if (!user)
    throw new HttpProblem(
      'invitation_used',
      'This invitation has been accepted or replaced by a newer one.',
    );
  await db.sql(CONFIRM_INVITED_ADDRESS, { email: user.email, now });
  return issueCredentials(
    db,
    { name, kind: 'user_token', permissions: [], superuser: false, user_email: user.email },
    { pepper, now },
  );
}
