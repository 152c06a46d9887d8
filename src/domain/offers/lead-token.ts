import { randomBytes } from 'node:crypto';
import type { Db } from '../../data/db';
import { leadTokenTaken } from '../../platform/errors';
import type { Authenticator } from '../../api/auth/authenticator';

export type TokenOwner = { offer_id: bigint } | { schedule_id: bigint };

export const newLeadToken = (): string => randomBytes(16).toString('hex');

/**
 * Revokes the lead token of an offer or a schedule, and forgets it after the commit: before it, the
 * next request would cache it again. Tokens of traffic sources stay.
 */
export async function revokeLeadToken(
  tx: Db,
  owner: TokenOwner,
  token: string,
  { forget }: Pick<Authenticator, 'forget'>,
): Promise<void> {
  await tx.prisma.leadToken.deleteMany({ where: { ...owner, traffic_source_id: null } });
  tx.afterCommit(() => forget(token));
}

interface TokenFields {
  lead_token?: string | null | undefined;
  reset_lead_token?: boolean | undefined;
}
interface StoredToken {
  lead_token: string;
}

/** The token of an offer or a schedule after a write; `before` is absent for a new one. */
export const chooseLeadToken = (
  { lead_token, reset_lead_token }: TokenFields,
  before: StoredToken | undefined,
): string => {
  if (before) return reset_lead_token ? newLeadToken() : before.lead_token;
  return lead_token ?? newLeadToken();
};

/** Makes the token that a write has chosen the only one of an offer or a schedule. */
export async function saveLeadToken(
  tx: Db,
  owner: TokenOwner,
  { token, before }: { token: string; before: StoredToken | undefined },
  authenticator: Pick<Authenticator, 'forget'>,
): Promise<void> {
  if (token === before?.lead_token) return;
  if (before) await revokeLeadToken(tx, owner, before.lead_token, authenticator);
  if (!(await tx.keys.claim('lead_token', token))) throw leadTokenTaken();
  await tx.prisma.leadToken.create({ data: { ...owner, token, company_id: tx.company_id } });
}
