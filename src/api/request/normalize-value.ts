import { facets, type Facets, type Schema } from '../../platform/contract/contract';
import { cutText, isLonger } from '../../platform/storable-text';
import { readDollars } from '../../platform/dollars';
import { listedName, parseInstant } from '../../platform/time/zone';
import { parsePair, splitPairs } from '../../platform/tokens/filters';
import type { Faults } from './faults';
import { jsonIn } from './well-formed';

const TRUE = new Set(['1', 'true', 'yes', 'on']);
const FALSE = new Set(['0', 'false', 'no', 'off']);
/** Decimal digits only: Number() would take "0x10", "1e999" and "Infinity". */
const NUMBER = /^\s*-?\d{1,15}(\.\d{1,10})?\s*$/;

/** Limit of a text whose schema has another bound, such as an enum, or that stands for a number. */
const MAX_LENGTH = 255;
/** Limits of a list or an object whose schema has none, and of an object sent as one text. */
const MAX_ITEMS = 1_000;
const MAX_OBJECT_LENGTH = 65_536;

export interface Context {
  faults: Faults;
  /** IANA zone in which times without an offset are read. */
  zone: string;
  unknown_fields: number;
  /** The validator accepts fewer forms in a query string. */
  requestPart: 'query' | 'body';
}

/** Every unknown field is an error; beyond these they are only counted. */
const MAX_UNKNOWN_FIELDS = 100;

