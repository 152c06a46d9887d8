import type { Credentials } from './credentials';

/**
 * The key pair of `Authorization: Basic base64(public:private)`: undefined for another scheme, null
 * if it cannot be read.
 */
export function parseKeyPair(authorization: string): Credentials | null | undefined {
  const [, encoded] = /^basic\s+(\S.*)$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon > 0 ? { public_key: text.slice(0, colon), secret: text.slice(colon + 1) } : null;
}
