import type { Request, RequestHandler, Response } from 'express';
import { isOpen, type Operation, type OperationId } from '../platform/contract/contract';
import { HttpProblem, type FieldFaults } from '../platform/errors';
import { authorize } from './auth/caller';
import { readField, takeField } from './auth/fields';
import { hasLeadToken } from './auth/lead-tokens';
import type { Authenticated } from './auth/scheme';
import { takeImportedIdentity } from './records/kept-identity';
import { isLogged, UNCHANGED } from './records/change-log';
import type { Call } from './handlers';
import { identifyKeyOwner } from './records/key-owner';
import { compilePublicFields } from './request/public-fields';
import { requireSmallBody } from './request/read-body';
import { selectDb, readCall } from './request/read-call';
import { errorUnlessRemoved } from './removed-company';
import { sendJson, sendReply } from './reply/send-reply';
import { DATA_AGE } from './records/stale-reads';
import { unchangedReply } from './records/stored-fields';
import {
  digestFile,
  discardUpload,
  isBareFile,
  isMultipart,
  storeUpload,
  type Upload,
} from './request/upload';
import type { AnyHandler, Pipeline } from './request/read-call';

interface Handling {
  handler: AnyHandler;
  show: AnyHandler | undefined;
  /** The operation that takes a request with a lead token instead. */
  by_lead_token: Target | undefined;
}

/**
 * An operation as an Express handler. Every request goes through these steps, in this order:
 * authenticate → count against the rate limit → authorize → read the body, store an uploaded
 * file → read (merge, normalize, validate, check references) → run (once for each
 * Idempotency-Key, logged) → reply. Where the credentials may be in the body, a small one is read
 * first.
 */
export function adapt(
  stated: Operation,
  { handler: ownHandler, show, by_lead_token }: Handling,
  pipeline: Pipeline,
): RequestHandler {
  const readPublicFields = compilePublicFields(stated);
  return async (req, res) => {
    res.locals.operation = stated;
    parseQueryOnce(req);
    if (stated.effect && req.method === 'HEAD') throw headNotAllowed(stated);
    // Without a prototype: names of fields come from requests.
    const warnings = Object.create(null) as FieldFaults;
    const readNames = (part: 'query' | 'body') => {
      if (!readPublicFields) return;
      if (part === 'query') req.query = readPublicFields(req.query, warnings) as Request['query'];
      else req.body = readPublicFields(req.body, warnings, req.query);
    };
    const incoming = { operation: stated, req, res, by_lead_token, readNames };
    const { sender, upload, chosen } = await receive(incoming, pipeline);
    const { operation, handler } = chosen ?? { operation: stated, handler: ownHandler };
    try {
      const received = { operation, show, req, res, upload, sender, warnings };
      const { call, unchanged } = await readCall(received, pipeline);
      if (unchanged && show)
        return await sendReply(req, res, operation.status, await showUnchanged(show, call));
      if (upload && handler.keeps_upload) await storeUpload(pipeline.storage, upload);
      await runAndReply({ operation, handler, show, req, res, call }, pipeline);
    } catch (error) {
      throw await errorUnlessRemoved(
        error,
        operation,
        selectDb({ operation, sender }, pipeline.tenants),
      );
    } finally {
      if (upload) await discardUpload(pipeline.storage, upload);
    }
  };
}

interface Target {
  operation: Operation;
  handler: AnyHandler;
}

interface Incoming {
  operation: Operation;
  req: Request;
  res: Response;
}

interface Receipt extends Incoming {
  by_lead_token: Target | undefined;
  /** Gives the fields of a part the names of the contract. */
  readNames: (part: 'query' | 'body') => void;
}

/** Authenticates the sender. The body is read after the credentials of the header. */
async function receive(
  { operation, req, res, by_lead_token, readNames }: Receipt,
  pipeline: Pipeline,
): Promise<{ sender: Authenticated; upload: Upload | undefined; chosen: Target | undefined }> {
  const { authenticator, limits } = pipeline;
  const admit = async (sender: Authenticated, to = operation) => {
    res.locals.caller = sender.caller;
    const pending = limits.take(sender, { operation: to, req, res });
    if (pending) await pending;
    authorize(sender.caller, to);
    return sender;
  };
  readNames('query');
  const earlyCaller = await authenticator.callerOutsideBody(req, operation);
  const isSender = earlyCaller && operation.credentials === 'account';
  const early = isSender ? await admit({ caller: earlyCaller, owner: undefined }) : undefined;
  const upload =
    hasBody(req) || isMultipart(req)
      ? await readBody({ operation, req, res, is_known: earlyCaller !== undefined }, pipeline)
      : undefined;
  try {
    readNames('body');
    const chosen = by_lead_token && isByLeadToken(req) ? by_lead_token : undefined;
    const to = chosen?.operation ?? operation;
    const authenticate = () => authenticator.authenticate(req, to, earlyCaller);
    const counted = early && chosen ? await authenticate() : early;
    const sender = counted ?? (await admit(await authenticate(), to));
    // Credentials of another company than the lead token's do not permit a larger body.
    if (earlyCaller && sender.caller !== earlyCaller) requireSmallBody(req);
    if (early) takeField(req.body, 'auth_token');
    return { sender, upload, chosen };
  } catch (error) {
    if (upload) await discardUpload(pipeline.storage, upload);
    throw error;
  }
}

