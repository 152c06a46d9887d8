import { facets, type Facets, type Schema } from '../../platform/contract/contract';
import { cutText, isLonger } from '../../platform/storable-text';
import { readDollars } from '../../platform/dollars';
import { listedName, parseEnd, parseInstant, parseLastMoment } from '../../platform/time/zone';
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

/**
 * Reads a value in the type that the contract declares; undefined, with a fault, for one that holds
 * more than is allowed: neither a pattern nor the validator reads it.
 */
export type ReadValue = (raw: unknown, path: string, context: Context) => unknown;
type ReadText = (text: string, path: string, context: Context) => unknown;

const compiledReaders = new WeakMap<Schema, ReadValue>();

/** Looks up once all that a schema says about the values that it accepts. */
export function compileValue(schema: Schema): ReadValue {
  const compiled = compiledReaders.get(schema);
  if (compiled) return compiled;
  // A schema may contain itself.
  compiledReaders.set(schema, (...value) => compileValue(schema)(...value));
  const read = compileType(facets(schema));
  compiledReaders.set(schema, read);
  return read;
}

export type Fields = Record<string, unknown>;

/** The fields that a test is true of. */
export const pick = (fields: Fields, isPicked: (name: string, value: unknown) => boolean): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name, value]) => isPicked(name, value)));

/** The fields of an object, each in the type that the contract declares. */
export function compileFields(
  schemas: Record<string, Schema>,
  closed: boolean,
): (source: Fields, path: string, context: Context) => Fields {
  const readers = new Map(
    Object.entries(schemas).map(([name, schema]) => [name, compileValue(schema)]),
  );
  return (source, path, context) => {
    const fields: [string, unknown][] = [];
    for (const [key, raw] of Object.entries(source)) {
      const readValue = readers.get(key);
      let value = raw;
      if (readValue) value = readValue(raw, path ? `${path}.${key}` : key, context);
      else if (closed) value = unknownField(raw, context);
      if (value !== undefined) fields.push([key, value]);
    }
    return Object.fromEntries(fields);
  };
}

function unknownField(raw: unknown, context: Context): unknown {
  context.unknown_fields++;
  if (context.unknown_fields <= MAX_UNKNOWN_FIELDS) return raw;
  context.faults.count++;
  return undefined;
}

function compileType(allowed: Facets): ReadValue {
  const { types, accepts } = allowed;
  let read = compileScalar(allowed);
  if (types.has('object')) read = compileObject(allowed);
  if (types.has('array')) read = compileList(allowed);
  const isNullable = types.has('null') || accepts.has('null');
  const readOrNull: ReadValue = isNullable
    ? (raw, path, context) => (raw === '' ? null : read(raw, path, context))
    : read;
  return accepts.has('array')
    ? (raw, path, context) => readOrNull(joinList(raw, path), path, context)
    : readOrNull;
}

function compileScalar(allowed: Facets): ReadValue {
  const { types, accepts, formats } = allowed;
  const [isBoolean, isMoney] = [types.has('boolean'), formats.has('money')];
  const [fromInteger, fromBoolean] = [accepts.has('integer'), accepts.has('boolean')];
  const maxLength = readMaxLength(allowed);
  const readText = isBoolean ? readBoolean : compileText(allowed);
  return (raw, path, context) => {
    if (typeof raw === 'string')
      return isLonger(raw, maxLength)
        ? reportExcess(context, path, `${maxLength} characters`)
        : readText(raw, path, context);
    if (isBoolean) return readBoolean(raw, path, context);
    if (typeof raw === 'number') {
      if (fromInteger && Number.isSafeInteger(raw)) return String(raw);
      return isMoney ? readDollars(raw) : raw;
    }
    return fromBoolean && typeof raw === 'boolean' ? String(raw) : raw;
  };
}

function compileText({ types, accepts, formats, words }: Facets): ReadText {
  if ((types.has('integer') || types.has('number')) && !types.has('string')) {
    const isOrText = types.has('integer') && accepts.has('string');
    const readNumber = compileNumber(types.has('number'), formats.has('money'));
    return (text, path, context) =>
      isOrText && !NUMBER.test(text) ? text : readNumber(text, path, context);
  }
  if (words.size > 0) return (text) => words.get(text.toLowerCase()) ?? text;
  const format = Object.keys(TEXT_READERS).find((name) => formats.has(name));
  return TEXT_READERS[format ?? ''] ?? ((text) => text);
}

const TEXT_READERS: Record<string, ReadText> = {
  'time-zone': (text) => listedName(text),
  email: (text) => text.trim(),
  country: (text) => text.toUpperCase(),
  'last-moment': readTime(parseLastMoment),
  'period-end': readTime((text, zone) => parseEnd(text, zone)?.toISOString()),
  'date-time': readTime((text, zone) => parseInstant(text, zone)?.toISOString()),
  // A plus sign in a query string arrives as a space. Ten digits after a space are a national
  // number: a list may have a space after its comma.
  telephone: (text) => text.replace(/^ (?=\d{11,15}$)/, '+').trim(),
  'call-destination': (text) => text.replace(/^ (?=\d)/, '+'),
};

