import { isDeepStrictEqual } from 'node:util';
import { facets, type Operation, type Schema } from '../../platform/contract/contract';
import { notFound } from '../../platform/errors';
import { ianaName, listedName } from '../../platform/time/zone';
import { Faults } from './faults';
import { isObject, readProperties, type Context } from './normalize-value';
import { areStorable } from './well-formed';

export interface Input {
  params: Record<string, string>;
  query: Record<string, unknown>;
  body: unknown;
  /** The contract's schema of a body of this media type. */
  body_schema: Schema | undefined;
}

export interface NormalizedInput {
  query: Record<string, unknown>;
  body: unknown;
  faults: Faults;
}

/**
 * Turns every accepted spelling ("yes", "12", "", "a,b", "key[]", "2026-01-31 08:00:00 +0000") into
 * the type that the contract declares. Values that cannot be read, or hold more than is allowed,
 * are named in `faults`; the rest is checked by the validator. Query and body are well-formed
 * already (src/api/request/well-formed.ts).
 */
export function normalize(
  operation: Operation,
  { params, query, body, body_schema }: Input,
): NormalizedInput {
  if (!areStorable(params)) throw notFound();
  const { schemas, names } = findQueryParameters(operation);
  const zone = readZone(body) ?? readZone(query) ?? 'UTC';
  const context = { faults: new Faults(), zone, unknown_fields: 0 };
  const fields = withoutBlanks(
    applyAliases(withoutBodysKeys(query, body, schemas), names),
    schemas,
  );
  return {
    // The first unknown parameter ends the check: their number does not matter.
    query: read(fields, { schemas, closed: false }, { ...context, requestPart: 'query' }),
    body:
      body_schema && isObject(body)
        ? normalizeBody(body, body_schema, { ...context, requestPart: 'body' })
        : body,
    faults: context.faults,
  };
}

/** Parameters of a query string: schemas by name, and accepted aliases with their names. */
interface QueryParameters {
  schemas: Record<string, Schema>;
  names: [string, string][];
}

const parametersByOperation = new WeakMap<Operation, QueryParameters>();

function findQueryParameters(operation: Operation): QueryParameters {
  let queryParameters = parametersByOperation.get(operation);
  if (!queryParameters) {
    const parameters = operation.parameters.filter((parameter) => parameter.in === 'query');
    queryParameters = {
      schemas: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
      names: otherNames(parameters.map((parameter) => [parameter.name, parameter])),
    };
    parametersByOperation.set(operation, queryParameters);
  }
  return queryParameters;
}

function normalizeBody(
  body: Record<string, unknown>,
  schema: Schema,
  context: Context,
): Record<string, unknown> {
  const { properties: schemas, closed } = facets(schema);
  return read(
    applyAliases(body, otherNames(Object.entries(schemas))),
    { schemas, closed },
    context,
  );
}

const read = (
  source: Record<string, unknown>,
  allowed: { schemas: Record<string, Schema>; closed: boolean },
  context: Context,
): Record<string, unknown> =>
  readProperties(unbracket(source, allowed.schemas), allowed, '', context);

type NamedField = readonly [name: string, field: { 'x-other-names'?: string[] }];

const otherNames = (namedFields: NamedField[]): [string, string][] =>
  namedFields.flatMap(([name, { 'x-other-names': aliases = [] }]) =>
    aliases.flatMap((alias): [string, string][] => [
      [alias, name],
      [`${alias}[]`, `${name}[]`],
    ]),
  );

/**
 * Aliases that the contract accepts for a field become the field's own name. An alias with the
 * value of the field is dropped; one with another value stays, and is refused.
 */
function applyAliases(
  source: Record<string, unknown>,
  names: [string, string][],
): Record<string, unknown> {
  const usedAliases = names.filter(([alias]) => alias in source);
  if (usedAliases.length === 0) return source;
  const byOther = new Map(usedAliases);
  return Object.fromEntries(
    Object.entries(source).flatMap(([key, value]) => {
      const name = byOther.get(key) ?? key;
      if (name === key || !(name in source)) return [[name, value]];
      return isDeepStrictEqual(value, source[name]) ? [] : [[key, value]];
    }),
  );
}

const isBlank = (value: unknown): boolean =>
  value === '' || (Array.isArray(value) && value.length > 0 && value.every(isBlank));

/**
 * A blank parameter of a query string is dropped: forms send the filters that were not filled in.
 */
const withoutBlanks = (
  query: Record<string, unknown>,
  schemas: Record<string, Schema>,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(query).filter(
      ([key, value]) => !isBlank(value) || !Object.hasOwn(schemas, key.replace(/\[\]$/, '')),
    ),
  );

function readZone(source: unknown): string | undefined {
  const name = isObject(source) ? source.time_zone : undefined;
  return typeof name === 'string' ? ianaName(listedName(name)) : undefined;
}

/** Removes the keys that are in the body too: the body's win. */
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
