import type { Request, Response } from 'express';
import { facets, type Operation, type OperationId, type Schema } from '../contract';
import { withContext, type Db, type TenantDatabases } from '../db/tenant';
import { requireVisibleReferences, resolveFilters } from './access-scope';
import { requireVisibleSides, requireWritableSides, withoutHidden } from './sides';
import type { AnyHandler, Pipeline } from './adapt';
import { accessScopeOf, type Caller } from './auth/caller';
import type { LeadOwner } from './auth/lead-tokens';
import type { Authenticated } from './auth/scheme';
import { problemFor } from './error-handler';
import { Faults } from './faults';
import type { Call } from './handlers';
import { mergeQueryAndBody, moveQueryToBody, type Fields } from './merge';
import { requireFieldPermissions } from './field-permissions';
import { requireOwnDestinations, type LoadDestinationTest } from './limited-destinations';
import { normalize } from './normalize';
import { isObject } from './normalize-value';
import {
  isAsShown,
  recordIn,
  storedRecordOf,
  withoutStored,
  type StoredRecord,
} from './stored-fields';
import { cutText } from '../storable-text';
import { isMultipart, type Upload } from './upload';
import { SetAside } from './set-aside';
import { requireWellFormed, storableFields } from './well-formed';
import type { Validator } from './validate';

interface Received {
  operation: Operation;
  /** The handler of the GET of the same path, if it has one. */
  show: AnyHandler | undefined;
  req: Request;
  res: Response;
  upload: Upload | undefined;
  sender: Authenticated;
}

/** Reads a request into the contract's types. Throws a problem that names every wrong field. */
export async function readCall(
  received: Received,
  pipeline: Pick<Pipeline, 'validate' | 'queries' | 'tenants' | 'stale' | 'destinations'>,
): Promise<ReadCall> {
  const { operation, req, upload, sender } = received;
  const aside = SetAside.of(operation);
  const db = dbOf(received, pipeline.tenants);
  const valid = pipeline.queries.find(operation, req);
  const { params, record } = valid
    ? { params: {}, record: undefined }
    : await readUnknown(received, pipeline, { db, aside });
  const query = await resolveFilters(db, operation, valid ?? req.query);
  const named = { operation, params, body: req.body as unknown };
  const may_lack_rights = db.accessScope !== undefined || req.body !== undefined;
  const { destinations } = pipeline;
  if (may_lack_rights)
    await requireRights(db, sender.caller, { named, query, aside, destinations });
  const call = {
    params,
    query,
    body: db.accessScope ? await withoutHidden(db, operation, req.body as unknown) : req.body,
    upload,
    if_match: checksumOf(req.headers['if-match']),
    if_none_match: checksumOf(req.headers['if-none-match']),
    last_event_id: req.headers['last-event-id'],
    ...sender,
    aside,
    ip: req.ip ?? '',
    db: query.stale_ok === true ? pipeline.stale.of(db) : db,
  } as unknown as Call<OperationId>;
  const is_unchanged = record && !upload && isEmpty(call.body);
  return { call, unchanged: is_unchanged ? record : undefined };
}

interface Reading {
  db: Db;
  aside: SetAside | undefined;
}

async function readUnknown(
  received: Received,
  { validate, queries }: Pick<Pipeline, 'validate' | 'queries'>,
  { db, aside }: Reading,
): Promise<{ params: Record<string, string>; record: StoredRecord | undefined }> {
  const { operation, req, res } = received;
  // Without a length, there is no body to parse: it is as empty as one of length 0.
  if (req.body === undefined && takesBody(operation) && req.headers['content-type']) req.body = {};
  const is_of_carrier = operation.credentials === 'carrier_signature';
  if (aside || is_of_carrier) repair(req, aside);
  if (is_of_carrier && operation.body) cutDetails(req.body, operation.body);
  requireWellFormed(req.query, 'query');
  requireWellFormed(req.body, 'body');
  const body_schema = isMultipart(req) ? operation.multipart : operation.body;
  const sent = sentBy(received, body_schema);
  const changes = await changesOf(received, db, sent.body);
  const input = normalize(operation, {
    query: sent.query,
    body: changes.body,
    params: req.params as Record<string, string>,
    body_schema,
  });
  Object.assign(req, { query: input.query, body: input.body });
  const checked = { operation, req, res, unreadable: input.faults };
  if (aside) await validateOthers(validate, { ...checked, aside, sent });
  else await validateAll(validate, checked);
  queries.add(operation, req);
  return { params: req.openapi!.pathParams, record: changes.record };
}

const takesBody = ({ body, multipart }: Operation) => body !== undefined || multipart !== undefined;

interface Asked {
  named: { operation: Operation; params: Record<string, string>; body: unknown };
  query: Record<string, unknown>;
  aside: SetAside | undefined;
  destinations: LoadDestinationTest;
}

/** Throws a problem for records and fields that the caller may not name, read or write. */
async function requireRights(
  db: Db,
  caller: Caller,
  { named, query, aside, destinations }: Asked,
): Promise<void> {
  if (db.accessScope) await requireVisible(db, caller, { named, aside });
  await requireFieldPermissions(db, caller, named);
  if (!db.accessScope) return;
  await requireVisibleSides(db, named.operation, query);
  await requireWritableSides(db, named.operation, named);
  const sent = { body: named.body, loadTest: destinations };
  await requireOwnDestinations(db, named.operation, sent);
}

