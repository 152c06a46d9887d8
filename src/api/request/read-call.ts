import type { Request, Response } from 'express';
import {
  facets,
  type Operation,
  type OperationId,
  type Schema,
} from '../../platform/contract/contract';
import { buildAccessScope } from '../../data/access/scope';
import { withContext, type TenantDatabases } from '../../data/tenant';
import { type Db } from '../../data/db';
import { requireVisibleReferences, resolveFilters } from '../access/visible-references';
import {
  requireVisibleMoney,
  requireWritableMoney,
  withoutHidden,
} from '../access/money-visibility';
import type { Caller } from '../auth/caller';
import type { Authenticated, LeadOwner } from '../auth/scheme';
import { problemFor } from '../reply/error-handler';
import { Faults } from './faults';
import type { Call } from '../handlers';
import { mergeQueryAndBody, moveQueryToBody, type Fields } from '../records/merge';
import { requireFieldPermissions } from '../access/field-permissions';
import { requireOwnDestinations, type LoadDestinationTest } from './limited-destinations';
import { normalize } from './normalize';
import { isObject } from './normalize-value';
import {
  hasReadOnlyColumn,
  requireReplyRecord,
  findStoredRecord,
  removeStored,
  type StoredRecord,
} from '../records/stored-fields';
import { cutText } from '../../platform/storable-text';
import { isMultipart, type Upload } from './upload';
import { IgnoredFields } from './set-aside';
import { requireWellFormed, storableFields } from './well-formed';
import type { Validator } from './validate';
import type { Authenticator } from '../auth/authenticator';
import type { RateLimits } from '../rate-limits';
import type { BodyReader } from './read-body';
import type { BodyTimeouts } from './body-timeout';
import type { Uploader } from './upload';
import type { Storage } from '../../platform/storage/storage';
import type { ValidQueries } from './valid-queries';
import type { StaleReads } from '../records/stale-reads';
import type { Idempotency } from '../records/idempotency';
import type { ChangeLog } from '../records/change-log';
import type { AuditEntry } from '../records/change-log';

export interface Pipeline {
  authenticator: Authenticator;
  limits: RateLimits;
  readBody: BodyReader;
  timeouts: BodyTimeouts;
  upload: Uploader;
  storage: Storage;
  validate: Validator;
  queries: ValidQueries;
  tenants: TenantDatabases;
  destinations: LoadDestinationTest;
  /** Databases of requests that accept stale data. */
  stale: StaleReads;
  idempotency: Idempotency;
  changes: ChangeLog;
  /** How far a new id may lie beyond the existing ids of its table; null for any. */
  id_reach: bigint | null;
}

export interface AnyHandler {
  (call: Call<OperationId>): Promise<unknown>;
  singleStatement?: (call: Call<OperationId>, entry: AuditEntry | undefined) => Promise<unknown>;
  keeps_upload?: boolean;
}

interface ReceivedRequest {
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
  received: ReceivedRequest,
  pipeline: Pick<Pipeline, 'validate' | 'queries' | 'tenants' | 'stale' | 'destinations'>,
): Promise<ReadCall> {
  const { operation, req, upload, sender } = received;
  const ignored = IgnoredFields.forOperation(operation);
  const db = selectDb(received, pipeline.tenants);
  const valid = pipeline.queries.find(operation, req);
  const { params, record } = valid
    ? { params: {}, record: undefined }
    : await readUnvalidated(received, pipeline, { db, ignored });
  const query = await resolveFilters(db, operation, valid ?? req.query);
  const target = { operation, params, body: req.body as unknown };
  const mayLackRights = db.accessScope !== undefined || req.body !== undefined;
  const { destinations } = pipeline;
  if (mayLackRights)
    await requireRights(db, sender.caller, { target, query, ignored, destinations });
  const call = {
    params,
    query,
    body: db.accessScope ? await withoutHidden(db, operation, req.body as unknown) : req.body,
    upload,
    if_match: parseChecksum(req.headers['if-match']),
    if_none_match: parseChecksum(req.headers['if-none-match']),
    last_event_id: req.headers['last-event-id'],
    ...sender,
    ignored,
    ip: req.ip ?? '',
    db: query.stale_ok === true ? pipeline.stale.of(db) : db,
  } as unknown as Call<OperationId>;
  const isUnchanged = record && !upload && isEmpty(call.body);
  return { call, unchanged: isUnchanged ? record : undefined };
}

interface Reading {
  db: Db;
  ignored: IgnoredFields | undefined;
}

async function readUnvalidated(
  received: ReceivedRequest,
  { validate, queries }: Pick<Pipeline, 'validate' | 'queries'>,
  { db, ignored }: Reading,
): Promise<{ params: Record<string, string>; record: StoredRecord | undefined }> {
  const { operation, req, res } = received;
  // Without a length, there is no body to parse: it is as empty as one of length 0.
  if (req.body === undefined && takesBody(operation) && req.headers['content-type']) req.body = {};
  const isOfCarrier = operation.credentials === 'carrier_signature';
  if (ignored || isOfCarrier) repair(req, ignored);
  if (isOfCarrier && operation.body) cutDetails(req.body, operation.body);
  requireWellFormed(req.query, 'query');
  requireWellFormed(req.body, 'body');
  const bodySchema = isMultipart(req) ? operation.multipart : operation.body;
  const sentFields = readSentFields(received, bodySchema);
  const changes = await findChanges(received, db, sentFields.body);
  const input = normalize(operation, {
    query: sentFields.query,
    body: changes.body,
    params: req.params as Record<string, string>,
    body_schema: bodySchema,
  });
  Object.assign(req, { query: input.query, body: input.body });
  const checked = { operation, req, res, unreadable: input.faults };
  if (ignored) await validateLeniently(validate, { ...checked, ignored, sentFields });
  else await validateAll(validate, checked);
  queries.add(operation, req);
  return { params: req.openapi!.pathParams, record: changes.record };
}

