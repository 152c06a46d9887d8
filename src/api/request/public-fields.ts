import { facets, isOpen, type Operation, type Schema } from '../../platform/contract/contract';
import { fault, type FieldFaults } from '../../platform/errors';
import { cutText, toStorable } from '../../platform/storable-text';
import { takeOnly } from '../../platform/tokens/form-software';
import { tokenName } from '../../platform/tokens/lead-data';
import { CREDENTIAL_NAMES } from '../auth/fields';
import { isBlank, isObject, pickFilled, type Fields } from './read-value';
import { hasFieldsInData } from './sent-fields';
import { parseJsonObject } from './well-formed';

// Landing pages, trackers and systems of others send leads, pings, postbacks and texts: their
// software writes the names of fields its own way, and sends placeholders that it has not replaced.

/** The fields of a query string or a body under the names of the contract, and without placeholders. */
type ReadPublicFields = (
  source: unknown,
  warnings: FieldFaults,
  /** Those of the query string, for a body. */
  query?: Fields,
) => unknown;

/** Undefined for an operation whose callers follow the contract. */
export function compilePublicFields(operation: Operation): ReadPublicFields | undefined {
  if (!operation.merged && !isOpen(operation) && !operation.foreign_names) return undefined;
  const door = describeDoor(operation);
  return (source, warnings, query = {}) => {
    if (!isObject(source)) return source;
    if (!Object.entries(source).some(([key, value]) => isUnusual(key, value, door))) return source;
    const unwraps = door.schemas.has(UNWRAP) && (UNWRAP in source || UNWRAP in query);
    return readFields(unwraps ? takeOnlyItems(source, door) : source, door, warnings);
  };
}

/** With it, lists of one are what they list. */
const UNWRAP = 'auto_format_nested_fields';

const takeOnlyItems = (source: Fields, { schemas }: Door): Fields =>
  Object.fromEntries(
    Object.entries(source).map(([key, value]) => [key, schemas.has(key) ? takeOnly(value) : value]),
  );

interface Door {
  /** By the names and other names of the contract; undefined for credentials. */
  schemas: ReadonlyMap<string, Schema | undefined>;
  /** Other keys become tokens. */
  takesTokens: boolean;
  /** Fields that are objects of tokens. */
  objects: ReadonlySet<string>;
  /** The names of fields that may be in them. */
  lifted: Door['schemas'];
  /** Its answers have `warnings`. Elsewhere a placeholder is a value, and probably a wrong one. */
  warns: boolean;
}

const NONE: Door['schemas'] = new Map();
/** An object of tokens: one inside it is a token. */
const TOKENS = { objects: new Set<string>(), lifted: NONE, takesTokens: true, warns: true };

function describeDoor({ parameters, body, responses, status }: Operation): Door {
  const { properties, closed } = body ? facets(body) : { properties: {}, closed: true };
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const schemas = new Map<string, Schema | undefined>([
    ...CREDENTIAL_NAMES.map((name) => [name, undefined] as const),
    ...inQuery.map(({ name, schema }) => [name, schema] as const),
    ...Object.entries(properties).flatMap(([name, schema]) =>
      [name, ...(schema['x-other-names'] ?? [])].map((alias) => [alias, schema] as const),
    ),
  ]);
  const lifts = body !== undefined && hasFieldsInData(body);
  const { schema: answer } = (responses[status]?.content?.['application/json'] ?? {}) as Content;
  return {
    schemas,
    objects: new Set(['data', 'post_call_tokens']),
    takesTokens: !closed,
    lifted: lifts ? schemas : NONE,
    warns: answer !== undefined && 'warnings' in facets(answer).properties,
  };
}

interface Content {
  schema?: Schema;
}

