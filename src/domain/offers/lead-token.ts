import { randomBytes } from 'node:crypto';
import type { Db } from '../../data/db';
import { leadTokenTaken } from '../../platform/errors';
import type { Authenticator } from '../../api/auth/authenticator';

export type TokenOwner = { offer_id: bigint } | { schedule_id: bigint };

export const newLeadToken = (): string => randomBytes(16).toString('hex');

/** Makes `token` the only lead token of an offer or a schedule; the one before becomes invalid. */
async function setLeadToken(db: Db, owner: TokenOwner, token: string): Promise<void> {
  await revokeLeadToken(db, owner);
  if (!(await db.keys.claim('lead_token', token))) throw leadTokenTaken();
  await db.prisma.leadToken.create({ data: { ...owner, token, company_id: db.company_id } });
}

/** Revokes the lead token of an offer or a schedule; tokens of traffic sources stay. */
export async function revokeLeadToken(db: Db, owner: TokenOwner): Promise<void> {
  await db.prisma.leadToken.deleteMany({ where: { ...owner, traffic_source_id: null } });
}

interface TokenFields {
  lead_token?: string | null | undefined;
  reset_lead_token?: boolean | undefined;
}
interface StoredToken {
  lead_token: string;
}

/** The token of an offer or a schedule after a write; `stored` is absent for a new one. */
export const chooseLeadToken = (
  { lead_token, reset_lead_token }: TokenFields,
  before: StoredToken | undefined,
): string => {
  if (before) return reset_lead_token ? newLeadToken() : before.lead_token;
  return lead_token ?? newLeadToken();
};

/** Makes the token that a write has chosen the only one, and forgets the one before. */
export async function saveLeadToken(
  tx: Db,
  owner: TokenOwner,
  { token, before }: { token: string; before: StoredToken | undefined },
  { forget }: Pick<Authenticator, 'forget'>,
): Promise<void> {
  if (token === before?.lead_token) return;
  await setLeadToken(tx, owner, token);
  // Not before the commit: the next request would cache it again.
  if (before) tx.afterCommit(() => forget(before.lead_token));
}
