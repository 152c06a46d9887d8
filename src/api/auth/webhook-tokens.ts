import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { queryByKey, type Directory } from '../../data/directory';
import { notFound } from '../../platform/errors';
import { FIND_INBOUND_WEBHOOK } from './queries/inbound-webhooks';
import { cachedLookup } from './cache';
import { anonymousCaller } from './caller';
import { digestSecret } from './credentials';
import type { FailedAttempts } from './failed-attempts';
import { takeField } from './fields';
import type { Scheme } from './scheme';
import type { SellersEndpoint } from './scheme';

/** An endpoint with the digests of the tokens that open it. */
interface StoredEndpoint extends Omit<SellersEndpoint, 'is_public'> {
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
  return { token, digest: new Uint8Array(digestSecret(pepper, token)) };
}

export interface WebhookTokenScheme extends Scheme {
  forget(vanityUri: string): void;
  /** Drops all of them: a token of a traffic source was revoked. */
  forgetAll(): void;
}

/** Authenticates by the token of the inbound webhook in the path, if it has one. */
export function webhookTokenScheme(
  directory: Directory,
  pepper: string,
  failures: FailedAttempts,
): WebhookTokenScheme {
  const lookup = cachedLookup((vanityUri) => findWebhook(directory, vanityUri));
  /** The endpoint for a sender with this token; undefined for a wrong one. */
  const opened = (
    endpoint: StoredEndpoint,
    token: string | undefined,
  ): SellersEndpoint | undefined => {
    const { digest, of_sources, ...webhook } = endpoint;
    const shown = token === undefined ? undefined : digestSecret(pepper, token);
    const source =
      shown && of_sources.find((sourceToken) => timingSafeEqual(shown, sourceToken.digest));
    if (source)
      return { ...webhook, is_public: false, traffic_source_id: source.traffic_source_id };
    if (!digest) return { ...webhook, is_public: true };
    return shown && timingSafeEqual(shown, digest) ? { ...webhook, is_public: false } : undefined;
  };
  return {
    forget: lookup.forget,
    forgetAll: lookup.forgetAll,
    authenticate: async (req) => {
      const token = takeToken(req);
      const endpoint = await lookup.find(String(req.params.vanity_uri));
      const webhook = endpoint && opened(endpoint, token);
      if (webhook) {
        // A token proves that its sender has not guessed the name.
        const refusal = !webhook.is_public ? undefined : await failures.findRefusal(req);
        if (refusal) throw refusal;
        return { caller: anonymousCaller(webhook.company_id), owner: undefined, webhook };
      }
      // An unknown name is an attempt too, with or without a token, and so is one whose token is
      // missing: names cannot be guessed fast.
      const problem = await failures.problemFor(req, true);
      if (problem.status === 429) throw problem;
      if (!endpoint) throw notFound();
      throw token === undefined ? await failures.problemFor(req, false) : problem;
    },
  };
}

/**
 * The token in `auth_token` of the query or the body, which it is removed from, or in
 * `Authorization: Token`.
 */
function takeToken(req: Request): string | undefined {
  const inBody = takeField(req.body, 'auth_token');
  const inQuery = takeField(req.query, 'auth_token');
  const [, inHeader] =
    /^(?:token|bearer)\s+(?:token=)?"?([^"\s]+)"?\s*$/i.exec(req.headers.authorization ?? '') ?? [];
  const token = inQuery ?? inBody ?? inHeader;
  return typeof token === 'string' && token !== '' ? token : undefined;
}

async function findWebhook(
  directory: Directory,
  vanityUri: string,
): Promise<StoredEndpoint | undefined> {
  if (!/^[a-z0-9_-]{3,100}$/.test(vanityUri)) return undefined;
  const [row] = await queryByKey(directory, ['inbound_webhook', vanityUri], (sql) =>
    sql(FIND_INBOUND_WEBHOOK, { vanity_uri: vanityUri }),
  );
  if (!row) return undefined;
  return {
    ...row,
    company_id: BigInt(row.company_id),
    id: BigInt(row.id),
    vanity_uri: vanityUri,
    of_sources: row.of_sources.map(({ digest, traffic_source_id }) => ({
      digest: Buffer.from(digest, 'hex'),
      traffic_source_id,
    })),
  };
}
