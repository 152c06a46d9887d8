import { substitute, tokenNames, type TokenSource } from '../tokens/substitute';
import type { Outgoing } from './guarded-request';

/** A request as a customer has written it: tokens stand in its URL, its headers and its body. */
export interface RequestTemplate {
  url: string;
  method: string;
  headers: Record<string, string>;
  /** Null for what is sent by default. */
  body: string | null;
}

/** Headers that are made at each attempt. */
export const SIGNING_HEADERS: ReadonlySet<string> = new Set([
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]);

/** A request with the values of its tokens; `fallback` is the body where none is written. */
export function filled(
  { url, method, headers, body }: RequestTemplate,
  tokens: TokenSource,
  fallback: string,
): Omit<Outgoing, 'timeout_ms'> {
  const verb = method.toUpperCase();
  const own = Object.entries(headers).filter(([name]) => !SIGNING_HEADERS.has(name.toLowerCase()));
  const values = Object.fromEntries(
    own.map(([name, value]) => [name, headerValue(substitute(value, tokens))]),
  );
  const named = Object.entries(values).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const media_type =
    named ?? (body === null || isJson(body) ? 'application/json' : 'text/plain; charset=utf-8');
  const bodiless = verb === 'GET' || verb === 'DELETE';
  return {
    url: substitute(url, tokens, encodeURIComponent),
    method: verb,
    headers: { ...(bodiless || named ? {} : { 'Content-Type': media_type }), ...values },
    ...(bodiless
      ? {}
      : { body: body === null ? fallback : substitute(body, tokens, escapeIn(media_type)) }),
  };
}

/** Whether the values of tokens make a difference to it. */
export const usesTokens = ({ url, headers, body }: RequestTemplate): boolean =>
  [url, body ?? '', ...Object.values(headers)].some((text) => tokenNames(text).length > 0);

/** Without line breaks, which would begin another header; other control characters have no place in one either. Beyond Latin-1 as UTF-8. */
function headerValue(text: string): string {
  const line = text.replace(/[\x00-\x08\x0a-\x1f\x7f]+/g, ' ').trim();
  return /[^\x00-\xff]/.test(line) ? Buffer.from(line, 'utf8').toString('latin1') : line;
}

/** A text may begin with a token, {{name}} or [name]{default}, too. */
const isJson = (body: string): boolean => /^\s*(\{(?!\{)|\[(?![a-z0-9_]+\]\{))/.test(body);

/** How a value is written in a body: in JSON it stands between quotes that the author has written. */
function escapeIn(media_type: string): ((value: string) => string) | undefined {
  if (/json/i.test(media_type)) return (value) => JSON.stringify(value).slice(1, -1);
  return /x-www-form-urlencoded/i.test(media_type) ? encodeURIComponent : undefined;
}

const SECRET_NAME = /^(proxy-)?authorization$|cookie|token|secret|key|password|passwd|credential/i;

/** Headers as they may be shown. */
export const shownHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      SECRET_NAME.test(name) ? '[hidden]' : value,
    ]),
  );

/** The beginning of a text as PostgreSQL takes it in JSON: without U+0000, and without half of a pair where it is cut. */
export const storable = (text: string, longest: number): string =>
  text
    .slice(0, longest)
    .replaceAll('\u0000', '\ufffd')
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