/** A list, or the JSON of one, joined with commas. */
function joinList(raw: unknown, path: string): unknown {
  const listed = typeof raw === 'string' && /^\s*\[/.test(raw) ? jsonIn(raw, path) : raw;
  const isList = Array.isArray(listed) && listed.every((entry) => typeof entry === 'string');
  return isList ? listed.join(',') : raw;
}

/** A file has a limit of its own. */
const readMaxLength = ({ max, formats }: Facets): number =>
  formats.has('binary') ? Infinity : (max.length ?? MAX_LENGTH);

function reportExcess({ faults }: Context, path: string, allowed: string): undefined {
  faults.add(path, `must NOT have more than ${allowed}`);
  return undefined;
}

/** An object, also as JSON in one field of a form or a query string. */
function compileObject(allowed: Facets): ReadValue {
  const readFields = compileFields(allowed.properties, allowed.closed);
  const maxProperties = allowed.max.properties ?? MAX_ITEMS;
  return (raw, path, context) => {
    if (typeof raw === 'string' && raw.length > MAX_OBJECT_LENGTH)
      return reportExcess(context, path, `${MAX_OBJECT_LENGTH} characters`);
    const value = typeof raw === 'string' ? objectFrom(raw, allowed, path, context) : raw;
    if (!isObject(value)) return value;
    return Object.keys(value).length > maxProperties
      ? reportExcess(context, path, `${maxProperties} properties`)
      : readFields(value, path, context);
  };
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

function compileList(allowed: Facets): ReadValue {
  const { items, types, max } = allowed;
  const inner = items && facets(items);
  const readItem = items && compileValue(items);
  const [isText, maxLength] = [types.has('string'), readMaxLength(allowed)];
  const maxItems = max.items ?? MAX_ITEMS;
  // A longer text has too many items, or one that is too long.
  const maxChars = maxItems * ((inner?.max.length ?? MAX_LENGTH) + 2);
  const split = compileSplit(inner?.formats ?? new Set(), maxItems);
  return (raw, path, context) => {
    if (isText && typeof raw === 'string' && isLonger(raw, maxLength))
      return reportExcess(context, path, `${maxLength} characters`);
    if (typeof raw === 'string' && raw.length > maxChars)
      return reportExcess(context, path, `${maxChars} characters`);
    const entries = spread(raw, split, path);
    if (!Array.isArray(entries)) return isText ? raw : reportNonList(entries, path, context);
    if (entries.length > maxItems) return reportExcess(context, path, `${maxItems} items`);
    if (!readItem) return entries;
    const list = entries.map((entry, n) => readItem(entry, `${path}.${n}`, context));
    if (!list.includes(undefined)) return list;
    context.faults.withhold(path);
    return undefined;
  };
}

/** The validator would split an object in place of a list in the query string. */
function reportNonList(entries: unknown, path: string, context: Context): unknown {
  if (context.requestPart !== 'query' || !isObject(entries)) return entries;
  context.faults.add(path, 'must be an array');
  return undefined;
}

/** Splits no more parts than are needed to see that they are too many. */
function compileSplit(formats: Set<string>, maxItems: number): (text: string) => string[] {
  if ([...formats].some((format) => format.startsWith('token-'))) return splitPairs;
  return formats.has('telephone')
    ? (text) => text.split(',', maxItems + 1)
    : (text) => text.split(',', maxItems + 1).map((part) => part.trim());
}

/** A list as an array: from JSON, from `key[0]=…`, or from one string of parts. */
function spread(raw: unknown, split: (text: string) => string[], path: string): unknown {
  if (raw === '') return [];
  if (typeof raw === 'string') {
    const listed = /^\s*\[/.test(raw) ? jsonIn(raw, path) : undefined;
    return Array.isArray(listed) ? listed : split(raw);
  }
  if (typeof raw === 'number') return [raw];
  if (isObject(raw) && Object.keys(raw).every((key) => /^\d+$/.test(key)))
    return Object.values(raw);
  return raw;
}

/** Nothing but spaces, or a list of such texts. */
export const isBlank = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.trim() === ''
    : Array.isArray(value) && value.length > 0 && value.every(isBlank);

/** A field that is no list may be repeated: of its values, blank ones do not count. */
export function pickFilled(value: unknown, schema: Schema, isUnfilled = isBlank): unknown {
  if (!Array.isArray(value) || value.length < 2) return value;
  const { types, accepts } = facets(schema);
  const filled = new Set<unknown>(value.filter((entry) => !isUnfilled(entry)));
  if (types.has('array') || accepts.has('array') || filled.size > 1) return value;
  return [...filled][0] ?? '';
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
function compileNumber(isDecimal: boolean, isMoney: boolean): ReadText {
  const kind = isDecimal ? 'number' : 'whole number';
  return (text, path, { faults }) => {
    if (NUMBER.test(text)) return isMoney ? readDollars(Number(text)) : Number(text);
    faults.add(path, `must be a ${kind} in decimal digits`);
    return text;
  };
}

function readTime(parse: (text: string, zone: string) => string | undefined): ReadText {
  return (raw, path, { faults, zone }) => {
    const time = parse(raw, zone);
    if (time) return time;
    faults.add(
      path,
      'must be a date-time such as 2026-01-31 08:00:00 +0000, with UTC, without offset,' +
        ' a date alone, or ISO 8601',
    );
    return raw;
  };
}
