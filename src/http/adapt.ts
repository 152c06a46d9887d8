import { rm } from 'node:fs/promises';
import type { Request, RequestHandler, Response } from 'express';
import { isOpen, type Operation, type OperationId } from '../contract';
import type { TenantDatabases } from '../db/tenant';
import { HttpProblem } from '../errors';
import type { Authenticator } from './auth/authenticator';
import { authorize } from './auth/caller';
import type { ChangeLog } from './change-log';
import type { Call } from './handlers';
import type { Idempotency } from './idempotency';
import type { RateLimits } from './rate-limits';
import { readCall } from './read-call';
import { sendJson, sendReply } from './send-reply';
import { digestOf, isMultipart, type Uploader } from './upload';
import type { Validator } from './validate';

/** What requests go through. */
export interface Pipeline {
  authenticator: Authenticator;
  limits: RateLimits;
  upload: Uploader;
  validate: Validator;
  tenants: TenantDatabases;
  idempotency: Idempotency;
  changes: ChangeLog;
}

export type AnyHandler = (call: Call<OperationId>) => Promise<unknown>;

/**
 * An operation as an Express handler. Every request goes through these steps, in this order:
 * authenticate → count against the rate limit → authorize → store an uploaded file → read (merge,
 * normalize, validate, check references) → run (once for each Idempotency-Key, logged) → reply.
 */
export function adapt(
  operation: Operation,
  handler: AnyHandler,
  pipeline: Pipeline,
): RequestHandler {
  return async (req, res) => {
    res.locals.operation = operation;
    parseQueryOnce(req);
    if (operation.effect && req.method === 'HEAD') throw headNotAllowed(operation);
    const form_is_read = isOpen(operation) && isMultipart(req);
    // The lead token may be a field of the form.
    if (form_is_read) await pipeline.upload(operation, req, res);

    const sender = await pipeline.authenticator.authenticate(req, operation);
    res.locals.caller = sender.caller;
    await pipeline.limits.take(sender, { operation, ip: req.ip ?? '', res });
    authorize(sender.caller, operation);
    const takes_upload = operation.multipart && !form_is_read && isMultipart(req);
    const upload = takes_upload ? await pipeline.upload(operation, req, res) : undefined;
    try {
      const call = await readCall({ operation, req, res, upload, sender }, pipeline);
      await runAndReply({ operation, handler, req, res, call }, pipeline);
    } finally {
      if (upload) await rm(upload.path, { force: true });
    }
  };
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

interface Run {
  operation: Operation;
  handler: AnyHandler;
  req: Request;
  res: Response;
  call: Call<OperationId>;
}

/** Runs the handler with its entry in the change log, and replies. */
async function runAndReply(request: Run, pipeline: Pipeline): Promise<void> {
  const { operation, handler, req, res, call } = request;
  const { params, body, caller, owner, ip } = call;
  const write = { operation, caller, owner, params, body, request_id: String(req.id), ip };
  const run = (db: Call<OperationId>['db']) =>
    pipeline.changes.logging(db, write, (within) => handler({ ...call, db: within }));
  const key = operation.method === 'post' ? req.get('Idempotency-Key') : undefined;
  if (key === undefined) return sendReply(req, res, operation.status, await run(call.db));
  const answer = await pipeline.idempotency.once(call.db, await keyed(request, key), run);
  if (answer.replayed) res.set('Idempotent-Replayed', 'true');
  sendJson(res, answer.status, answer.text, answer.headers);
}

/** What makes a request the same as an earlier one with its Idempotency-Key. */
async function keyed({ operation, call }: Run, key: string) {
  const { params, query, upload } = call;
  const body = upload ? [call.body, await digestOf(upload)] : call.body;
  return { operation, key, credentials: credentialsOf(call), params, query, body };
}

/**
 * A key belongs to the credentials that sent it: others do not get the stored answer. Credentials
 * beside a lead token see more than the token alone.
 */
const credentialsOf = ({ owner, webhook, invitation, caller }: Call<OperationId>): string =>
  (owner && `${owner.token}/${caller.public_key}`) ??
  webhook?.vanity_uri ??
  (invitation && `${invitation.user_id}/${invitation.number}`) ??
  caller.public_key;
