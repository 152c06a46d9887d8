import {
  contract,
  facets,
  refusesUnknownFields,
  type Operation,
  type Schema,
} from '../../platform/contract/contract';
import { findStoredRecord } from '../records/stored-fields';
import { isObject, pick, type Fields } from './read-value';
import { jsonIn } from './well-formed';

export interface SentFields {
  query: Fields;
  body: unknown;
  /** The type of the body; undefined without one. */
  media_type: string | undefined;
}

/** Moves the fields of a request to where the contract has them: query string or body. */
type PlaceFields = (fields: SentFields, leadToken: string | undefined) => SentFields;

const JSON_TYPE = 'application/json';

export function compilePlacement(operation: Operation, schema: Schema | undefined): PlaceFields {
  if (operation.merged) return compileMerge(operation);
  if (schema && operation.method === 'put') return compileMove(operation, schema);
  const takesToken = !schema && queryParameters(operation).includes('lead_token');
  return (fields, leadToken) => {
    const { query, ...rest } = dropBlankToken(fields);
    // The lead token may be a field of a form: it was taken from there with the credentials.
    const isElsewhere = takesToken && leadToken !== undefined;
    return { query: isElsewhere ? { lead_token: leadToken, ...query } : query, ...rest };
  };
}

const queryParameters = ({ parameters }: Operation): string[] =>
  parameters.flatMap(({ name, in: requestPart }) => (requestPart === 'query' ? name : []));

/** The validator would refuse a blank `auth_token`. */
const dropBlankToken = (fields: SentFields): SentFields =>
  fields.query.auth_token === ''
    ? { ...fields, query: without(fields.query, 'auth_token') }
    : fields;

/**
 * The fields of the query string and those of the body as one body; the body's own win. Fields may
 * be in `data` too, as forms of other systems send them; those outside of `data` win.
 */
function compileMerge({ method, credentials, body: schema }: Operation): PlaceFields {
  const lift = schema && hasFieldsInData(schema) ? compileLift(schema) : undefined;
  return ({ query, body, media_type }) => {
    if (body !== undefined && !isObject(body)) return { query: {}, body, media_type };
    // Credentials of the company are no field; an open body would take any key.
    const ownQuery = credentials === 'account' ? without(query, 'auth_token') : query;
    const fields = { ...ownQuery, ...body };
    return {
      query: {},
      body: lift ? lift(fields) : fields,
      media_type: method === 'get' || !media_type ? JSON_TYPE : media_type,
    };
  };
}

export function hasFieldsInData(schema: Schema): boolean {
  if (refusesUnknownFields({ body: schema })) return false;
  const { data } = facets(schema).properties;
  return data !== undefined && contract.resolve(data)['x-opaque'] !== true;
}

/** Fields that are data of the lead where they are in `data`: they stay there. */
const DATA_FIELDS = new Set(['data', 'time_zone', 'serializer']);

function compileLift(schema: Schema): (fields: Fields) => Fields {
  const { properties } = facets(schema);
  const isLifted = (name: string) => Object.hasOwn(properties, name) && !DATA_FIELDS.has(name);
  return (fields) => {
    const data = parseObject(fields.data);
    if (!data) return fields;
    const rest = pick(data, (name) => !isLifted(name));
    return { ...pick(data, isLifted), ...fields, data: rest };
  };
}

/**
 * The fields of the body that are in the query string become fields of the body, whose own win. For
 * operations whose query string has parameters of its own too.
 */
function compileMove(operation: Operation, schema: Schema): PlaceFields {
  const parameters = new Set(['auth_token', ...queryParameters(operation)]);
  const columns = Object.keys(findStoredRecord(operation)?.columns ?? {});
  const names = new Set([...listFieldNames(schema), ...columns]);
  const isField = (key: string) => !parameters.has(toBareName(key));
  const isMoved = (key: string) => isField(key) && names.has(toBareName(key));
  return (fields) => {
    const { query, body, media_type } = dropBlankToken(fields);
    if ((body !== undefined && !isObject(body)) || !Object.keys(query).some(isField))
      return { query, body, media_type };
    const bodyNames = new Set(Object.keys(body ?? {}).map(toBareName));
    const isAdded = (key: string) => isMoved(key) && !bodyNames.has(toBareName(key));
    // A field that is unknown is refused as such, rather than for the lack of a body.
    return {
      query: pick(query, (key) => !isMoved(key)),
      body: { ...pick(query, isAdded), ...body },
      media_type: media_type ?? JSON_TYPE,
    };
  };
}

const listFieldNames = (schema: Schema): string[] =>
  Object.entries(facets(schema).properties).flatMap(([name, { 'x-other-names': aliases = [] }]) => [
    name,
    ...aliases,
  ]);

/** `key[]` is another spelling of a list called `key`. */
export const toBareName = (key: string): string => (key.endsWith('[]') ? key.slice(0, -2) : key);

const without = (fields: Fields, name: string): Fields => pick(fields, (key) => key !== name);

/** An object, or the JSON of one as forms send it. */
function parseObject(value: unknown): Fields | undefined {
  if (isObject(value)) return value;
  if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return undefined;
  const read = jsonIn(value, 'data');
  return isObject(read) ? read : undefined;
}
