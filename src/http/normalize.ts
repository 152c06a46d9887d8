import type { Facets, Operation, Schema } from '../contract';
import { facets } from '../contract';
import { invalid, notFound, HttpProblem, type FieldFaults } from '../errors';
import { ianaName, parseInstant } from '../time/zone';
import { parsePair, splitPairs } from '../tokens/filters';

const TRUE = new Set(['1', 'true', 'yes', 'on']);
const FALSE = new Set(['0', 'false', 'no', 'off']);
/** Decimal digits only: Number() would take "0x10", "1e999" and "Infinity". */
const NUMBER = /^\s*-?\d{1,15}(\.\d{1,10})?\s*$/;
/** Of nested objects and lists; no real request is deeper. */
const MAX_DEPTH = 32;

interface Context {
  faults: FieldFaults;
  /** IANA zone in which times without an offset are read. */
  zone: string;
}

export interface Input {
  params: Record<string, string>;
  query: Record<string, unknown>;
  body: unknown;
  /** The contract's schema of a body of this media type. */
  body_schema: Schema | undefined;
}

export interface Normal {
  query: Record<string, unknown>;
  body: unknown;
  /** Fields that could not be read, and what is allowed. */
  faults: FieldFaults;
}

/**
 * Turns every accepted spelling ("yes", "12", "", "a,b", "key[]", "2026-01-31 08:00:00 +0000") into
 * the type that the contract declares. What cannot be read is named in `faults`; the rest is
 * checked by the validator. Throws 422 for text that PostgreSQL cannot store.
 */
export function normalize(
  operation: Operation,
  { params, query, body, body_schema }: Input,
): Normal {
  const parameters = operation.parameters.filter((parameter) => parameter.in === 'query');
  const context: Context = {
    faults: Object.create(null) as FieldFaults,
    zone: zoneOf(body) ?? zoneOf(query) ?? 'UTC',
  };
  wellFormed(params, '', context);
  if (Object.keys(context.faults).length > 0) throw notFound();
  wellFormed(query, '', context);
  wellFormed(body, '', context);
  const broken = HttpProblem.fields(context.faults);
  if (broken) throw broken;
  const schemas = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
  const names = otherNames(parameters.map((parameter) => [parameter.name, parameter]));
  return {
    query: properties(
      unbracket(renamed(withoutBodysKeys(query, body, schemas), names), schemas),
      schemas,
      '',
      context,
    ),
    body:
      body_schema && isObject(body) ? bodyOf(body, facets(body_schema).properties, context) : body,
    faults: context.faults,
  };
}

function bodyOf(
  body: Record<string, unknown>,
  schemas: Record<string, Schema>,
  context: Context,
): Record<string, unknown> {
  const names = otherNames(Object.entries(schemas));
  return properties(unbracket(renamed(body, names), schemas), schemas, '', context);
}

type Named = readonly [name: string, field: { 'x-other-names'?: string[] }];

const otherNames = (named: Named[]): [string, string][] =>
  named.flatMap(([name, { 'x-other-names': others = [] }]) =>
    others.flatMap((other): [string, string][] => [
      [other, name],
      [`${other}[]`, `${name}[]`],
    ]),
  );

/** Other names that the contract accepts for a field become the field's own. */
function renamed(
  source: Record<string, unknown>,
  names: [string, string][],
): Record<string, unknown> {
  const found = names.filter(([other, name]) => other in source && !(name in source));
  if (found.length === 0) return source;
  const byOther = new Map(found);
  return Object.fromEntries(
    Object.entries(source).map(([key, value]) => [byOther.get(key) ?? key, value]),
  );
}

function zoneOf(source: unknown): string | undefined {
  const name = isObject(source) ? source.time_zone : undefined;
  return typeof name === 'string' ? ianaName(name) : undefined;
}

/** Without the keys that are in the body too: the body's win. */
function withoutBodysKeys(
  query: Record<string, unknown>,
  body: unknown,
  parameters: Record<string, Schema>,
): Record<string, unknown> {
  if (!isObject(body)) return query;
  return Object.fromEntries(
    Object.entries(query).filter(
      ([key]) => Object.hasOwn(parameters, key) || !Object.hasOwn(body, key),
    ),
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** PostgreSQL stores neither U+0000 nor unpaired surrogates. */
function wellFormed(value: unknown, path: string, context: Context, depth = 0): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) fault(context, path, 'must not contain the character U+0000');
    else if (!value.isWellFormed()) fault(context, path, 'must be well-formed Unicode');
  } else if (typeof value === 'object' && value !== null) {
    if (depth >= MAX_DEPTH)
      return fault(context, path, `must not be nested deeper than ${MAX_DEPTH} levels`);
    for (const [key, inner] of Object.entries(value)) {
      wellFormed(key, path || 'body', context, depth + 1);
      wellFormed(inner, path ? `${path}.${key}` : key, context, depth + 1);
    }
  }
}

function fault({ faults }: Context, path: string, message: string): void {
  (faults[path] ??= []).push(...invalid(message));
}

