import type { Db } from '../../data/db';
import type { Invitation } from '../../api/auth/scheme';
import { HttpProblem } from '../../platform/errors';
import type { Deps } from '../deps';
import { confirmInvitedAddress } from './confirm-addresses';

/**
 * Takes an invitation, which can be accepted once, and returns the address of its user. Throws a
 * 401 problem when it has been accepted or replaced in the meantime.
 */
export async function takeInvitation(
  db: Db,
  { user_id, number }: Pick<Invitation, 'user_id' | 'number'>,
  { now, mailer }: { now: Date; mailer: Pick<Deps['mailer'], 'instant'> },
): Promise<string> {
  const open = { invitation_number: number, invitation_open: true, deleted_at: null };
  const [user] = await db.prisma.user.updateManyAndReturn({
    where: { id: user_id, ...open },
    data: { invitation_open: false, updated_at: now },
    select: { email: true },
  });
  if (!user)
    throw new HttpProblem(
      'invitation_used',
      'This invitation has been accepted or replaced by a newer one.',
    );
  await db.prisma.user.updateMany({
    where: { id: user_id, joined_at: null },
    data: { joined_at: now, updated_at: now },
  });
  // Without mail the link was shown to the person who invites: it proves nothing of the address.
  if (!mailer.instant) await confirmInvitedAddress(db, user.email, now);
  return user.email;
}
