import { timingSafeEqual } from 'node:crypto';
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
  /** Digest of its token; null when it needs none. */
  digest: Buffer | null;
}

export interface WebhookTokenScheme extends Scheme {
  /** Looks an inbound webhook up again that was changed in this process. */
  forget(vanity_uri: string): void;
}

/** Authenticates by the token of the inbound webhook in the path, if it has one. */
export function webhookTokenScheme(
  directory: Directory,
  pepper: string,
  failures: FailedAttempts,
): WebhookTokenScheme {
  const lookup = cachedLookup((vanity_uri) => findWebhook(directory, vanity_uri));
  const isRight = ({ digest }: SellersEndpoint, token: string | undefined) =>
    !digest || (token !== undefined && timingSafeEqual(digestOf(pepper, token), digest));
  return {
    forget: lookup.forget,
    authenticate: async (req) => {
      const token = tokenOf(req);
      const webhook = await lookup.find(String(req.params.vanity_uri));
      if (webhook && isRight(webhook, token)) {
        // A token proves that its sender has not guessed the name.
        const refusal = webhook.digest ? undefined : await failures.refusalOf(req);
        if (refusal) throw refusal;
        return { caller: anonymousCaller(webhook.company_id), owner: undefined, webhook };
      }
      // An unknown name is an attempt too, with or without a token, and so is one whose token is
      // missing: names cannot be guessed fast.
      const problem = await failures.problemFor(req, true);
      if (problem.status === 429) throw problem;
      if (!webhook) throw notFound();
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

async function findWebhook(
  directory: Directory,
  vanity_uri: string,
): Promise<SellersEndpoint | undefined> {
  if (!/^[a-z0-9_-]{3,100}$/.test(vanity_uri)) return undefined;
  const [row] = await whereKeyIs(directory, ['inbound_webhook', vanity_uri], (sql) =>
    sql(FIND_INBOUND_WEBHOOK, { vanity_uri }),
  );
  return row && { ...row, company_id: BigInt(row.company_id), id: BigInt(row.id), vanity_uri };
}
