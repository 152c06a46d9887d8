import { moveCount } from '../../data/counts/counters';
import type { Db } from '../../data/db';
import { createdAt, deletedAt } from '../../data/timestamps';
import type { Caller } from '../../api/auth/caller';
import { digestSecret } from '../../api/auth/credentials';
import { findOrCreateUsers } from './find-or-create-users';
import { EXPIRE_CREDENTIALS } from './queries/access-tokens';
import { mintCredentials, formatUserToken } from '../../api/auth/credentials';

export interface NewCredentials {
  name: string;
  kind: Caller['kind'];
  permissions: string[];
  superuser: boolean;
  /** Only for a user token; a user is created where the address is new. */
  user_email?: string | undefined;
  /** The user of a session. */
  user_id?: bigint;
  expires_at?: Date | null | undefined;
}

export interface IssuedCredentials {
  id: bigint;
  public_key: string;
  /** Only for a key pair. Shown only once: only its keyed digest is stored. */
  private_key?: string;
  /** Only for a user token, or a session: what its cookie has. */
  token?: string;
}

/** Creates credentials and counts them, in the given transaction. */
export async function issueCredentials(
  db: Db,
  input: NewCredentials,
  options: { pepper: string; now: Date },
): Promise<IssuedCredentials> {
  const issued = await createCredentials(db, input, options);
  await moveCount(db, 'access_tokens', 1);
  return issued;
}

/** Creates credentials with the row by which requests find them. Does not count them. */
export async function createCredentials(
  db: Db,
  input: NewCredentials,
  { pepper, now }: { pepper: string; now: Date },
): Promise<IssuedCredentials> {
  const { company_id } = db;
  const credentials = mintCredentials(input.kind);
  const { public_key, secret } = credentials;
  const userId =
    input.user_email === undefined
      ? (input.user_id ?? null)
      : (await findOrCreateUsers(db, [input.user_email], now))[0]!;
  const { id } = await db.prisma.accessToken.create({
    data: {
      company_id,
      name: input.name,
      kind: input.kind,
      public_key,
      secret_digest: new Uint8Array(digestSecret(pepper, secret)),
      permissions: [...new Set(input.permissions)].toSorted(),
      superuser: input.superuser,
      user_id: userId,
      expires_at: input.expires_at ?? null,
      ...createdAt(now),
    },
    select: { id: true },
  });
  // The key is random, so that the claim cannot conflict.
  await db.keys.claim('credential', public_key);
  await db.prisma.credentialLookup.create({
    data: { public_key, company_id, access_token_id: id },
  });
  return {
    id,
    public_key,
    ...(input.kind === 'key_pair'
      ? { private_key: secret }
      : { token: formatUserToken(credentials) }),
  };
}

export async function revokeCredentials(db: Db, id: bigint, now: Date): Promise<boolean> {
  const { count } = await db.prisma.accessToken.updateMany({
    where: { id, deleted_at: null },
    data: deletedAt(now),
  });
  if (count === 1) await moveCount(db, 'access_tokens', -1);
  return count === 1;
}

/**
 * Issues credentials with the rights and the expiry of existing ones, which then work until
 * `old_expires_at` at most. Returns undefined if the existing ones are revoked, have expired, or are
 * those of a session.
 */
export async function rotateCredentials(
  db: Db,
  id: bigint,
  { pepper, now, old_expires_at }: { pepper: string; now: Date; old_expires_at: Date },
): Promise<IssuedCredentials | undefined> {
  const [old] = await db.sql(EXPIRE_CREDENTIALS, {
    id,
    now: now.toISOString(),
    expires_at: old_expires_at.toISOString(),
  });
  if (!old) return undefined;
  const credentials = { ...old, kind: old.kind as NewCredentials['kind'] };
  return issueCredentials(
    db,
    { ...credentials, user_email: old.user_email ?? undefined },
    { pepper, now },
  );
}