/** A lead token says where a lead goes, unless the request names an offer or a schedule. */
const isByLeadToken = (req: Request): boolean =>
  hasLeadToken(req) &&
  ![req.body as unknown, req.query].some(
    (fields) => readField(fields, 'offer_id') || readField(fields, 'schedule_id'),
  );

const hasBody = ({ headers }: Request): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** A file is only stored for a caller who may send one. */
async function readBody(
  { operation, req, res, is_known }: Incoming & { is_known: boolean },
  { readBody, upload }: Pipeline,
): Promise<Upload | undefined> {
  if (!isMultipart(req) && !isBareFile(operation, req))
    return void (await readBody(req, res, is_known));
  // The token of a lead or an invitation may be a field of the form.
  const hasToken = isOpen(operation) || operation.credentials === 'invitation_token';
  const isRead = hasToken || (operation.multipart && is_known);
  return isRead ? upload(operation, req, res, is_known) : undefined;
}

/** Express parses the query string each time that `req.query` is read. */
function parseQueryOnce(req: Request): void {
  Object.defineProperty(req, 'query', { value: req.query, writable: true, configurable: true });
}

const headNotAllowed = ({ method }: Operation): HttpProblem =>
  new HttpProblem(
    'method_not_allowed',
    'HEAD is not allowed here: the operation changes something.',
    { headers: { Allow: method.toUpperCase() } },
  );

/** The reply of a PUT that changes nothing: the record as it is, and no entry in the change log. */
async function showUnchanged(show: AnyHandler, call: Call<OperationId>): Promise<unknown> {
  const { query, body } = call as { query: SerializerChoice; body: SerializerChoice };
  const serializer = body.serializer ?? query.serializer;
  const shown = { ...call, query: serializer === undefined ? {} : { serializer } };
  const reply = await show({ ...shown, if_none_match: undefined } as Call<OperationId>);
  return unchangedReply(reply, call.if_match);
}

interface SerializerChoice {
  serializer?: string;
}

interface Run {
  operation: Operation;
  handler: AnyHandler;
  show: AnyHandler | undefined;
  req: Request;
  res: Response;
  call: Call<OperationId>;
}

async function runAndReply(request: Run, pipeline: Pipeline): Promise<void> {
  const { operation, handler, show, req, res, call } = request;
  if (isPlainRead(operation)) {
    const reply = await handler(call);
    if (call.db.stale) res.set(DATA_AGE, String(call.db.stale.age_seconds()));
    return sendReply(req, res, operation.status, reply);
  }
  const { params, body, caller, owner, ip } = call;
  const imported = takeImportedIdentity(operation, call, pipeline.id_reach);
  const { db: ownDb, body: ownBody } = imported ?? call;
  const ids = { request_id: req.id, client_request_id: req.client_id ?? null };
  const write = { operation, caller, owner, params, body, ...ids, ip };
  const run = (db: Call<OperationId>['db'], singleStatement?: AnyHandler['singleStatement']) =>
    pipeline.changes.runLogged(
      db,
      write,
      (within) => handler({ ...call, body: ownBody as typeof body, db: within }),
      singleStatement && ((entry) => singleStatement(call, entry)),
    );
  const key = operation.method === 'post' ? req.get('Idempotency-Key') : undefined;
  // The access of a limited caller is checked in a transaction.
  const singleStatement = call.caller.teams || imported ? undefined : handler.singleStatement;
  if (key === undefined) {
    const reply = await run(ownDb, singleStatement);
    if (reply !== UNCHANGED) return sendReply(req, res, operation.status, reply);
    // Its checksum was compared already; the record may have changed since.
    const shown = await showUnchanged(show!, { ...call, if_match: undefined });
    return sendReply(req, res, operation.status, shown);
  }
  // The answer is stored with the write: in a transaction.
  const work = (db: Call<OperationId>['db']) => run(db);
  const answer = await pipeline.idempotency.once(
    ownDb,
    await buildKeyedRequest(request, key),
    work,
  );
  if (answer.replayed) res.set('Idempotent-Replayed', 'true');
  sendJson(res, answer.status, answer.text, answer.headers);
}

/** Changes nothing: no entry in the change log, no Idempotency-Key. */
const isPlainRead = (operation: Operation): boolean =>
  operation.method === 'get' && !operation.effect && !isLogged(operation);

/** The values that must equal those of an earlier request with the same Idempotency-Key. */
async function buildKeyedRequest({ operation, call }: Run, key: string) {
  const { params, query, upload, ignored } = call;
  const body = upload
    ? [call.body, await digestFile(upload)]
    : addIgnored(call.body, ignored?.values);
  const leadToken = call.owner?.token;
  return {
    operation,
    key,
    owner: identifyKeyOwner(call),
    lead_token: leadToken,
    params,
    query,
    body,
  };
}

/** Requests that differ in ignored fields alone are different ones. */
const addIgnored = (body: unknown, values: Record<string, unknown> = {}): unknown =>
  Object.keys(values).length === 0 ? body : [body, values];
