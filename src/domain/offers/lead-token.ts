import { randomBytes } from 'node:crypto';
import type { Db } from '../../data/db';
import { leadTokenTaken } from '../../platform/errors';
import type { Authenticator } from '../../api/auth/authenticator';

export type TokenOwner = { offer_id: bigint } | { schedule_id: bigint };

export const newLeadToken = (): string => randomBytes(16).toString('hex');

/** Makes `token` the only lead token of an offer or a schedule; the one before becomes invalid. */
export async function setLeadToken(db: Db, owner: TokenOwner, token: string): Promise<void> {
  await revokeLeadToken(db, owner);
  if (!(await db.keys.claim('lead_token', token))) throw leadTokenTaken();
  await db.prisma.leadToken.create({ data: { ...owner, token, company_id: db.company_id } });
}

/** Revokes the lead token of an offer or a schedule; tokens of traffic sources stay. */
export async function revokeLeadToken(db: Db, owner: TokenOwner): Promise<void> {
  await db.prisma.leadToken.deleteMany({ where: { ...owner, traffic_source_id: null } });
}

/**
 * Runs a write that lists the lead tokens it revokes in `revoked`, and removes these from the cache
 * after the commit. Before it, the next request would cache them again.
 */
export const buildTokenRevoker =
  ({ forget }: Pick<Authenticator, 'forget'>) =>
  async <T>(db: Pick<Db, 'afterCommit'>, write: (revoked: string[]) => Promise<T>): Promise<T> => {
    const revoked: string[] = [];
    const reply = await write(revoked);
    for (const token of revoked) db.afterCommit(() => forget(token));
    return reply;
  };
