import type { Request } from 'express';
import type { Directory } from '../../data/directory';
import { FIND_OPEN_INVITATION } from './queries/invitations';
import { anonymousCaller } from './caller';
import type { FailedAttempts } from './failed-attempts';
import { readField, takeField } from './fields';
import { linkToken, readLinkToken } from './link-tokens';
import type { Scheme } from './scheme';
import type { Invitation } from './scheme';

export const INVITED_DAYS = 7;

const KIND = { prefix: 'inv', label: 'invitation' };

export const invitationToken = (
  { company_id, user_id, number }: Invitation,
  pepper: string,
): string => linkToken(KIND, { company_id, id: user_id, number }, pepper);

export interface InvitationOptions {
  directory: Directory;
  pepper: string;
  clock: () => Date;
}

/** Authenticates by the token of an open invitation, `invitation_token` in query or body. */
export function invitationScheme(options: InvitationOptions, failures: FailedAttempts): Scheme {
  return {
    authenticate: async (req) => {
      const token = takeToken(req);
      const invitation =
        typeof token === 'string' ? await findInvitation(token, options) : undefined;
      if (!invitation) throw await failures.problemFor(req, token !== undefined);
      return { caller: anonymousCaller(invitation.company_id), owner: undefined, invitation };
    },
  };
}

function takeToken(req: Request): unknown {
  const inBody = takeField(req.body, 'invitation_token');
  return inBody ?? readField(req.query, 'invitation_token');
}

/** Undefined for a wrong token, or one that can no longer be accepted. */
export async function findInvitation(
  token: string,
  { directory, pepper, clock }: InvitationOptions,
): Promise<Invitation | undefined> {
  const target = readLinkToken(KIND, token, pepper);
  if (!target) return undefined;
  const { company_id, id: userId, number } = target;
  const invitation = { company_id, user_id: userId, number };
  const sql = await directory.findCompanyDatabase(invitation.company_id);
  const open = await sql?.(FIND_OPEN_INVITATION, {
    ...invitation,
    now: clock(),
    valid_days: INVITED_DAYS,
  });
  return open?.length ? invitation : undefined;
}
