import type { Request } from 'express';
import {
  contract,
  facets,
  refusesUnknownFields,
  type Operation,
  type Schema,
} from '../../platform/contract/contract';
import { isObject } from '../request/normalize-value';
import { findStoredRecord } from './stored-fields';
import { jsonIn } from '../request/well-formed';

export interface Fields {
  query: Record<string, unknown>;
  body: unknown;
}

/**
 * The fields of the query string and those of the body as one body; the body's own win. Fields may
 * be in `data` too, as forms of other systems send them; those outside of `data` win.
 */
export function mergeQueryAndBody(req: Request, operation: Operation): Fields {
  const { body, query } = req as Fields;
  if (body !== undefined && !isObject(body)) return { query: {}, body };
  if (operation.method === 'get' || !req.headers['content-type'])
    req.headers['content-type'] = 'application/json';
  // Credentials of the company are no field; an open body would take any key.
  const isAccount = operation.credentials === 'account';
  const fields = { ...(isAccount ? without(query, 'auth_token') : query), ...body };
  const data = hasFieldsInData(operation) ? parseObject(fields.data) : undefined;
  if (!data || !operation.body) return { query: {}, body: fields };
  return { query: {}, body: liftFields(operation.body, data, fields) };
}

function hasFieldsInData({ body }: Operation): boolean {
  if (!body || refusesUnknownFields({ body })) return false;
  const { data } = facets(body).properties;
  return data !== undefined && contract.resolve(data)['x-opaque'] !== true;
}

/**
 * The fields of the body that are in the query string become fields of the body, whose own win. For
 * operations whose query string has parameters of its own too.
 */
export function moveQueryToBody(
  req: Request,
  input: Fields,
  { operation, schema }: { operation: Operation; schema: Schema },
): Fields {
  const { body, query } = input;
  if (Object.keys(query).length === 0 || (body !== undefined && !isObject(body))) return input;
  const columns = Object.keys(findStoredRecord(operation)?.columns ?? {});
  const names = new Set([...fieldNames(schema), ...columns]);
  const ownParameters = operation.parameters.filter(
    ({ in: requestPart }) => requestPart === 'query',
  );
  const parameters = new Set(['auth_token', ...ownParameters.map(({ name }) => name)]);
  const fieldKeys = Object.keys(query).filter((key) => !parameters.has(bareName(key)));
  if (fieldKeys.length === 0) return input;
  // A field that is unknown is refused as such, rather than for the lack of a body.
  const isMoved = (key: string) => names.has(bareName(key)) && !parameters.has(bareName(key));
  const moved = Object.entries(query).filter(([key]) => isMoved(key));
  req.headers['content-type'] ??= 'application/json';
  const bodyNames = new Set(Object.keys(body ?? {}).map(bareName));
  return {
    query: Object.fromEntries(Object.entries(query).filter(([key]) => !isMoved(key))),
    body: {
      ...Object.fromEntries(moved.filter(([key]) => !bodyNames.has(bareName(key)))),
      ...body,
    },
  };
}

/** `key[]` is another spelling of a list called `key`. */
const bareName = (key: string): string => (key.endsWith('[]') ? key.slice(0, -2) : key);

const fieldNames = (schema: Schema): Set<string> =>
  new Set(
    Object.entries(facets(schema).properties).flatMap(([name, field]) => [
      name,
      ...(field['x-other-names'] ?? []),
    ]),
  );

/** Fields that are data of the lead where they are in `data`: they stay there. */
const DATA_FIELDS = new Set(['data', 'time_zone', 'serializer']);

function liftFields(
  schema: Schema,
  data: Record<string, unknown>,
  outerFields: Record<string, unknown>,
): Record<string, unknown> {
  const { properties } = facets(schema);
  const isLifted = ([name]: [string, unknown]) =>
    Object.hasOwn(properties, name) && !DATA_FIELDS.has(name);
  const fields = Object.entries(data);
  const lifted = Object.fromEntries(fields.filter(isLifted));
  const rest = Object.fromEntries(fields.filter((field) => !isLifted(field)));
  return { ...lifted, ...outerFields, data: rest };
}

const without = (fields: Record<string, unknown>, name: string) =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));

/** An object, or the JSON of one as forms send it. */
function parseObject(value: unknown): Record<string, unknown> | undefined {
  if (isObject(value)) return value;
  if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return undefined;
  const read = jsonIn(value, 'data');
  return isObject(read) ? read : undefined;
}
