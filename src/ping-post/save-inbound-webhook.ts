import { randomBytes } from 'node:crypto';
import type { Db } from '../db/tenant';
import { digestOf } from '../http/auth/credentials';
import { HttpProblem } from '../errors';

export interface WebhookToken {
  /** Shown once. */
  token: string;
  /** What is stored of it. */
  digest: Uint8Array<ArrayBuffer>;
}

/** A token that the senders of an endpoint must show. */
export function newWebhookToken(pepper: string): WebhookToken {
  const token = `wt_${randomBytes(32).toString('hex')}`;
  return { token, digest: new Uint8Array(digestOf(pepper, token)) };
}

/** Makes a name the one address of an endpoint; refuses with 422 when somebody of the installation has it. */
export async function takeVanityUri(
  db: Db,
  inbound_webhook_id: bigint,
  vanity_uri: string,
): Promise<void> {
  await db.prisma.inboundWebhookLookup.deleteMany({ where: { inbound_webhook_id } });
  const taken = await db.query({
    text: 'INSERT INTO inbound_webhook_lookups (vanity_uri, company_id, inbound_webhook_id) VALUES ($1, $2, $3) ON CONFLICT (vanity_uri) DO NOTHING RETURNING 1',
    values: [vanity_uri, db.company_id, inbound_webhook_id],
  });
  if (taken.length === 0)
    throw HttpProblem.field('vanity_uri', 'is taken; it must be unique in this installation');
}
