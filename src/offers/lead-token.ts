import { randomBytes } from 'node:crypto';
import type { Db } from '../db/tenant';
import type { Authenticator } from '../http/auth/authenticator';

export type TokenOwner = { offer_id: bigint } | { schedule_id: bigint };

/** A lead token that nobody has. */
export const newLeadToken = (): string => randomBytes(16).toString('hex');

/** Makes `token` the one lead token of an offer or a schedule: any other is refused from then on. */
export async function setLeadToken(db: Db, owner: TokenOwner, token: string): Promise<void> {
  await revokeLeadToken(db, owner);
  await db.prisma.leadToken.create({ data: { ...owner, token, company_id: db.company_id } });
}

/** Takes the lead token of an offer or a schedule back. */
export async function revokeLeadToken(db: Db, owner: TokenOwner): Promise<void> {
  await db.prisma.leadToken.deleteMany({ where: owner });
}

/** Runs a write, and once it is committed forgets the lead tokens that it took back: before, the next request would only learn them anew. */
export const forgetAfter =
  ({ forget }: Pick<Authenticator, 'forget'>) =>
  async <T>(db: Pick<Db, 'afterCommit'>, write: (replaced: string[]) => Promise<T>): Promise<T> => {
    const replaced: string[] = [];
    const reply = await write(replaced);
    for (const token of replaced) db.afterCommit(() => forget(token));
    return reply;
  };
