import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { whereKeyIs, type Directory } from '../../db/directory';
import { notFound } from '../../errors';
import { FIND_INBOUND_WEBHOOK } from '../queries/inbound-webhooks';
import { cachedLookup } from './cache';
import { anonymousCaller } from './caller';
import { digestOf } from './credentials';
import type { FailedAttempts } from './failed-attempts';
import { takeField } from './fields';
import type { Scheme } from './scheme';

/** An inbound webhook, which sellers of calls and leads send pings and posts to. */
export interface SellersEndpoint {
  company_id: bigint;
  id: bigint;
  /** Its address: the last part of its URL. */
  vanity_uri: string;
  /** Two letters. */
  country: string;
  /** True if its sender has shown no token. */
  is_public: boolean;
  /** The traffic source whose token was sent; absent for any other. */
  traffic_source_id?: number;
}

/** An endpoint with the digests of the tokens that open it. */
interface Known extends Omit<SellersEndpoint, 'is_public'> {
  /** Digest of its token; null when it needs none. */
  digest: Buffer | null;
  of_sources: { digest: Buffer; traffic_source_id: number }[];
}

export interface WebhookToken {
  /** Shown once. */
  token: string;
  /** Stored in place of the token. */
  digest: Uint8Array<ArrayBuffer>;
}

export function newWebhookToken(pepper: string): WebhookToken {
  const token = `wt_${randomBytes(32).toString('hex')}`;
  return { token, digest: new Uint8Array(digestOf(pepper, token)) };
}

export interface WebhookTokenScheme extends Scheme {
  forget(vanity_uri: string): void;
  /** Drops all of them: a token of a traffic source was revoked. */
  forgetAll(): void;
}

/** Authenticates by the token of the inbound webhook in the path, if it has one. */
export function webhookTokenScheme(
  directory: Directory,
  pepper: string,
  failures: FailedAttempts,
): WebhookTokenScheme {
  const lookup = cachedLookup((vanity_uri) => findWebhook(directory, vanity_uri));
  /** The endpoint for a sender with this token; undefined for a wrong one. */
  const opened = (known: Known, token: string | undefined): SellersEndpoint | undefined => {
    const { digest, of_sources, ...webhook } = known;
    const shown = token === undefined ? undefined : digestOf(pepper, token);
    const source = shown && of_sources.find((each) => timingSafeEqual(shown, each.digest));
    if (source)
      return { ...webhook, is_public: false, traffic_source_id: source.traffic_source_id };
    if (!digest) return { ...webhook, is_public: true };
    return shown && timingSafeEqual(shown, digest) ? { ...webhook, is_public: false } : undefined;
  };
  return {
    forget: lookup.forget,
    forgetAll: lookup.forgetAll,
    authenticate: async (req) => {
      const token = tokenOf(req);
      const known = await lookup.find(String(req.params.vanity_uri));
      const webhook = known && opened(known, token);
      if (webhook) {
        // A token proves that its sender has not guessed the name.
        const refusal = !webhook.is_public ? undefined : await failures.refusalOf(req);
        if (refusal) throw refusal;
        return { caller: anonymousCaller(webhook.company_id), owner: undefined, webhook };
      }
      // An unknown name is an attempt too, with or without a token, and so is one whose token is
      // missing: names cannot be guessed fast.
      const problem = await failures.problemFor(req, true);
      if (problem.status === 429) throw problem;
      if (!known) throw notFound();
      throw token === undefined ? await failures.problemFor(req, false) : problem;
    },
  };
}

/**
 * The token in `auth_token` of the query or the body, which it is removed from, or in
 * `Authorization: Token`.
 */
function tokenOf(req: Request): string | undefined {
  const in_body = takeField(req.body, 'auth_token');
  const in_query = takeField(req.query, 'auth_token');
  const [, in_header] =
    /^(?:token|bearer)\s+(?:token=)?"?([^"\s]+)"?\s*$/i.exec(req.headers.authorization ?? '') ?? [];
  const token = in_query ?? in_body ?? in_header;
  return typeof token === 'string' && token !== '' ? token : undefined;
}

async function findWebhook(directory: Directory, vanity_uri: string): Promise<Known | undefined> {
  if (!/^[a-z0-9_-]{3,100}$/.test(vanity_uri)) return undefined;
  const [row] = await whereKeyIs(directory, ['inbound_webhook', vanity_uri], (sql) =>
    sql(FIND_INBOUND_WEBHOOK, { vanity_uri }),
  );
  if (!row) return undefined;
  return {
    ...row,
    company_id: BigInt(row.company_id),
    id: BigInt(row.id),
    vanity_uri,
    of_sources: row.of_sources.map(({ digest, traffic_source_id }) => ({
      digest: Buffer.from(digest, 'hex'),
      traffic_source_id,
    })),
  };
}
