import { parse } from 'qs';
import { HttpProblem } from '../../platform/errors';
import { decodeEscapes, type FormCharset } from './escapes';

/**
 * Limit of a query string or a form. The contract's operations have fewer fields; lists are longer.
 */
const MAX_PARAMETERS = 1_000;
const DEPTH = 5;

/**
 * The library merges the entries of longer lists into one object, whose cost is linear, and which
 * becomes a list again here.
 */
const OPTIONS = {
  depth: DEPTH,
  strictDepth: true,
  arrayLimit: 100,
  parameterLimit: MAX_PARAMETERS,
  plainObjects: true,
  decoder: (text: string, _: unknown, charset: string) =>
    decodeEscapes(text, charset as FormCharset),
} as const;

/** Reads the text of a form: `a=1`, `a=1&a=2`, `a[]=1`, `a[0]=1` and `a[b]=1`. */
export function readForm(text: string, charset: FormCharset): Record<string, unknown> {
  if (hasTooMany(text))
    throw new HttpProblem(
      'body_too_large',
      `The form has more than ${MAX_PARAMETERS} parameters. Send a list as one text, with commas,` +
        ' or the body as JSON.',
    );
  return read(text, charset, 'body');
}

/** Like `readForm`, for a query string. */
export function readQuery(text: string | null | undefined): Record<string, unknown> {
  if (!text) return {};
  if (hasTooMany(text))
    throw HttpProblem.field(
      'query',
      'limit_exceeded',
      `must not have more than ${MAX_PARAMETERS} parameters; a list can be one text, with commas`,
    );
  return plainQuery(text) ?? read(text, 'utf-8', 'query');
}

/**
 * Equals the result of qs for a text such as `a=1&b=2`, where nothing is encoded, in brackets or
 * repeated; undefined for other texts. Most query strings are so plain, and qs takes ten times as
 * long.
 */
function plainQuery(text: string): Record<string, unknown> | undefined {
  if (/[%+[\]]|__proto__/.test(text)) return undefined;
  const fields = Object.create(null) as Record<string, unknown>;
  for (const part of text.split('&')) {
    const at = part.indexOf('=');
    const name = at < 0 ? part : part.slice(0, at);
    if (name === '') continue;
    if (name in fields) return undefined;
    fields[name] = at < 0 ? '' : part.slice(at + 1);
  }
  return fields;
}

/** Stops counting at the limit. */
function hasTooMany(text: string): boolean {
  let count = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1))
    if (++count > MAX_PARAMETERS) return true;
  return false;
}

function read(text: string, charset: FormCharset, requestPart: string): Record<string, unknown> {
  try {
    return withLists(parse(text, { ...OPTIONS, charset })) as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw HttpProblem.field(
      requestPart,
      'invalid_value',
      `must not be nested deeper than ${DEPTH} levels, as in a[b][c]`,
    );
  }
}

/** Restores lists from objects whose keys are 0, 1, 2 and so on, beyond the library's limit. */
function withLists(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withLists);
  const entries = Object.entries(value);
  if (entries.length > OPTIONS.arrayLimit && entries.every(([key], n) => key === String(n)))
    return entries.map(([, entry]) => withLists(entry));
  for (const [key, entry] of entries)
    if (typeof entry === 'object') (value as Record<string, unknown>)[key] = withLists(entry);
  return value;
}
