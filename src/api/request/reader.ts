import { isDeepStrictEqual } from 'node:util';
import type { Request, Response } from 'express';
import { facets, type Operation, type Schema } from '../../platform/contract/contract';
import { notFound } from '../../platform/errors';
import { cutText } from '../../platform/storable-text';
import { ianaName, listedName } from '../../platform/time/zone';
import { Faults } from './faults';
import { isUntyped } from './read-body';
import {
  compileFields,
  isBlank,
  isObject,
  pick,
  pickFilled,
  type Context,
  type Fields,
} from './read-value';
import { compilePlacement, toBareName, type SentFields } from './sent-fields';
import type { IgnoredFields } from './set-aside';
import { isMultipart } from './upload';
import { compileValidator, type CanonicalRequest } from './validate';
import { areStorable, requireWellFormed, storableFields } from './well-formed';

/** A request whose body has been received, and what was found out about it. */
export interface ReceivedFields {
  req: Request;
  res: Response;
  lead_token: string | undefined;
  /** Where wrong fields are put; undefined for operations that refuse them. */
  ignored: IgnoredFields | undefined;
  /** Removes the fields of a body that equal the stored record. */
  keepChanges?: ((body: Fields) => Promise<Fields>) | undefined;
}

/** The fields of a request in the types of the contract. */
export type ReadFields = Pick<CanonicalRequest, 'params' | 'query' | 'body'>;

/** Reads the requests of one operation. Throws a problem that names every fault. */
export type RequestReader = (received: ReceivedFields) => Promise<ReadFields>;

const readers = new WeakMap<Operation, RequestReader>();

/**
 * The reader of an operation, compiled at its first request: the validator takes 30 ms for each
 * operation. Depends on the contract alone: all applications of a process have the same.
 */
export function findReader(operation: Operation): RequestReader {
  let reader = readers.get(operation);
  if (!reader) readers.set(operation, (reader = compileReader(operation)));
  return reader;
}

/**
 * Turns every accepted spelling ("yes", "12", "", "a,b", "key[]", "2026-01-31 08:00:00 +0000") into
 * the type that the contract declares, and has the result checked by express-openapi-validator. All
 * that the contract says about the operation is looked up here, once.
 */
