import { invitationToken, INVITED_DAYS } from '../../api/auth/invitations';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { buildInvitationLink } from './console-links';

const DAY_MS = 86_400_000;

export interface InvitationLink {
  link: string;
  expires_at: Date;
}

/**
 * The link of a user's open invitation, for an installation that sends no mail; undefined without
 * one. Its holder becomes the user.
 */
export async function findInvitationLink(
  { prisma, company_id }: Pick<Db, 'prisma' | 'company_id'>,
  userId: bigint,
  { config, pepper, now }: Pick<Deps, 'config' | 'pepper'> & { now: Date },
): Promise<InvitationLink | undefined> {
  const user = await prisma.user.findFirst({
    where: { id: userId, invitation_open: true, deleted_at: null },
    select: { invitation_number: true, invited_at: true },
  });
  if (!user?.invited_at) return undefined;
  const expiresAt = new Date(user.invited_at.getTime() + INVITED_DAYS * DAY_MS);
  const invitation = { company_id, user_id: userId, number: user.invitation_number };
  return expiresAt <= now
    ? undefined
    : {
        link: buildInvitationLink(config, invitationToken(invitation, pepper)),
        expires_at: expiresAt,
      };
}
