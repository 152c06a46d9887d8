import type { Db } from '../db/tenant';
import type { Invitation } from '../http/auth/invitations';
import { HttpProblem } from '../errors';
import { issueCredentials, type IssuedCredentials } from './issue-credentials';

/** Makes the token that an invitation is for, once. Refuses with 401 what was accepted, or replaced, in between. */
export async function acceptInvitation(
  db: Db,
  { user_id, number }: Invitation,
  { name, pepper, now }: { name: string; pepper: string; now: Date },
): Promise<IssuedCredentials> {
  const [user] = await db.query<{ email: string }>({
    text: `UPDATE users SET invitation_open = false, joined_at = coalesce(joined_at, $4), updated_at = $4 WHERE company_id = $1 AND id = $2 AND invitation_number = $3 AND invitation_open
      AND deleted_at IS NULL RETURNING email`,
    values: [db.company_id, user_id, number, now.toISOString()],
  });
  if (!user)
    throw new HttpProblem(
      401,
      'This invitation has been accepted, or another has taken its place.',
    );
  return issueCredentials(
    db,
    { name, kind: 'user_token', permissions: [], superuser: false, user_email: user.email },
    { pepper, now },
  );
}
