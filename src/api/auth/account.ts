import { timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { queryByKey, type Directory } from '../../data/directory';
import { FIND_CREDENTIALS } from './queries/credentials';
import { cachedLookup } from './cache';
import { buildRights, type Caller } from './caller';
import { digestSecret, type Credentials } from './credentials';
import type { FailedAttempts } from './failed-attempts';
import type { Scheme } from './scheme';
import { headerToken, parameterToken, queryToken } from './user-tokens';

interface StoredCredentials {
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
  /**
   * The owner of a key pair or a user token; undefined if it is unknown, wrong, revoked or expired,
   * or the secret of a session: that works in its cookie alone.
   */
  verify(credentials: Credentials): Promise<Caller | undefined>;
  /** Like `verify`, for the cookie of a session, in which nothing else works. */
  verifySession(credentials: Credentials): Promise<Caller | undefined>;
  /** Drops cached credentials that were revoked or changed in this process. */
  forget(publicKey: string): void;
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
  const lookup = cachedLookup((publicKey) => findCredentials(directory, publicKey));
  const verifyAny = async ({ public_key, secret }: Credentials) => {
    if (!/^[\x21-\x7e]{1,100}$/.test(public_key)) return undefined;
    const cachedEntry = lookup.find(public_key);
    const entry = cachedEntry instanceof Promise ? await cachedEntry : cachedEntry;
    if (!entry?.verified.has(secret)) {
      const digest = digestSecret(pepper, secret);
      if (!entry || !timingSafeEqual(digest, entry.secret_digest)) return undefined;
      entry.verified.add(secret);
    }
    return entry.expires_at && entry.expires_at <= clock() ? undefined : entry.caller;
  };
  const verifyKind = async (credentials: Credentials, isSession: boolean) => {
    const caller = await verifyAny(credentials);
    return caller && (caller.kind === 'session') === isSession ? caller : undefined;
  };
  return {
    forget: lookup.forget,
    forgetAll: lookup.forgetAll,
    verify: (credentials) => verifyKind(credentials, false),
    verifySession: (credentials) => verifyKind(credentials, true),
  };
}

async function findCredentials(
  directory: Directory,
  publicKey: string,
): Promise<StoredCredentials | undefined> {
  const [row] = await queryByKey(directory, ['credential', publicKey], (sql) =>
    sql(FIND_CREDENTIALS, { public_key: publicKey }),
  );
  if (!row) return undefined;
  const { company_name, kind, name, user_email, secret_digest, expires_at } = row;
  const caller = {
    company_id: BigInt(row.company_id),
    company_name,
    access_token_id: BigInt(row.access_token_id),
    kind,
    name,
    public_key: publicKey,
    credentials: kind === 'key_pair' ? publicKey : describeUserToken(row),
    user_id: row.user_id === null ? null : BigInt(row.user_id),
    user_email,
    ...buildRights(row),
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
  const keyPair = parseKeyPair(authorization);
  if (keyPair !== undefined) return keyPair;
  return headerToken(authorization) ?? null;
}

export function accountScheme(credentials: CredentialVerifier, failures: FailedAttempts): Scheme {
  const verified = async (req: Request, presentedCredentials: Credentials | null | undefined) => {
    const caller = presentedCredentials
      ? await credentials.verify(presentedCredentials)
      : undefined;
    if (!caller) throw await failures.problemFor(req, presentedCredentials !== undefined);
    return caller;
  };
  return {
    callerOutsideBody: (req) => {
      const header = headerCredentials(req);
      const presentedCredentials = header === undefined ? queryToken(req) : header;
      return presentedCredentials === undefined ? undefined : verified(req, presentedCredentials);
    },
    authenticate: async (req, _, knownCaller) => {
      const token = parameterToken(req);
      return { caller: knownCaller ?? (await verified(req, token)), owner: undefined };
    },
  };
}

/**
 * The key pair of `Authorization: Basic base64(public:private)`: undefined for another scheme, null
 * if it cannot be read.
 */
function parseKeyPair(authorization: string): Credentials | null | undefined {
  const [, encoded] = /^basic\s+(\S.*)$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon > 0 ? { public_key: text.slice(0, colon), secret: text.slice(colon + 1) } : null;
}
