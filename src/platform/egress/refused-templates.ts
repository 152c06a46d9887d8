import { findHeaderFault } from './refused-headers';
import { SIGNING_HEADERS } from './request-template';
import { fillAll } from '../tokens/substitute';
import { findUrlFault } from './refused-urls';

// Why the URL or the headers of a signed request must not be saved, in words that follow the name
// of a field; undefined where they may be. Both may contain tokens.

/** The host is fixed: a token must not choose who gets a request. */
export const findTemplateUrlFault = (
  url: string,
  allowNetworks: readonly string[],
): string | undefined =>
  findUrlFault(fillAll(url, 'x'), allowNetworks) ??
  (parseOrigin(url) === undefined ? 'must name its host without tokens' : undefined);

/** Headers that the service sets to sign are refused too. */
export function findTemplateHeaderFault(headers: Record<string, string>): string | undefined {
  const signing = Object.keys(headers).find((name) => SIGNING_HEADERS.has(name.toLowerCase()));
  return signing
    ? `must not have the header ${signing}: it is set by the service`
    : findHeaderFault(headers);
}

/** Scheme, host and port of a URL; undefined where they contain tokens, or it is not a URL. */
export function parseOrigin(url: string): string | undefined {
  const [first, second] = ['x', 'y']
    .map((value) => fillAll(url, value))
    .map((plain) => (URL.canParse(plain) ? new URL(plain).origin : undefined));
  return first === second ? first : undefined;
}
