import { createHmac } from 'node:crypto';

// Standard Webhooks (https://www.standardwebhooks.com): requests are signed with a secret that the
// receiver knows.

/** How long the previous secret stays valid after a rotation. */
const OLD_SECRET_MS = 24 * 3_600_000;

export interface Secrets {
  uuid: string;
  secret_version: number;
  secret_rotated_at: Date | null;
}

/** Derives the secret of a webhook from the pepper of the installation; it is not stored. */
function deriveKey(pepper: string, uuid: string, version: number): Buffer {
  return createHmac('sha256', pepper).update(`outgoing_webhook/${uuid}/${version}`).digest();
}

export const formatSecret = (
  pepper: string,
  { uuid, secret_version }: Pick<Secrets, 'uuid' | 'secret_version'>,
): string => `whsec_${deriveKey(pepper, uuid, secret_version).toString('base64')}`;

/** The keys to sign with, current one first: for a day after a rotation there are two. */
export function deriveKeys(
  pepper: string,
  { uuid, secret_version, secret_rotated_at }: Secrets,
  now: Date,
): Buffer[] {
  const before =
    secret_rotated_at !== null && now.getTime() < secret_rotated_at.getTime() + OLD_SECRET_MS;
  return [secret_version, ...(before ? [secret_version - 1] : [])].map((version) =>
    deriveKey(pepper, uuid, version),
  );
}

export function buildSignatureHeaders(
  keys: readonly Buffer[],
  { id, at, body }: { id: string; at: Date; body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signatures = keys.map(
    (key) =>
      `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
