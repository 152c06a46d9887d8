import { createHmac, timingSafeEqual } from 'node:crypto';

export type SignedParams = Record<string, string | string[]>;

/**
 * The X-Twilio-Signature of a request with form parameters: of its URL followed by each key and
 * value, in the order of the keys.
 */
export function computeSignature(authToken: string, url: string, params: SignedParams): string {
  const pairs = Object.keys(params)
    .sort()
    .flatMap((key) => listValues(params[key]!).map((value) => key + value));
  return createHmac('sha1', authToken)
    .update(url + pairs.join(''), 'utf8')
    .digest('base64');
}

/**
 * True if the sender of a request knows the token. `url` is the one that the carrier was given,
 * with its query, not the one a proxy made of it.
 */
export function isSigned(
  authToken: string,
  signature: string | undefined,
  url: string,
  params: SignedParams,
): boolean {
  // Anyone can compute the HMAC of an empty token.
  if (!signature || !authToken) return false;
  return spellings(url).some((spelling) =>
    isSame(signature, computeSignature(authToken, spelling, params)),
  );
}

/** A repeated key counts once with each of its distinct values, sorted. */
const listValues = (value: unknown): string[] => {
  const values = Array.isArray(value) ? value : [value];
  return [...new Set(values.filter((item) => typeof item === 'string'))].sort();
};

/** Twilio signs some URLs with their port, named or implied, and some without. */
function spellings(url: string): string[] {
  const [, scheme, host, rest] = /^(https?):\/\/([^/?#]*)((?:[/?#].*)?)$/s.exec(url) ?? [];
  if (!scheme || !host) return [url];
  const bare = host.replace(/:\d+$/, '');
  const ported = bare === host ? `${host}:${scheme === 'https' ? 443 : 80}` : host;
  return [...new Set([url, `${scheme}://${bare}${rest}`, `${scheme}://${ported}${rest}`])];
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
