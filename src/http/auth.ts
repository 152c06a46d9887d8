import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import type { Pool } from 'pg';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { Refusal } from '../refusal';

/** Whose credentials a request carries. */
export interface Caller {
  company_id: bigint;
  company_name: string;
  access_token_id: bigint;
  kind: 'key_pair' | 'user_token';
  name: string;
  public_key: string;
  user_id: bigint | null;
  user_email: string | null;
  superuser: boolean;
  permissions: ReadonlySet<string>;
}

interface Stored extends Caller {
  secret_digest: Buffer;
  expires_at: Date | null;
}

export interface Credentials {
  public_key: string;
  secret: string;
}

/** How long revoked credentials may still be known to another server process. */
const KNOWN_FOR_MS = 3_000;
const BAD_TRIES = { points: 10, duration: 60 };
const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="Trunkline", charset="UTF-8", Token realm="Trunkline"' };

export const digestOf = (pepper: string, secret: string): Buffer => createHmac('sha256', pepper).update(secret).digest();

/** New credentials: what is shown, and the part that may be stored. A user token is its public part, an underscore and its secret. */
export function mintCredentials(kind: Caller['kind']): Credentials {
  const prefix = kind === 'key_pair' ? 'pk' : 'ut';
  return { public_key: `${prefix}_${randomBytes(12).toString('hex')}`, secret: randomBytes(32).toString('hex') };
}

export const tokenOf = ({ public_key, secret }: Credentials): string => `${public_key}_${secret}`;

/**
 * The credentials of a request: `Basic base64(public:private)`, `Token <t>`, `Token token=<t>`, or `auth_token` in query or body, which is
 * taken out there. Undefined when there are none, null when they are malformed.
 */
export function credentialsOf(req: Request): Credentials | null | undefined {
  const [in_query, in_body] = [take(req.query, 'auth_token'), take(req.body, 'auth_token')];
  const token = in_query ?? in_body;
  const header = req.headers.authorization;
  if (!header) return token === undefined ? undefined : typeof token === 'string' ? parseToken(token) : null;
  const [, scheme = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(header) ?? [];
  if (/^basic$/i.test(scheme)) return parseBasic(rest);
  return /^(token|bearer)$/i.test(scheme) ? parseToken(rest.replace(/^token=/, '').replace(/^"(.*)"$/, '$1')) : null;
}

function take(source: unknown, key: string): unknown {
  if (typeof source !== 'object' || source === null || !Object.hasOwn(source, key)) return undefined;
  const record = source as Record<string, unknown>;
  const value = record[key];
  Reflect.deleteProperty(record, key);
  return value;
}

function parseBasic(encoded: string): Credentials | null {
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon > 0 ? { public_key: text.slice(0, colon), secret: text.slice(colon + 1) } : null;
}

function parseToken(token: string): Credentials | null {
  const match = /^(ut_[0-9a-f]{24})_([0-9a-f]{64})$/.exec(token.trim());
  return match ? { public_key: match[1]!, secret: match[2]! } : null;
}

const FIND = `SELECT c.company_id, p.name AS company_name, c.access_token_id, a.kind, a.name, a.public_key, a.user_id, u.email AS user_email, a.superuser,
  a.permissions, a.secret_digest, a.expires_at
FROM credential_lookups c JOIN access_tokens a ON a.company_id = c.company_id AND a.id = c.access_token_id JOIN companies p ON p.id = c.company_id
LEFT JOIN users u ON u.company_id = a.company_id AND u.id = a.user_id
WHERE c.public_key = $1 AND a.deleted_at IS NULL`;

export interface Authenticator {
  /** The caller, or a Refusal: 401 for bad credentials, 429 after ten of them in a minute from one address, 403 without the scope. */
  authenticate(req: Request, scope: string | undefined): Promise<Caller>;
  /** Forgets credentials that were just revoked in this process. */
  forget(public_key: string): void;
}

export interface AuthOptions {
  pool: Pool;
  pepper: string;
  clock: () => Date;
}

export function authenticator({ pool, pepper, clock }: AuthOptions): Authenticator {
  const known = new Map<string, { stored: Stored; until: number }>();
  const bad_tries = new RateLimiterMemory(BAD_TRIES);

  const find = async (public_key: string): Promise<Stored | undefined> => {
    const now = Date.now();
    const kept = known.get(public_key);
    if (kept && kept.until > now) return kept.stored;
    const { rows } = await pool.query({ name: 'find_credentials', text: FIND, values: [public_key] });
    if (!rows[0]) {
      known.delete(public_key);
      return undefined;
    }
    const row = rows[0];
    const stored: Stored = {
      ...row,
      company_id: BigInt(row.company_id),
      access_token_id: BigInt(row.access_token_id),
      user_id: row.user_id === null ? null : BigInt(row.user_id),
      permissions: new Set(row.permissions),
    };
    if (known.size >= 10_000) known.clear();
    known.set(public_key, { stored, until: now + KNOWN_FOR_MS });
    return stored;
  };

  const verify = async ({ public_key, secret }: Credentials): Promise<Stored | undefined> => {
    if (!/^[\x21-\x7e]{1,100}$/.test(public_key)) return undefined;
    const stored = await find(public_key);
    const digest = digestOf(pepper, secret);
    if (!stored || !timingSafeEqual(digest, stored.secret_digest)) return undefined;
    return stored.expires_at && stored.expires_at <= clock() ? undefined : stored;
  };

  return {
    forget: (public_key) => void known.delete(public_key),
    authenticate: async (req, scope) => {
      const credentials = credentialsOf(req);
      const caller = credentials ? await verify(credentials) : undefined;
      if (!caller) throw await refuse(bad_tries, req.ip ?? '', credentials !== undefined);
      if (scope && !caller.superuser && !caller.permissions.has(scope)) throw new Refusal(403, `These credentials lack the permission ${scope}.`);
      return caller;
    },
  };
}

/** Only credentials that are wrong count as tries: a request without any guesses nothing. */
async function refuse(limiter: RateLimiterMemory, address: string, tried: boolean): Promise<Refusal> {
  if (!tried) return new Refusal(401, 'Credentials are needed: Authorization: Basic, Authorization: Token, or auth_token.', {}, CHALLENGE);
  try {
    await limiter.consume(address);
  } catch (rejection) {
    const wait = Math.ceil((rejection as { msBeforeNext: number }).msBeforeNext / 1000);
    return new Refusal(429, 'Too many requests with bad credentials from this address.', {}, { 'Retry-After': String(Math.max(1, wait)) });
  }
  return new Refusal(401, 'These credentials are not valid.', {}, CHALLENGE);
}
