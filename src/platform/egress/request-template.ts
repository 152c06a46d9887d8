import { substitute, substituteXml, tokenNames, type TokenSource } from '../tokens/substitute';
import type { OutgoingRequest } from './guarded-request';

/** A customer's request. Its URL, headers and body may contain tokens. */
export interface RequestTemplate {
  url: string;
  method: string;
  headers: Record<string, string>;
  /** Null for the default body. */
  body: string | null;
}

/** Headers that the service sets on each attempt. */
export const SIGNING_HEADERS: ReadonlySet<string> = new Set([
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]);

/** Replaces the tokens of a request by their values; `fallback` is the default body. */
export function fillTemplate(
  { url, method, headers, body }: RequestTemplate,
  tokens: TokenSource,
  fallback: string,
): Omit<OutgoingRequest, 'timeout_ms'> {
  const verb = method.toUpperCase();
  const customHeaders = Object.entries(headers).filter(
    ([name]) => !SIGNING_HEADERS.has(name.toLowerCase()),
  );
  const values = Object.fromEntries(
    customHeaders.map(([name, value]) => [name, toHeaderValue(substitute(value, tokens))]),
  );
  const request = { url: substitute(url, tokens, encodeURIComponent), method: verb };
  if (verb === 'GET' || verb === 'DELETE') return { ...request, headers: values };
  const typed = Object.entries(values).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const mediaType = typed ?? defaultMediaType(body);
  return {
    ...request,
    headers: { ...(typed ? {} : { 'Content-Type': mediaType }), ...values },
    body: body === null ? fallback : fillBody(body, tokens, mediaType),
  };
}

const defaultMediaType = (body: string | null): string =>
  body === null || isJson(body) ? 'application/json' : 'text/plain; charset=utf-8';

export const usesTokens = ({ url, headers, body }: RequestTemplate): boolean =>
  [url, body ?? '', ...Object.values(headers)].some((text) => tokenNames(text).length > 0);

/**
 * Replaces control characters, such as line breaks, which would begin another header. Characters
 * beyond Latin-1 are sent as UTF-8.
 */
function toHeaderValue(text: string): string {
  const line = text.replace(/[\x00-\x08\x0a-\x1f\x7f]+/g, ' ').trim();
  return /[^\x00-\xff]/.test(line) ? Buffer.from(line, 'utf8').toString('latin1') : line;
}

/** A body that begins with a token is not JSON, unless it may be a list: `[5]`, `[true]`. */
const isJson = (body: string): boolean =>
  /^\s*(?:\{(?!\{)|\[(?![a-z0-9_]+\]\{)(?:(?![a-z0-9_]+\])|(?=(?:\d+|true|false|null)\])))/.test(
    body,
  );

/** Escapes values as the media type does. In JSON the author has written the quotes around them. */
function fillBody(body: string, tokens: TokenSource, mediaType: string): string {
  if (/[/+]xml\b/i.test(mediaType)) return substituteXml(body, tokens);
  if (/json/i.test(mediaType))
    return substitute(body, tokens, (value) => JSON.stringify(value).slice(1, -1));
  const isForm = /x-www-form-urlencoded/i.test(mediaType);
  return substitute(body, tokens, isForm ? encodeURIComponent : undefined);
}

const SECRET_NAME = /^(proxy-)?authorization$|cookie|token|secret|key|password|passwd|credential/i;

export const maskHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      SECRET_NAME.test(name) ? '[hidden]' : value,
    ]),
  );
