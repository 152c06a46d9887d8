import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import type { Operation } from '../../contract';
import { isSigned } from '../../carriers/signature';
import type { AccessScope } from '../../db/access-scope';
import type { Pool } from 'pg';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { notFound, HttpProblem } from '../../errors';
import { findInvitation, type Invitation } from './invitations';
import { findLeadToken, ownerOf, ownOf, take } from './lead-tokens';
import { findEndpoint, shownToken, type SellersEndpoint } from './webhook-tokens';

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
  /** Of a user, the union of what the teams allow. */
  permissions: ReadonlySet<string>;
  /** Of a user who sees what these teams are granted and no more; absent for whoever sees all of the company's records. */
  teams?: readonly Team[] | undefined;
}

/** A team of a caller. */
export interface Team {
  id: string;
  permissions: ReadonlySet<string>;
}

/** The records that a caller is limited to in what a permission is for: those of the teams that give it. */
export function accessScopeOf(
  { teams, user_id }: Caller,
  scope: string | undefined,
): AccessScope | undefined {
  const allowing = teams?.filter(
    ({ permissions }) => scope === undefined || permissions.has(scope),
  );
  return (
    allowing && {
      scope_user: String(user_id),
      scope_teams: `{${allowing.map(({ id }) => id).join(',')}}`,
    }
  );
}

/** Refuses with 403 a caller without the scope, or who is limited to records where all of the company's are needed. */
export function authorize(
  { superuser, permissions, teams }: Caller,
  { scope, unlimited, credentials }: Pick<Operation, 'scope' | 'unlimited' | 'credentials'>,
): void {
  if (credentials !== 'account') return;
  if (scope && !superuser && !permissions.has(scope))
    throw new HttpProblem(403, `These credentials lack the permission ${scope}.`);
  if (unlimited && teams)
    throw new HttpProblem(
      403,
      'This is for superusers and key pairs of the company: your teams are granted single records.',
    );
}

/** Nobody gives away more than they have. Refuses with 422. */
export function requireWithin(
  caller: Caller,
  { permissions, superuser }: { permissions?: readonly string[] | null; superuser?: boolean },
): void {
  if (caller.superuser) return;
  if (superuser)
    throw HttpProblem.field(
      'superuser',
      'must be false: your own credentials are not those of a superuser',
    );
  const beyond = (permissions ?? []).filter((permission) => !caller.permissions.has(permission));
  if (beyond.length > 0)
    throw HttpProblem.field('permissions', `must be among your own; you lack ${beyond.join(', ')}`);
}

/** The offer or the schedule that a lead token belongs to. */
export interface LeadOwner {
  company_id: bigint;
  /** Two letters. */
  country: string;
  token: string;
  offer_id: bigint | null;
  schedule_id: bigint | null;
  /** IANA zone of leads whose own cannot be told. */
  zone: string;
}