/** Ignores fields that name a record that the caller cannot see, until all others are visible. */
async function requireVisible(
  db: Db,
  caller: Caller,
  { named, aside }: Pick<Asked, 'named' | 'aside'>,
): Promise<void> {
  for (;;)
    try {
      return await requireVisibleReferences(db, caller, named);
    } catch (error) {
      if (!aside) throw error;
      aside.take(error, named.body as Record<string, unknown>);
    }
}

export interface ReadCall {
  call: Call<OperationId>;
  /** The record of a PUT that changes nothing. */
  unchanged: StoredRecord | undefined;
}

/** A serializer changes nothing. */
const isEmpty = (body: unknown): boolean =>
  isObject(body) && Object.keys(body).every((name) => name === 'serializer');

/** The part of the database that the caller may use for this operation. */
export function dbOf(
  { operation, sender: { caller } }: Pick<Received, 'operation' | 'sender'>,
  tenants: TenantDatabases,
): Db {
  const accessScope = accessScopeOf(caller, operation.scope);
  const db = tenants.ofRequest(caller.company_id, operation.routes ? 'routing' : 'usual');
  return accessScope ? withContext(db, { accessScope }) : db;
}

/** The fields of a PUT that differ from the stored record, if it sends columns of a GET. */
async function changesOf(
  { operation, show, req, sender }: Received,
  db: Db,
  body: unknown,
): Promise<{ body: unknown; record: StoredRecord | undefined }> {
  const record = show && storedRecordOf(operation);
  if (!record || !isObject(body) || !isAsShown(record, body)) return { body, record };
  const { params } = req;
  await requireVisibleReferences(db, sender.caller, { operation, params, body: undefined });
  const query = record.serializer ? { serializer: record.serializer } : {};
  const reply = await show({ ...sender, params, query, db } as unknown as Call<OperationId>);
  return { body: withoutStored(record, body, recordIn(reply, record)), record };
}

/** The query string and the body, each as far as the contract declares it. */
function sentBy({ req, operation, sender }: Received, schema: Schema | undefined): Fields {
  if (operation.merged) return mergeQueryAndBody(req, operation);
  if (!schema && sender.owner) return withLeadToken(fieldsOf(req), operation, sender.owner);
  if (operation.method !== 'put' || !schema) return fieldsOf(req);
  return moveQueryToBody(req, fieldsOf(req), { operation, schema });
}

/** The lead token may be a field of a form: it was taken from there with the credentials. */
function withLeadToken(sent: Fields, { parameters }: Operation, { token }: LeadOwner): Fields {
  const is_parameter = parameters.some(({ name, in: place }) => name === NAME && place === 'query');
  return is_parameter ? { ...sent, query: { [NAME]: token, ...sent.query } } : sent;
}

const NAME = 'lead_token';

/** Drops a blank `auth_token`: the validator would refuse it. */
function fieldsOf({ query, body }: Request): Fields {
  const { auth_token, ...others } = query;
  return { query: auth_token === '' ? others : query, body: body as unknown };
}

interface Checked {
  operation: Operation;
  req: Request;
  res: Response;
  /** Faults of fields that could not be read. */
  unreadable: Faults;
}

/** Reports all faults at once: those of reading, and those of validation. */
async function validateAll(
  validate: Validator,
  { operation, req, res, unreadable }: Checked,
): Promise<void> {
  try {
    await validate(operation, req, res);
  } catch (error) {
    const problem = problemFor(error, { operation });
    if (problem?.status !== 422) throw error;
    throw unreadable.with(problem);
  }
  const problem = unreadable.problem();
  if (problem) throw problem;
}

interface LenientlyChecked extends Checked {
  aside: SetAside;
  /** The fields before they were turned into the types of the contract. */
  sent: Fields;
}

/** Ignores faulty fields, until all others are valid. */
async function validateOthers(
  validate: Validator,
  { aside, sent, ...checked }: LenientlyChecked,
): Promise<void> {
  const { req } = checked;
  for (let { unreadable } = checked; ; unreadable = new Faults())
    try {
      return await validateAll(validate, { ...checked, unreadable });
    } catch (error) {
      if (!isObject(req.body) || !isObject(sent.body)) throw error;
      aside.take(error, req.body, sent.body);
    }
}

/**
 * Replaces characters that cannot be stored. Carriers deliver a text once: a refused one is lost.
 */
function repair(req: Request, aside: SetAside | undefined): void {
  const faults = new Faults();
  const [query, body] = [req.query, req.body as unknown].map((part) =>
    storableFields(part, faults),
  );
  Object.assign(req, { query, body });
  aside?.note(faults.fields);
}

/** Cuts texts that are too long: no call of a carrier is lost for the name of a city. */
function cutDetails(body: unknown, schema: Schema): void {
  if (!isObject(body)) return;
  for (const [name, property] of Object.entries(facets(schema).properties)) {
    const [value, { max, minLength }] = [body[name], facets(property)];
    // Required fields are ids and numbers.
    if (typeof value === 'string' && max.length !== undefined && minLength === 0)
      body[name] = cutText(value, max.length);
  }
}

/** Accepts `"abc"`, `W/"abc"` and `abc`. */
const checksumOf = (header: string | undefined): string | undefined =>
  header?.replace(/^W\//, '').replaceAll('"', '').trim();