/** The fields of an object, each in the type that the contract declares. */
export function readProperties(
  source: Record<string, unknown>,
  { schemas, closed }: { schemas: Record<string, Schema>; closed: boolean },
  path: string,
  context: Context,
): Record<string, unknown> {
  const read = Object.entries(source).map(([key, raw]): [string, unknown] => {
    const schema = Object.hasOwn(schemas, key) ? schemas[key] : undefined;
    if (schema)
      return [key, normalizeValue(raw, facets(schema), path ? `${path}.${key}` : key, context)];
    return [key, closed ? unknownField(raw, context) : raw];
  });
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

function unknownField(raw: unknown, context: Context): unknown {
  context.unknown_fields++;
  if (context.unknown_fields <= MAX_UNKNOWN_FIELDS) return raw;
  context.faults.count++;
  return undefined;
}

/**
 * A value in its declared type; undefined, with a fault, for one that holds more than is allowed:
 * neither a pattern nor the validator reads it.
 */
function normalizeValue(input: unknown, allowed: Facets, path: string, context: Context): unknown {
  const { types, formats } = allowed;
  const raw = allowed.accepts.has('array') ? joinList(input, path) : input;
  if (raw === '' && (types.has('null') || allowed.accepts.has('null'))) return null;
  if (types.has('array')) return readList(raw, allowed, path, context);
  if (types.has('object')) return readObject(raw, allowed, path, context);
  if (typeof raw === 'string' && isTooLong(raw, allowed))
    return reportExcess(context, path, `${allowed.max.length ?? MAX_LENGTH} characters`);
  if (types.has('boolean')) return readBoolean(raw, path, context);
  if (Number.isSafeInteger(raw) && allowed.accepts.has('integer')) return String(raw);
  if (typeof raw === 'boolean' && allowed.accepts.has('boolean')) return String(raw);
  if (typeof raw === 'number') return toAmount(raw, formats);
  if (typeof raw !== 'string') return raw;
  if (types.has('integer') && allowed.accepts.has('string') && !NUMBER.test(raw)) return raw;
  if ((types.has('integer') || types.has('number')) && !types.has('string'))
    return readNumber(raw, allowed, path, context);
  if (allowed.words.size > 0) return allowed.words.get(raw.toLowerCase()) ?? raw;
  if (formats.has('time-zone')) return listedName(raw);
  if (formats.has('email')) return raw.trim();
  if (formats.has('country')) return raw.toUpperCase();
  if (formats.has('date-time')) return readInstant(raw, path, context);
  // A plus sign in a query string arrives as a space. Ten digits after a space are a national
  // number: a list may have a space after its comma.
  if (formats.has('telephone')) return raw.replace(/^ (?=\d{11,15}$)/, '+').trim();
  if (formats.has('call-destination')) return raw.replace(/^ (?=\d)/, '+');
  return raw;
}

/** A list, or the JSON of one, joined with commas. */
function joinList(raw: unknown, path: string): unknown {
  const listed = typeof raw === 'string' && /^\s*\[/.test(raw) ? jsonIn(raw, path) : raw;
  const isList = Array.isArray(listed) && listed.every((entry) => typeof entry === 'string');
  return isList ? listed.join(',') : raw;
}

/** A file has a limit of its own. */
const isTooLong = (text: string, { max, formats }: Facets): boolean =>
  !formats.has('binary') && isLonger(text, max.length ?? MAX_LENGTH);

function reportExcess({ faults }: Context, path: string, allowed: string): undefined {
  faults.add(path, `must NOT have more than ${allowed}`);
  return undefined;
}

/** An object, also as JSON in one field of a form or a query string. */
function readObject(raw: unknown, allowed: Facets, path: string, context: Context): unknown {
  if (typeof raw === 'string' && raw.length > MAX_OBJECT_LENGTH)
    return reportExcess(context, path, `${MAX_OBJECT_LENGTH} characters`);
  const value = typeof raw === 'string' ? objectFrom(raw, allowed, path, context) : raw;
  if (!isObject(value)) return value;
  const limit = allowed.max.properties ?? MAX_ITEMS;
  if (Object.keys(value).length > limit) return reportExcess(context, path, `${limit} properties`);
  return readProperties(
    value,
    { schemas: allowed.properties, closed: allowed.closed },
    path,
    context,
  );
}

function objectFrom(text: string, { accepts }: Facets, path: string, context: Context): unknown {
  if (/^\s*\{/.test(text)) return jsonIn(text, path) ?? text;
  return accepts.has('string') ? readPairs(text, path, context) : text;
}

/** Tokens written as `key:value,key2:value2`. */
function readPairs(text: string, path: string, context: Context): unknown {
  const read = splitPairs(text).map((pair) => parsePair(pair) ?? cutText(pair, 100));
  const broken = read.filter((pair) => typeof pair === 'string');
  if (broken.length === 0) return Object.fromEntries(read as [string, string][]);
  context.faults.add(
    path,
    'must be key:value,key2:value2, with keys of lowercase letters, digits and underscores; ' +
      `${broken[0]} is not`,
  );
  return text;
}

function readList(raw: unknown, allowed: Facets, path: string, context: Context): unknown {
  const { items, types, max } = allowed;
  const inner = items && facets(items);
  const limit = max.items ?? MAX_ITEMS;
  if (typeof raw === 'string' && types.has('string')) {
    if (isTooLong(raw, allowed))
      return reportExcess(context, path, `${max.length ?? MAX_LENGTH} characters`);
  }
  // A longer text has too many items, or one that is too long.
  const mostChars = limit * ((inner?.max.length ?? MAX_LENGTH) + 2);
  if (typeof raw === 'string' && raw.length > mostChars)
    return reportExcess(context, path, `${mostChars} characters`);
  const entries = spread(raw, inner, { limit, path });
  if (!Array.isArray(entries)) return reportNonList(raw, entries, { types, path, context });
  if (entries.length > limit) return reportExcess(context, path, `${limit} items`);
  if (!inner) return entries;
  const read = entries.map((entry, n) => normalizeValue(entry, inner, `${path}.${n}`, context));
  if (!read.includes(undefined)) return read;
  context.faults.withhold(path);
  return undefined;
}

/** The validator would split an object in place of a list in the query string. */
function reportNonList(
  raw: unknown,
  entries: unknown,
  { types, path, context }: { types: Set<string>; path: string; context: Context },
): unknown {
  if (types.has('string')) return raw;
  if (context.requestPart !== 'query' || !isObject(entries)) return entries;
  context.faults.add(path, 'must be an array');
  return undefined;
}

/**
 * A list as an array: from JSON, from `key[0]=…`, or from one string of parts. Reads no more parts
 * than are needed to see that they are too many.
 */
function spread(
  raw: unknown,
  inner: Facets | undefined,
  { limit, path }: { limit: number; path: string },
): unknown {
  if (raw === '') return [];
  if (typeof raw === 'string') {
    const listed = /^\s*\[/.test(raw) ? jsonIn(raw, path) : undefined;
    if (Array.isArray(listed)) return listed;
    const formats = [...(inner?.formats ?? [])];
    if (formats.some((format) => format.startsWith('token-'))) return splitPairs(raw);
    const parts = raw.split(',', limit + 1);
    return formats.includes('telephone') ? parts : parts.map((part) => part.trim());
  }
  if (typeof raw === 'number') return [raw];
  if (isObject(raw) && Object.keys(raw).every((key) => /^\d+$/.test(key)))
    return Object.values(raw);
  return raw;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readBoolean(raw: unknown, path: string, { faults }: Context): unknown {
  if (typeof raw === 'boolean' || raw === null) return raw;
  const word = typeof raw === 'object' ? '' : String(raw).trim().toLowerCase();
  if (TRUE.has(word)) return true;
  if (FALSE.has(word)) return false;
  faults.add(path, 'must be a boolean: true, 1, yes, on, false, 0, no or off');
  return raw;
}

/** Rounds amounts as they will be stored; other numbers stay. */
const toAmount = (value: number, formats: Set<string>): number =>
  formats.has('money') ? readDollars(value) : value;

function readNumber(
  raw: string,
  { types, formats }: Facets,
  path: string,
  { faults }: Context,
): unknown {
  if (NUMBER.test(raw)) return toAmount(Number(raw), formats);
  faults.add(
    path,
    types.has('number')
      ? 'must be a number in decimal digits'
      : 'must be a whole number in decimal digits',
  );
  return raw;
}

function readInstant(raw: string, path: string, { faults, zone }: Context): unknown {
  const time = parseInstant(raw, zone);
  if (time) return time.toISOString();
  faults.add(
    path,
    'must be a date-time such as 2026-01-31 08:00:00 +0000, with UTC, without offset,' +
      ' a date alone, or ISO 8601',
  );
  return raw;
}