export interface Authenticated {
  caller: Caller;
  owner: LeadOwner | undefined;
  webhook?: SellersEndpoint | undefined;
  invitation?: Invitation | undefined;
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
const CHALLENGE = {
  'WWW-Authenticate': 'Basic realm="Trunkline", charset="UTF-8", Token realm="Trunkline"',
};

export const digestOf = (pepper: string, secret: string): Buffer =>
  createHmac('sha256', pepper).update(secret).digest();

/** New credentials: what is shown, and the part that may be stored. A user token is its public part, an underscore and its secret. */
export function mintCredentials(kind: Caller['kind']): Credentials {
  const prefix = kind === 'key_pair' ? 'pk' : 'ut';
  return {
    public_key: `${prefix}_${randomBytes(12).toString('hex')}`,
    secret: randomBytes(32).toString('hex'),
  };
}

export const tokenOf = ({ public_key, secret }: Credentials): string => `${public_key}_${secret}`;

/** Credentials of the header: `Basic base64(public:private)`, `Token <t>`, `Token token=<t>`. Undefined when there is none, null when it is malformed. */
function headerCredentials({
  headers: { authorization },
}: Request): Credentials | null | undefined {
  if (!authorization) return undefined;
  const [, scheme = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(authorization) ?? [];
  if (/^basic$/i.test(scheme)) return parseBasic(rest);
  return /^(token|bearer)$/i.test(scheme)
    ? parseToken(rest.replace(/^token=/, '').replace(/^"(.*)"$/, '$1'))
    : null;
}

/** The same of `auth_token` in query or body, where it is taken out. */
function tokenCredentials(req: Request): Credentials | null | undefined {
  const [in_query, in_body] = [ownOf(req.query, 'auth_token'), take(req.body, 'auth_token')];
  const token = in_query ?? in_body;
  return token === undefined ? undefined : typeof token === 'string' ? parseToken(token) : null;
}

/** The credentials of a request; those of the header count. Undefined when there are none, null when they are malformed. */
export function credentialsOf(req: Request): Credentials | null | undefined {
  const token = tokenCredentials(req);
  const header = headerCredentials(req);
  return header === undefined ? token : header;
}

const FIND_NUMBER = `SELECT n.company_id, c.name AS company_name FROM number_lookups n JOIN companies c ON c.id = n.company_id WHERE n.phone_number = $1::bigint AND n.number_id IS NOT NULL`;

function parseBasic(encoded: string): Credentials | null {
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon > 0 ? { public_key: text.slice(0, colon), secret: text.slice(colon + 1) } : null;
}

function parseToken(token: string): Credentials | null {
  const match = /^(ut_[0-9a-f]{24})_([0-9a-f]{64})$/.exec(token.trim());
  return match ? { public_key: match[1]!, secret: match[2]! } : null;
}

const TEAMS = `(SELECT json_agg(json_build_object('id', l.id::text, 'permissions', l.permissions, 'superuser', l.superuser)) FROM access_control_list_users m
  JOIN access_control_lists l ON l.company_id = m.company_id AND l.id = m.access_control_list_id AND l.deleted_at IS NULL WHERE m.company_id = a.company_id AND m.user_id = a.user_id)`;
const FIND = `SELECT c.company_id, p.name AS company_name, c.access_token_id, a.kind, a.name, a.public_key, a.user_id, u.email AS user_email, a.superuser,
  a.permissions, a.secret_digest, a.expires_at, ${TEAMS} AS teams
FROM credential_lookups c JOIN access_tokens a ON a.company_id = c.company_id AND a.id = c.access_token_id JOIN companies p ON p.id = c.company_id
LEFT JOIN users u ON u.company_id = a.company_id AND u.id = a.user_id
WHERE c.public_key = $1 AND a.deleted_at IS NULL AND u.deleted_at IS NULL`;

/** Rights as they are stored. */
interface FoundRights {
  kind: Caller['kind'];
  superuser: boolean;
  permissions: string[];
  teams: { id: string; permissions: string[]; superuser: boolean }[] | null;
}

/**
 * What credentials may do. A key pair what it says. A user's token what the user's teams allow together, and with `permissions` of its own no more than
 * these; one that is a superuser's own everything.
 */
export function rightsOf({
  kind,
  superuser,
  permissions,
  teams,
}: FoundRights): Pick<Caller, 'superuser' | 'permissions' | 'teams'> {
  const own = new Set(permissions);
  if (kind === 'key_pair' || superuser) return { superuser, permissions: own, teams: undefined };
  if (teams?.some((team) => team.superuser))
    return { superuser: own.size === 0, permissions: own, teams: undefined };
  const narrowed = (teams ?? []).map((team) => ({
    id: team.id,
    permissions: new Set(team.permissions.filter((each) => own.size === 0 || own.has(each))),
  }));
  return {
    superuser: false,
    permissions: new Set(narrowed.flatMap((team) => [...team.permissions])),
    teams: narrowed,
  };
}

export interface Authenticator {
  /**
   * Who sends the request, by what its operation asks for, or a Refusal: 401 for bad credentials, 429 after ten of them in a minute from one address.
   */
  authenticate(
    req: Request,
    operation: Pick<Operation, 'credentials' | 'own_number'>,
  ): Promise<Authenticated>;
  /** Forgets credentials, a lead token, or an endpoint by its vanity_uri, that were just revoked or changed in this process. */
  forget(key: string): void;
  /** Forgets what all credentials may do: a team was changed. */
  forgetRights(): void;
}

export interface AuthOptions {
  pool: Pool;
  pepper: string;
  clock: () => Date;
  /** What the carrier signs with, and the address it knows this service by. */
  carrier: { auth_token: string | undefined; public_url: string };
}

export function authenticator({ pool, pepper, clock, carrier }: AuthOptions): Authenticator {
  const bad_tries = new RateLimiterMemory(BAD_TRIES);
  const credentials = kept(async (public_key): Promise<Stored | undefined> => {
    const { rows } = await pool.query({
      name: 'find_credentials',
      text: FIND,
      values: [public_key],
    });
    const row = rows[0];
    return (
      row && {
        ...row,
        company_id: BigInt(row.company_id),
        access_token_id: BigInt(row.access_token_id),
        user_id: row.user_id === null ? null : BigInt(row.user_id),
        ...rightsOf(row),
      }
    );
  });
  const lead_tokens = kept((token) => findLeadToken(pool, token));
  const endpoints = kept((vanity_uri) => findEndpoint(pool, vanity_uri));

  const verify = async ({ public_key, secret }: Credentials): Promise<Stored | undefined> => {
    if (!/^[\x21-\x7e]{1,100}$/.test(public_key)) return undefined;
    const stored = await credentials.find(public_key);
    const digest = digestOf(pepper, secret);
    if (!stored || !timingSafeEqual(digest, stored.secret_digest)) return undefined;
    return stored.expires_at && stored.expires_at <= clock() ? undefined : stored;
  };

  const account = async (req: Request): Promise<Authenticated> => {
    const shown = credentialsOf(req);
    const caller = shown ? await verify(shown) : undefined;
    if (!caller) throw await refuse(bad_tries, req.ip ?? '', shown !== undefined);
    return { caller, owner: undefined };
  };

  const lead = async (req: Request): Promise<Authenticated> => {
    // A header that belongs to some other service is none of our business; credentials of the same company let the sender do more.
    const [header, token] = [headerCredentials(req), tokenCredentials(req)];
    const beside =
      (header && (await verify(header))) ?? (token && (await verify(token))) ?? undefined;
    const owner = await ownerOf(req, lead_tokens.find);
    if (!(owner instanceof HttpProblem))
      return { caller: beside?.company_id === owner.company_id ? beside : nobody(owner), owner };
    if (owner.status !== 401) throw owner;
    const refusal = await refuse(bad_tries, req.ip ?? '', !owner.detail.includes('must be given'));
    throw new HttpProblem(refusal.status, owner.detail, owner.errors, refusal.headers);
  };

  const seller = async (req: Request): Promise<Authenticated> => {
    const shown = shownToken(req);
    const webhook = await endpoints.find(String(req.params.vanity_uri));
    const is_right =
      webhook &&
      (!webhook.digest ||
        (shown !== undefined && timingSafeEqual(digestOf(pepper, shown), webhook.digest)));
    if (is_right) return { caller: nobody(webhook), owner: undefined, webhook };
    const refusal = await refuse(bad_tries, req.ip ?? '', shown !== undefined);
    throw webhook || refusal.status === 429 ? refusal : notFound();
  };

  const signed = async (req: Request, own_number = 'To'): Promise<Authenticated> => {
    const { auth_token, public_url } = carrier;
    const signature = req.get('X-Twilio-Signature');
    const params = (req.body ?? {}) as Record<string, string>;
    if (
      !auth_token ||
      !signature ||
      !isSigned(auth_token, signature, public_url + req.originalUrl, params)
    )
      throw await refuse(bad_tries, req.ip ?? '', signature !== undefined);
    const number =
      /^\+(\d{6,15})$/.exec(String(params[own_number]))?.[1] ??
      /^\d{6,15}$/.exec(String(ownOf(req.query, own_number)))?.[0];
    const { rows } = await pool.query({
      name: 'find_number',
      text: FIND_NUMBER,
      values: [number ?? null],
    });
    if (!rows[0]) throw new HttpProblem(404, `${own_number} is no number of anybody here.`);
    return {
      caller: nobody({ ...rows[0], company_id: BigInt(rows[0].company_id) }),
      owner: undefined,
    };
  };

  const invited = async (req: Request): Promise<Authenticated> => {
    const [in_body, in_query] = [
      take(req.body, 'invitation_token'),
      ownOf(req.query, 'invitation_token'),
    ];
    const shown = in_body ?? in_query;
    const invitation =
      typeof shown === 'string'
        ? await findInvitation(pool, shown, { pepper, now: clock() })
        : undefined;
    if (!invitation) throw await refuse(bad_tries, req.ip ?? '', shown !== undefined);
    return { caller: nobody(invitation), owner: undefined, invitation };
  };

  return {
    forgetRights: credentials.forgetAll,
    forget: (key) => {
      credentials.forget(key);
      lead_tokens.forget(key);
      endpoints.forget(key);
    },
    authenticate: (req, { credentials: kind, own_number }) => {
      const ways = {
        account: () => account(req),
        lead_token: () => lead(req),
        webhook_token: () => seller(req),
        invitation_token: () => invited(req),
        carrier_signature: () => signed(req, own_number),
      };
      return ways[kind]();
    },
  };
}

/** What was found is known for a moment, so that most requests need not look. */
function kept<T>(look: (key: string) => Promise<T | undefined>) {
  const known = new Map<string, { value: T; until: number }>();
  return {
    forget: (key: string) => void known.delete(key),
    forgetAll: () => known.clear(),
    find: async (key: string): Promise<T | undefined> => {
      const now = Date.now();
      const found = known.get(key);
      if (found && found.until > now) return found.value;
      const value = await look(key);
      if (value === undefined) known.delete(key);
      else {
        if (known.size >= 10_000) known.clear();
        known.set(key, { value, until: now + KNOWN_FOR_MS });
      }
      return value;
    },
  };
}

/** Somebody who may do nothing beyond what needs no permission. */
const nobody = ({
  company_id,
  company_name = '',
}: {
  company_id: bigint;
  company_name?: string;
}): Caller => ({
  company_id,
  company_name,
  access_token_id: 0n,
  kind: 'key_pair',
  name: '',
  public_key: '',
  user_id: null,
  user_email: null,
  superuser: false,
  permissions: new Set(),
});

/** Only credentials that are wrong count as tries: a request without any guesses nothing. */
async function refuse(
  limiter: RateLimiterMemory,
  address: string,
  tried: boolean,
): Promise<HttpProblem> {
  if (!tried)
    return new HttpProblem(
      401,
      'Credentials are needed: Authorization: Basic, Authorization: Token, or auth_token.',
      {},
      CHALLENGE,
    );
  try {
    await limiter.consume(address);
  } catch (rejection) {
    const wait = Math.ceil((rejection as { msBeforeNext: number }).msBeforeNext / 1000);
    return new HttpProblem(
      429,
      'Too many requests with bad credentials from this address.',
      {},
      { 'Retry-After': String(Math.max(1, wait)) },
    );
  }
  return new HttpProblem(401, 'These credentials are not valid.', {}, CHALLENGE);
}