/** `key[]` is another spelling of a list called `key`. */
function unbracket(
  source: Record<string, unknown>,
  schemas: Record<string, Schema>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(source).map(([key, value]) => {
      const bare = key.endsWith('[]') ? key.slice(0, -2) : key;
      return bare !== key && Object.hasOwn(schemas, bare) && !(bare in source)
        ? [bare, [value].flat()]
        : [key, value];
    }),
  );
}

function properties(
  source: Record<string, unknown>,
  schemas: Record<string, Schema>,
  path: string,
  context: Context,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(source).map(([key, raw]) => {
      const schema = Object.hasOwn(schemas, key) ? schemas[key] : undefined;
      return [
        key,
        schema ? value(raw, facets(schema), path ? `${path}.${key}` : key, context) : raw,
      ];
    }),
  );
}

function value(raw: unknown, allowed: Facets, path: string, context: Context): unknown {
  const { types, formats } = allowed;
  if (raw === '' && (types.has('null') || allowed.accepts.has('null'))) return null;
  if (types.has('array')) return list(raw, allowed, path, context);
  if (types.has('object')) return object(raw, allowed, path, context);
  if (types.has('boolean')) return boolean(raw, path, context);
  if (Number.isSafeInteger(raw) && allowed.accepts.has('integer')) return String(raw);
  if (typeof raw !== 'string') return raw;
  if ((types.has('integer') || types.has('number')) && !types.has('string'))
    return number(raw, types, path, context);
  if (formats.has('date-time')) return instant(raw, path, context);
  // A plus sign in a query string arrives as a space. Ten digits after a space are a national
  // number: a list may have a space after its comma.
  if (formats.has('telephone')) return raw.replace(/^ (?=\d{11,15}$)/, '+').trim();
  if (formats.has('call-destination')) return raw.replace(/^ (?=\d)/, '+');
  return raw;
}

/** An object, also as JSON in one field of a form or a query string. */
function object(raw: unknown, allowed: Facets, path: string, context: Context): unknown {
  const value = typeof raw === 'string' ? objectFrom(raw, allowed, path, context) : raw;
  if (value !== raw) wellFormed(value, path, context);
  return isObject(value) ? properties(value, allowed.properties, path, context) : value;
}

function objectFrom(text: string, { accepts }: Facets, path: string, context: Context): unknown {
  if (/^\s*\{/.test(text)) return parsed(text);
  return accepts.has('string') ? pairs(text, path, context) : text;
}

/** Tokens written as `key:value,key2:value2`. */
function pairs(text: string, path: string, context: Context): unknown {
  const read = splitPairs(text).map((pair) => parsePair(pair) ?? pair.slice(0, 100));
  const broken = read.filter((pair) => typeof pair === 'string');
  if (broken.length === 0) return Object.fromEntries(read as [string, string][]);
  fault(
    context,
    path,
    'must be key:value,key2:value2, with keys of lowercase letters, digits and underscores; ' +
      `${broken[0]} is not`,
  );
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function list(raw: unknown, { items, types }: Facets, path: string, context: Context): unknown {
  const entries = spread(raw, items);
  if (!Array.isArray(entries)) return types.has('string') ? raw : entries;
  const inner = items && facets(items);
  return inner
    ? entries.map((entry, index) => value(entry, inner, `${path}.${index}`, context))
    : entries;
}

/** A list as an array: from JSON, from `key[0]=…`, or from one string of parts. */
function spread(raw: unknown, items: Schema | undefined): unknown {
  if (raw === '') return [];
  if (typeof raw === 'string') {
    const pairs = items && [...facets(items).formats].some((format) => format.startsWith('token-'));
    if (pairs) return splitPairs(raw);
    return items && facets(items).formats.has('telephone')
      ? raw.split(',')
      : raw.split(',').map((part) => part.trim());
  }
  if (typeof raw === 'number') return [raw];
  if (isObject(raw) && Object.keys(raw).every((key) => /^\d+$/.test(key)))
    return Object.values(raw);
  return raw;
}

function boolean(raw: unknown, path: string, context: Context): unknown {
  if (typeof raw === 'boolean' || raw === null) return raw;
  const word = typeof raw === 'object' ? '' : String(raw).trim().toLowerCase();
  if (TRUE.has(word)) return true;
  if (FALSE.has(word)) return false;
  fault(context, path, 'must be a boolean: true, 1, yes, on, false, 0, no or off');
  return raw;
}

function number(raw: string, types: Set<string>, path: string, context: Context): unknown {
  if (NUMBER.test(raw)) return Number(raw);
  fault(
    context,
    path,
    types.has('number')
      ? 'must be a number in decimal digits'
      : 'must be a whole number in decimal digits',
  );
  return raw;
}

function instant(raw: string, path: string, context: Context): unknown {
  const time = parseInstant(raw, context.zone);
  if (time) return time.toISOString();
  fault(
    context,
    path,
    'must be a date-time such as 2026-01-31 08:00:00 +0000, with UTC, without offset,' +
      ' a date alone, or ISO 8601',
  );
  return raw;
}
