import { refusedHeaders } from './refused-headers';
import { SIGNING_HEADERS } from './request-template';
import { refusedUrl } from './refused-urls';

// Why the URL or the headers of a signed request must not be saved, in words that follow the name
// of a field; undefined where they may be. Both may contain tokens.

/** The host is fixed: a token must not choose who gets a request. */
export const refusedTemplateUrl = (
  url: string,
  allow_networks: readonly string[],
): string | undefined =>
  refusedUrl(withTokens(url, 'x'), allow_networks) ??
  (originOf(url) === undefined ? 'must name its host without tokens' : undefined);

/** Headers that the service sets to sign are refused too. */
export function refusedTemplateHeaders(headers: Record<string, string>): string | undefined {
  const signing = Object.keys(headers).find((name) => SIGNING_HEADERS.has(name.toLowerCase()));
  return signing
    ? `must not have the header ${signing}: it is set by the service`
    : refusedHeaders(headers);
}

/** Replaces all tokens, {{name}} or [name]{default}, by a value. */
const withTokens = (url: string, value: string): string =>
  url.replace(/\{\{\s*\w+\s*\}\}|\[\w+\]\{[^}]*\}/g, value);

/** Scheme, host and port of a URL; undefined where they contain tokens, or it is not a URL. */
export function originOf(url: string): string | undefined {
  const [one, other] = ['x', 'y']
    .map((value) => withTokens(url, value))
    .map((plain) => (URL.canParse(plain) ? new URL(plain).origin : undefined));
  return one === other ? one : undefined;
}