/** Most requests are written as the contract says, and are not copied. */
function isUnusual(key: string, value: unknown, { schemas, objects, lifted }: Door): boolean {
  if (schemas.size > 0 && !schemas.has(key) && /[A-Z .-]/.test(key)) return true;
  if (typeof value === 'string') return value === '' || /^[\s[{$%#]/.test(value);
  if (!isObject(value)) return value === null || (Array.isArray(value) && schemas.has(key));
  if (!objects.has(key)) return false;
  const inner = { ...TOKENS, schemas: lifted };
  return Object.entries(value).some(([name, token]) => isUnusual(name, token, inner));
}

function readFields(source: Fields, door: Door, warnings: FieldFaults): Fields {
  const entries = Object.entries(source).map(([key, value]): [string, unknown] => {
    const { schemas, objects } = door;
    const name = schemas.has(key) ? key : (findName(key, schemas) ?? key);
    return [name, objects.has(name) ? readTokens(value, door, warnings) : value];
  });
  return joinFields(Object.keys(source), entries, door, warnings);
}

/** Tokens in one object, or in the JSON of one. */
function readTokens(raw: unknown, { lifted, warns }: Door, warnings: FieldFaults): unknown {
  const value = typeof raw === 'string' ? (parseJsonObject(raw) ?? raw) : raw;
  if (!isObject(value)) return raw;
  return readFields(value, { ...TOKENS, schemas: lifted, warns }, warnings);
}

/** The first of several fields of one name that is filled counts; one under its own name wins. */
function joinFields(
  keys: readonly string[],
  entries: readonly [string, unknown][],
  { schemas, takesTokens, warns }: Door,
  warnings: FieldFaults,
): Fields {
  // A map: one may be called __proto__.
  const fields = new Map<string, unknown>();
  const add = (key: string, name: string, raw: unknown) => {
    const schema = schemas.get(name);
    const value = schema ? readBlank(pickFilled(raw, schema, isUnfilled), schema) : raw;
    if (warns && (schemas.has(name) || takesTokens) && isPlaceholder(value, schema))
      warnings[toStorable(cutText(name, 100))] = [fault('invalid_value', PLACEHOLDER)];
    else if (isBlank(fields.get(name) ?? '')) fields.set(name, value);
    else fields.set(key, raw);
  };
  const isOwn = ([name]: [string, unknown], n: number) => name === keys[n];
  entries.forEach((entry, n) => isOwn(entry, n) && add(keys[n]!, ...entry));
  entries.forEach((entry, n) => !isOwn(entry, n) && add(keys[n]!, ...entry));
  return Object.fromEntries(fields);
}

const PLACEHOLDER = 'is a placeholder that was not replaced: it is taken as blank';

/** The name of the contract that a key stands for: `Email`, `CALLER-ID` and `caller id` do. */
function findName(key: string, schemas: Door['schemas']): string | undefined {
  const lower = key.toLowerCase().replace(/[-. ]/g, '_');
  if (schemas.has(lower)) return lower;
  const name = tokenName(key);
  return name !== undefined && schemas.has(name) ? name : undefined;
}

/** Null and spaces are as blank as nothing, but in prose. */
function readBlank(value: unknown, schema: Schema): unknown {
  const { types, accepts } = facets(schema);
  if (value === null) return types.has('null') || accepts.has('null') ? null : '';
  return typeof value === 'string' && value.trim() === '' && !isProse(schema) ? '' : value;
}

const isUnfilled = (value: unknown): boolean => isBlank(value) || isPlaceholder(value, undefined);

const MACRO =
  /^\s*(?:\{{2,3}[^{}]*\}{2,3}|\$?\{[a-z_][^{}"]*\}|\[{1,2}[a-z_][^[\]",]*\]{1,2}|%%[^%]+%%|#[a-z_][^#]*#)\s*$/i;
const MAX_MACRO_LENGTH = 200;
/** A longer text may be prose, in which tokens are replaced. */
const PROSE_LENGTH = 1_000;

function isPlaceholder(value: unknown, schema: Schema | undefined): boolean {
  if (typeof value !== 'string' || value.length > MAX_MACRO_LENGTH) return false;
  return MACRO.test(value) && !(schema && isProse(schema));
}

const isProse = (schema: Schema): boolean => (facets(schema).max.length ?? 0) >= PROSE_LENGTH;
