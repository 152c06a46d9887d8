import { timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { whereKeyIs, type Directory } from '../../db/directory';
import { FIND_CREDENTIALS } from '../queries/credentials';
import { cachedLookup } from './cache';
import { rightsOf, type Caller } from './caller';
import { digestOf, type Credentials } from './credentials';
import type { FailedAttempts } from './failed-attempts';
import { keyPairOf } from './key-pairs';
import type { Scheme } from './scheme';
import { headerToken, parameterToken, queryToken } from './user-tokens';

interface Stored {
  caller: Caller;
  secret_digest: Buffer;
  expires_at: Date | null;
  /**
   * Secrets that were verified, so that each is digested once while it is cached. A set first
   * compares hashes with a seed of the process: its timing reveals nothing of the secret.
   */
  verified: Set<string>;
}

export interface CredentialVerifier {
  /** The owner of the credentials; undefined if they are unknown, wrong, revoked or expired. */
  verify(credentials: Credentials): Promise<Caller | undefined>;
  /** Drops cached credentials that were revoked or changed in this process. */
  forget(public_key: string): void;
  forgetAll(): void;
}

export interface VerifierOptions {
  directory: Directory;
  pepper: string;
  clock: () => Date;
}

export function credentialVerifier({
  directory,
  pepper,
  clock,
}: VerifierOptions): CredentialVerifier {
  const stored = cachedLookup((public_key) => findCredentials(directory, public_key));
  return {
    forget: stored.forget,
    forgetAll: stored.forgetAll,
    verify: async ({ public_key, secret }) => {
      if (!/^[\x21-\x7e]{1,100}$/.test(public_key)) return undefined;
      const known = stored.find(public_key);
      const found = known instanceof Promise ? await known : known;
      if (!found?.verified.has(secret)) {
        const digest = digestOf(pepper, secret);
        if (!found || !timingSafeEqual(digest, found.secret_digest)) return undefined;
        found.verified.add(secret);
      }
      return found.expires_at && found.expires_at <= clock() ? undefined : found.caller;
    },
  };
}

async function findCredentials(
  directory: Directory,
  public_key: string,
): Promise<Stored | undefined> {
  const [row] = await whereKeyIs(directory, ['credential', public_key], (sql) =>
    sql(FIND_CREDENTIALS, { public_key }),
  );
  if (!row) return undefined;
  const { company_name, kind, name, user_email, secret_digest, expires_at } = row;
  const caller = {
    company_id: BigInt(row.company_id),
    company_name,
    access_token_id: BigInt(row.access_token_id),
    kind,
    name,
    public_key,
    credentials: kind === 'key_pair' ? public_key : describeUserToken(row),
    user_id: row.user_id === null ? null : BigInt(row.user_id),
    user_email,
    ...rightsOf(row),
  };
  return { caller, secret_digest, expires_at, verified: new Set() };
}

/** Equal for tokens of one user that have the same rights. */
const describeUserToken = ({
  user_id,
  superuser,
  permissions,
}: {
  user_id: string | null;
  superuser: boolean;
  permissions: readonly string[];
}): string => JSON.stringify([user_id, superuser, permissions]);

/** Credentials of the header: undefined when there are none, null when they cannot be read. */
export function headerCredentials({ headers }: Request): Credentials | null | undefined {
  const { authorization } = headers;
  if (!authorization) return undefined;
  const key_pair = keyPairOf(authorization);
  if (key_pair !== undefined) return key_pair;
  return headerToken(authorization) ?? null;
}

export function accountScheme(credentials: CredentialVerifier, failures: FailedAttempts): Scheme {
  const verified = async (req: Request, sent: Credentials | null | undefined) => {
    const caller = sent ? await credentials.verify(sent) : undefined;
    if (!caller) throw await failures.problemFor(req, sent !== undefined);
    return caller;
  };
  return {
    callerOutsideBody: (req) => {
      const header = headerCredentials(req);
      const sent = header === undefined ? queryToken(req) : header;
      return sent === undefined ? undefined : verified(req, sent);
    },
    authenticate: async (req, _, known) => {
      const token = parameterToken(req);
      return { caller: known ?? (await verified(req, token)), owner: undefined };
    },
  };
}
