import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import type { Directory } from '../../db/directory';
import { FIND_OPEN_INVITATION } from '../queries/invitations';
import { anonymousCaller } from './caller';
import type { FailedAttempts } from './failed-attempts';
import { fieldOf, takeField } from './fields';
import type { Scheme } from './scheme';

/** An invitation that can be accepted. */
export interface Invitation {
  company_id: bigint;
  user_id: bigint;
  /** Which of the user's invitations it is: earlier ones are void. */
  number: number;
}

/** How long one can be accepted. */
export const INVITED_DAYS = 7;

/**
 * The token in the link of an invitation: the user, and a keyed digest of that. It is not stored,
 * and every mail of one invitation has the same.
 */
export function invitationToken(
  { company_id, user_id, number }: Invitation,
  pepper: string,
): string {
  const named = `${company_id}-${user_id}-${number}`;
  return `inv-${named}-${createHmac('sha256', pepper).update(`invitation/${named}`).digest('hex')}`;
}

export interface InvitationOptions {
  directory: Directory;
  pepper: string;
  clock: () => Date;
}

/** Authenticates by the token of an open invitation, `invitation_token` in query or body. */
export function invitationScheme(options: InvitationOptions, failures: FailedAttempts): Scheme {
  return {
    authenticate: async (req) => {
      const token = tokenOf(req);
      const invitation =
        typeof token === 'string' ? await findInvitation(token, options) : undefined;
      if (!invitation) throw await failures.problemFor(req, token !== undefined);
      return { caller: anonymousCaller(invitation.company_id), owner: undefined, invitation };
    },
  };
}

/** The token as it was sent; it is removed from the body. */
function tokenOf(req: Request): unknown {
  const in_body = takeField(req.body, 'invitation_token');
  return in_body ?? fieldOf(req.query, 'invitation_token');
}

/** The invitation of a token that is right and can still be accepted. */
async function findInvitation(
  token: string,
  { directory, pepper, clock }: InvitationOptions,
): Promise<Invitation | undefined> {
  const [, company = '', user = '', number = ''] =
    /^inv-(\d{1,15})-(\d{1,15})-(\d{1,9})-[0-9a-f]{64}$/.exec(token) ?? [];
  if (!number) return undefined;
  const invitation = { company_id: BigInt(company), user_id: BigInt(user), number: Number(number) };
  const right = invitationToken(invitation, pepper);
  if (right.length !== token.length || !timingSafeEqual(Buffer.from(right), Buffer.from(token)))
    return undefined;
  const sql = await directory.ofCompany(invitation.company_id);
  const open = await sql?.(FIND_OPEN_INVITATION, {
    ...invitation,
    now: clock(),
    valid_days: INVITED_DAYS,
  });
  return open?.length ? invitation : undefined;
}
