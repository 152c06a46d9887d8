import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Pool } from 'pg';

/** An invitation that can be accepted. */
export interface Invitation {
  company_id: bigint;
  user_id: bigint;
  /** Which of the user's invitations: those before it are void. */
  number: number;
}

/** How long one can be accepted. */
export const INVITED_DAYS = 7;

/**
 * The token of the link in an invitation: whose it is, and a keyed digest of it. Nothing of it is stored, and every mail of one invitation has the same.
 */
export function invitationToken(
  { company_id, user_id, number }: Invitation,
  pepper: string,
): string {
  const named = `${company_id}-${user_id}-${number}`;
  return `inv-${named}-${createHmac('sha256', pepper).update(`invitation/${named}`).digest('hex')}`;
}

const OPEN = `SELECT FROM users WHERE company_id = $1 AND id = $2 AND invitation_number = $3 AND invitation_open AND deleted_at IS NULL
  AND invited_at > $4::timestamptz - interval '${INVITED_DAYS} days'`;

/** The invitation that a token is for, if it is right and can still be accepted. */
export async function findInvitation(
  pool: Pool,
  token: string,
  { pepper, now }: { pepper: string; now: Date },
): Promise<Invitation | undefined> {
  const [, company = '', user = '', number = ''] =
    /^inv-(\d{1,15})-(\d{1,15})-(\d{1,9})-[0-9a-f]{64}$/.exec(token) ?? [];
  if (!number) return undefined;
  const invitation = { company_id: BigInt(company), user_id: BigInt(user), number: Number(number) };
  const right = invitationToken(invitation, pepper);
  if (right.length !== token.length || !timingSafeEqual(Buffer.from(right), Buffer.from(token)))
    return undefined;
  const { rows } = await pool.query({
    name: 'find_invitation',
    text: OPEN,
    values: [company, user, number, now.toISOString()],
  });
  return rows[0] && invitation;
}