const takesBody = ({ body, multipart }: Operation) => body !== undefined || multipart !== undefined;

interface RightsCheck {
  target: { operation: Operation; params: Record<string, string>; body: unknown };
  query: Record<string, unknown>;
  ignored: IgnoredFields | undefined;
  destinations: LoadDestinationTest;
}

/** Throws a problem for records and fields that the caller may not name, read or write. */
async function requireRights(
  db: Db,
  caller: Caller,
  { target, query, ignored, destinations }: RightsCheck,
): Promise<void> {
  if (db.accessScope) await requireVisible(db, caller, { target, ignored });
  await requireFieldPermissions(db, caller, target);
  if (!db.accessScope) return;
  await requireVisibleMoney(db, target.operation, query);
  await requireWritableMoney(db, target.operation, target);
  const destinationCheck = { body: target.body, loadTest: destinations };
  await requireOwnDestinations(db, target.operation, destinationCheck);
}

/** Ignores fields that name a record that the caller cannot see, until all others are visible. */
async function requireVisible(
  db: Db,
  caller: Caller,
  { target, ignored }: Pick<RightsCheck, 'target' | 'ignored'>,
): Promise<void> {
  for (;;)
    try {
      return await requireVisibleReferences(db, caller, target);
    } catch (error) {
      if (!ignored) throw error;
      ignored.take(error, target.body as Record<string, unknown>);
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
export function selectDb(
  { operation, sender: { caller } }: Pick<ReceivedRequest, 'operation' | 'sender'>,
  tenants: TenantDatabases,
): Db {
  const accessScope = buildAccessScope(caller, operation.scope);
  const db = tenants.ofRequest(caller.company_id, operation.routes ? 'routing' : 'usual');
  return accessScope ? withContext(db, { accessScope }) : db;
}

/** The fields of a PUT that differ from the stored record, if it sends columns of a GET. */
async function findChanges(
  { operation, show, req, sender }: ReceivedRequest,
  db: Db,
  body: unknown,
): Promise<{ body: unknown; record: StoredRecord | undefined }> {
  const record = show && findStoredRecord(operation);
  if (!record || !isObject(body) || !hasReadOnlyColumn(record, body)) return { body, record };
  const { params } = req;
  await requireVisibleReferences(db, sender.caller, { operation, params, body: undefined });
  const query = record.serializer ? { serializer: record.serializer } : {};
  const reply = await show({ ...sender, params, query, db } as unknown as Call<OperationId>);
  return { body: removeStored(record, body, requireReplyRecord(reply, record)), record };
}

/** The query string and the body, each as far as the contract declares it. */
function readSentFields(
  { req, operation, sender }: ReceivedRequest,
  schema: Schema | undefined,
): Fields {
  if (operation.merged) return mergeQueryAndBody(req, operation);
  if (!schema && sender.owner) return withLeadToken(readFields(req), operation, sender.owner);
  if (operation.method !== 'put' || !schema) return readFields(req);
  return moveQueryToBody(req, readFields(req), { operation, schema });
}

/** The lead token may be a field of a form: it was taken from there with the credentials. */
function withLeadToken(fields: Fields, { parameters }: Operation, { token }: LeadOwner): Fields {
  const isParameter = parameters.some(
    ({ name, in: requestPart }) => name === NAME && requestPart === 'query',
  );
  return isParameter ? { ...fields, query: { [NAME]: token, ...fields.query } } : fields;
}

const NAME = 'lead_token';

/** Drops a blank `auth_token`: the validator would refuse it. */
function readFields({ query, body }: Request): Fields {
  const { auth_token, ...rest } = query;
  return { query: auth_token === '' ? rest : query, body: body as unknown };
}

interface CheckedRequest {
  operation: Operation;
  req: Request;
  res: Response;
  /** Faults of fields that could not be read. */
  unreadable: Faults;
}

/** Reports all faults at once: those of reading, and those of validation. */
async function validateAll(
  validate: Validator,
  { operation, req, res, unreadable }: CheckedRequest,
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

interface LenientRequest extends CheckedRequest {
  ignored: IgnoredFields;
  /** The fields before they were turned into the types of the contract. */
  sentFields: Fields;
}

/** Ignores faulty fields, until all others are valid. */
async function validateLeniently(
  validate: Validator,
  { ignored, sentFields, ...checked }: LenientRequest,
): Promise<void> {
  const { req } = checked;
  for (let { unreadable } = checked; ; unreadable = new Faults())
    try {
      return await validateAll(validate, { ...checked, unreadable });
    } catch (error) {
      if (!isObject(req.body) || !isObject(sentFields.body)) throw error;
      ignored.take(error, req.body, sentFields.body);
    }
}

/**
 * Replaces characters that cannot be stored. Carriers deliver a text once: a refused one is lost.
 */
function repair(req: Request, ignored: IgnoredFields | undefined): void {
  const faults = new Faults();
  const [query, body] = [req.query, req.body as unknown].map((part) =>
    storableFields(part, faults),
  );
  Object.assign(req, { query, body });
  ignored?.note(faults.fields);
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
const parseChecksum = (header: string | undefined): string | undefined =>
  header?.replace(/^W\//, '').replaceAll('"', '').trim();
