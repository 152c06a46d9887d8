import type { Request, Response } from 'express';
import type { Operation, OperationId } from '../../platform/contract/contract';
import type { FieldFaults } from '../../platform/errors';
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
import type { Authenticated } from '../auth/scheme';
import type { Call } from '../handlers';
import { requireFieldPermissions } from '../access/field-permissions';
import { requireOwnDestinations, type LoadDestinationTest } from './limited-destinations';
import { isObject, type Fields } from './read-value';
import type { ReceivedFields, RequestReader } from './reader';
import {
  hasReadOnlyColumn,
  requireReplyRecord,
  findStoredRecord,
  removeStored,
  type StoredRecord,
} from '../records/stored-fields';
import { watchClosing } from '../watch-closing';
import type { Upload, Uploader } from './upload';
import { IgnoredFields } from './set-aside';
import type { Authenticator } from '../auth/authenticator';
import type { RateLimits } from '../rate-limits';
import type { BodyReader } from './read-body';
import type { BodyTimeouts } from './body-timeout';
import type { Storage } from '../../platform/storage/storage';
import type { ValidQueries } from './valid-queries';
import type { StaleReads } from '../records/stale-reads';
import type { Idempotency } from '../records/idempotency';
import type { AuditEntry, ChangeLog } from '../records/change-log';

export interface Pipeline {
  authenticator: Authenticator;
  limits: RateLimits;
  readBody: BodyReader;
  timeouts: BodyTimeouts;
  upload: Uploader;
  storage: Storage;
  findReader: (operation: Operation) => RequestReader;
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
  warnings: FieldFaults;
}

/** Reads a request into the contract's types. Throws a problem that names every wrong field. */
export async function readCall(
  received: ReceivedRequest,
  pipeline: Pick<Pipeline, 'findReader' | 'queries' | 'tenants' | 'stale' | 'destinations'>,
): Promise<ReadCall> {
  const { operation, req, upload, sender, warnings } = received;
  const ignored = IgnoredFields.forOperation(operation);
  ignored?.note(warnings);
  const db = selectDb(received, pipeline.tenants);
  const record = received.show && findStoredRecord(operation);
  const valid = pipeline.queries.find(operation, req);
  const keepChanges = record && ((body: Fields) => findChanges(received, { db, record }, body));
  const params = valid ? {} : await readFields(received, pipeline, { ignored, keepChanges });
  const query = await resolveFilters(db, operation, valid ?? req.query);
  const hasFile = upload !== undefined;
  const target = { operation, params, body: req.body as unknown, has_file: hasFile };
  const mayLackRights = db.accessScope !== undefined || req.body !== undefined || hasFile;
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
    warnings,
    ip: req.ip ?? '',
    watchSender: () => watchClosing(received.res),
    db: query.stale_ok === true ? pipeline.stale.of(db) : db,
  } as unknown as Call<OperationId>;
  const isUnchanged = record && !upload && isEmpty(call.body);
  return { call, unchanged: isUnchanged ? record : undefined };
}

interface RightsCheck {
  target: {
    operation: Operation;
    params: Record<string, string>;
    body: unknown;
    has_file: boolean;
  };
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

/** Errors that are logged are masked by what stands in the request: its fields are put there. */
async function readFields(
  { operation, req, res, sender }: ReceivedRequest,
  { findReader, queries }: Pick<Pipeline, 'findReader' | 'queries'>,
  { ignored, keepChanges }: Pick<ReceivedFields, 'ignored' | 'keepChanges'>,
): Promise<Record<string, string>> {
  const context = { lead_token: sender.owner?.token, ignored, keepChanges };
  const { params, query, body } = await findReader(operation)({ req, res, ...context });
  Object.assign(req, { query, body });
  queries.add(operation, req);
  return params;
}

/** The fields of a PUT that differ from the stored record, if it sends columns of a GET. */
async function findChanges(
  { operation, show, req, sender }: ReceivedRequest,
  { db, record }: { db: Db; record: StoredRecord },
  body: Fields,
): Promise<Fields> {
  if (!hasReadOnlyColumn(record, body)) return body;
  const { params } = req;
  await requireVisibleReferences(db, sender.caller, { operation, params, body: undefined });
  const query = record.serializer ? { serializer: record.serializer } : {};
  const reply = await show!({ ...sender, params, query, db } as unknown as Call<OperationId>);
  return removeStored(record, body, requireReplyRecord(reply, record));
}

/** Accepts `"abc"`, `W/"abc"` and `abc`. */
const parseChecksum = (header: string | undefined): string | undefined =>
  header?.replace(/^W\//, '').replaceAll('"', '').trim();
