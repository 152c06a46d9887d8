import { randomBytes } from 'node:crypto';
import type { Db } from '../db/tenant';
import { HttpProblem } from '../errors';
import { digestOf } from '../http/auth/authenticator';
import { INSERT_LOOKUP } from './queries/inbound-webhooks';

export interface WebhookToken {
  /** Shown once. */
  token: string;
  /** What is stored of it. */
  digest: Uint8Array<ArrayBuffer>;
}

/** A token that senders to an endpoint must show. */
export function newWebhookToken(pepper: string): WebhookToken {
  const token = `wt_${randomBytes(32).toString('hex')}`;
  return { token, digest: new Uint8Array(digestOf(pepper, token)) };
}

/** Makes a name the address of an endpoint. Throws 422 if another endpoint has it. */
export async function takeVanityUri(
  db: Db,
  inbound_webhook_id: bigint,
  vanity_uri: string,
): Promise<void> {
  await db.prisma.inboundWebhookLookup.deleteMany({ where: { inbound_webhook_id } });
  const taken = await db.sql(INSERT_LOOKUP, { vanity_uri, inbound_webhook_id });
  if (taken.length === 0)
    throw HttpProblem.field('vanity_uri', 'is taken; it must be unique in this installation');
}