function compileReader(operation: Operation): RequestReader {
  const receive = compileReceipt(operation);
  const readQuery = compileQuery(operation);
  const compile = (schema: Schema | undefined) => ({
    placeFields: compilePlacement(operation, schema),
    readBody: compileBody(schema),
  });
  const [plain, multipart] = [compile(operation.body), compile(operation.multipart)];
  const headerNames = listHeaders(operation);
  const validate = compileValidator(operation);
  const takesBody = operation.body !== undefined || operation.multipart !== undefined;
  return async ({ req, res, lead_token, ignored, keepChanges }) => {
    const params = { ...req.params } as Record<string, string>;
    const { placeFields, readBody } = isMultipart(req) ? multipart : plain;
    const placed = placeFields(receive(req, ignored), lead_token);
    const sentBody =
      keepChanges && isObject(placed.body) ? await keepChanges(placed.body) : placed.body;
    if (!areStorable(params)) throw notFound();
    const zone = readZone(sentBody) ?? readZone(placed.query) ?? 'UTC';
    let faults = new Faults();
    const context = { faults, zone, unknown_fields: 0 };
    const query = readQuery(placed.query, sentBody, { ...context, requestPart: 'query' });
    const body = readBody(sentBody, { ...context, requestPart: 'body' });
    const queryText = /^[^?#]*(\?[^#]*)/.exec(req.originalUrl)?.[1] ?? '';
    const headers: CanonicalRequest['headers'] = {};
    for (const name of headerNames) headers[name] = req.headers[name];
    if (takesBody && placed.media_type) headers['content-type'] = placed.media_type;
    for (;;) {
      faults.addErrors(await validate({ params, query, queryText, headers, body }, res), operation);
      const problem = faults.problem();
      if (!problem) return { params, query, body };
      if (!ignored || !isObject(body) || !isObject(placed.body)) throw problem;
      // The others may be valid without the fields that are wrong.
      ignored.take(problem, body, placed.body);
      faults = new Faults();
    }
  };
}

/** The headers that are parameters of an operation. */
const listHeaders = ({ parameters }: Operation): string[] =>
  parameters.flatMap(({ in: part, name }) => (part === 'header' ? name.toLowerCase() : []));

/**
 * Carriers deliver a text once, and a lead is worth more than its details: where such requests are
 * read, characters that cannot be stored are replaced.
 */
function compileReceipt(
  operation: Operation,
): (req: Request, ignored: IgnoredFields | undefined) => SentFields {
  const takesBody = operation.body !== undefined || operation.multipart !== undefined;
  const isOfCarrier = operation.credentials === 'carrier_signature';
  const fitDetails = isOfCarrier && operation.body ? compileFit(operation.body) : undefined;
  return (req, ignored) => {
    let { query, body } = req as Pick<SentFields, 'query' | 'body'>;
    const sentType = req.headers['content-type'];
    const mediaType = req.body_type ?? (isUntyped(sentType) ? undefined : sentType);
    // Without a length, there is no body to parse: it is as empty as one of length 0.
    if (body === undefined && takesBody && mediaType) body = {};
    if (ignored || isOfCarrier) {
      const faults = new Faults();
      query = storableFields(query, faults) as Fields;
      body = storableFields(body, faults);
      ignored?.note(faults.fields);
    }
    if (fitDetails && isObject(body)) fitDetails(body);
    requireWellFormed(query, 'query');
    requireWellFormed(body, 'body');
    // The validator compiles a schema for each set of parameters that a type has.
    return { query, body, media_type: mediaType?.split(';')[0] };
  };
}

/**
 * Cuts texts that are too long, and drops blank ones: no call of a carrier is lost for the name of
 * a city, or for a duration that it does not know.
 */
function compileFit(schema: Schema): (body: Fields) => void {
  const { properties } = facets(schema);
  // Required fields are ids and numbers.
  const optional = Object.entries(properties).flatMap(([name, property]) => {
    const { max, minLength } = facets(property);
    return minLength === 0 ? [[name, max.length ?? Infinity] as const] : [];
  });
  return (body) => {
    for (const [name, maxLength] of optional) {
      const value = body[name];
      if (typeof value !== 'string') continue;
      if (value.trim() === '') Reflect.deleteProperty(body, name);
      else body[name] = cutText(value, maxLength);
    }
  };
}

/** Reads the parameters of a query string, with the defaults of those that are omitted. */
function compileQuery(
  operation: Operation,
): (source: Fields, body: unknown, context: Context) => Fields {
  const parameters = operation.parameters.filter((parameter) => parameter.in === 'query');
  const schemas = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
  const renameAliases = compileAliases(parameters.map((parameter) => [parameter.name, parameter]));
  // The first unknown parameter ends the check: their number does not matter.
  const readFields = compileFields(schemas, false);
  const defaults = parameters.filter((parameter) => parameter['x-default'] !== undefined);
  const isParameter = (key: string) => Object.hasOwn(schemas, key);
  // Forms send the filters that were not filled in.
  const isFilled = (key: string, value: unknown) =>
    !isBlank(value) || !isParameter(toBareName(key));
  return (source, body, context) => {
    // Those of the body win.
    const isOwn = (key: string) => isParameter(key) || !Object.hasOwn(body as object, key);
    const own = isObject(body) ? pick(source, isOwn) : source;
    const filled = pick(renameAliases(own), isFilled);
    const query = readFields(joinRepeated(unbracket(filled, schemas), schemas), '', context);
    for (const { name, 'x-default': value } of defaults)
      if (query[name] === undefined) query[name] = structuredClone(value);
    return query;
  };
}

function compileBody(schema: Schema | undefined): (body: unknown, context: Context) => unknown {
  if (!schema) return (body) => body;
  const { properties, closed } = facets(schema);
  const renameAliases = compileAliases(Object.entries(properties));
  const readFields = compileFields(properties, closed);
  const needed = new Set(Object.keys(properties).filter((name) => !takesBlank(properties[name]!)));
  const isFilled = (name: string, value: unknown) => value !== '' || !needed.has(name);
  return (body, context) => {
    if (!isObject(body)) return body;
    const renamed = unbracket(renameAliases(body), properties);
    const filled = Object.values(renamed).includes('') ? pick(renamed, isFilled) : renamed;
    return readFields(filled, '', context);
  };
}

/**
 * Forms send what was not filled in: no number, word or time is blank. Where a telephone must not be
 * empty, a blank one is refused: without it, any number would be bought.
 */
function takesBlank(schema: Schema): boolean {
  const { types, accepts, formats, words, minLength } = facets(schema);
  const isText = types.has('string') && words.size === 0 && !formats.has('date-time');
  const isTelephone = formats.has('telephone') && minLength === 0;
  const isOther = ['null', 'array', 'object'].some((type) => types.has(type) || accepts.has(type));
  return isOther || words.has('') || (isText && !isTelephone);
}

/**
 * Aliases that the contract accepts for a field become the field's own name. An alias with the
 * value of the field is dropped; one with another value stays, and is refused.
 */
function compileAliases(
  fields: (readonly [name: string, field: { 'x-other-names'?: string[] }])[],
): (source: Fields) => Fields {
  const names = new Map(
    fields.flatMap(([name, { 'x-other-names': aliases = [] }]) =>
      aliases.flatMap((alias) => [
        [alias, name],
        [`${alias}[]`, `${name}[]`],
      ]),
    ) as [alias: string, name: string][],
  );
  return (source) => {
    if (names.size === 0 || !Object.keys(source).some((key) => names.has(key))) return source;
    return Object.fromEntries(
      Object.entries(source).flatMap(([key, value]) => {
        const name = names.get(key) ?? key;
        if (name === key || !(name in source)) return [[name, value]];
        return isDeepStrictEqual(value, source[name]) ? [] : [[key, value]];
      }),
    );
  };
}

/** A parameter that is repeated, once blank, has the other value. */
function joinRepeated(source: Fields, schemas: Record<string, Schema>): Fields {
  if (!Object.values(source).some(Array.isArray)) return source;
  return Object.fromEntries(
    Object.entries(source).map(([key, value]) => [
      key,
      Object.hasOwn(schemas, key) ? pickFilled(value, schemas[key]!) : value,
    ]),
  );
}

function unbracket(source: Fields, schemas: Record<string, Schema>): Fields {
  if (!Object.keys(source).some((key) => key.endsWith('[]'))) return source;
  return Object.fromEntries(
    Object.entries(source).map(([key, value]) => {
      const bare = toBareName(key);
      return bare !== key && Object.hasOwn(schemas, bare) && !(bare in source)
        ? [bare, [value].flat()]
        : [key, value];
    }),
  );
}

function readZone(source: unknown): string | undefined {
  const name = isObject(source) ? source.time_zone : undefined;
  return typeof name === 'string' ? ianaName(listedName(name)) : undefined;
}
