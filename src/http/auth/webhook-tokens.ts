import type { Request } from 'express';
import type { Pool } from 'pg';
import { take } from './lead-tokens';

/** An endpoint of sellers as it is found by its address. */
export interface SellersEndpoint {
  company_id: bigint;
  id: bigint;
  vanity_uri: string;
  /** Two letters. */
  country: string;
  /** Of the token that must be shown; null when none is needed. */
  digest: Buffer | null;
}

const FIND = `SELECT k.company_id, k.inbound_webhook_id AS id, c.country, w.auth_token_digest AS digest FROM inbound_webhook_lookups k
JOIN companies c ON c.id = k.company_id JOIN inbound_webhooks w ON w.company_id = k.company_id AND w.id = k.inbound_webhook_id WHERE k.vanity_uri = $1`;

/** The living endpoint of an address. */
export async function findEndpoint(
  pool: Pool,
  vanity_uri: string,
): Promise<SellersEndpoint | undefined> {
  if (!/^[a-z0-9_-]{3,100}$/.test(vanity_uri)) return undefined;
  const { rows } = await pool.query({
    name: 'find_inbound_webhook',
    text: FIND,
    values: [vanity_uri],
  });
  const row = rows[0];
  return (
    row && {
      company_id: BigInt(row.company_id),
      id: BigInt(row.id),
      vanity_uri,
      country: row.country,
      digest: row.digest,
    }
  );
}

/** The token in a request: `auth_token` of the query or of the body, where it is taken out, or `Authorization: Token`. */
export function shownToken(req: Request): string | undefined {
  const [in_body, in_query] = [take(req.body, 'auth_token'), take(req.query, 'auth_token')];
  const [, in_header] =
    /^(?:token|bearer)\s+(?:token=)?"?([^"\s]+)"?\s*$/i.exec(req.headers.authorization ?? '') ?? [];
  const shown = in_query ?? in_body ?? in_header;
  return typeof shown === 'string' && shown !== '' ? shown : undefined;
}
