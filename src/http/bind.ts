import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import {
  contract,
  BASE_PATH,
  facets,
  isOpen,
  takesNothingElse,
  type Operation,
  type OperationId,
} from '../contract';
import { withContext, type TenantDatabases } from '../db/tenant';
import { HttpProblem, type FieldErrors } from '../errors';
import {
  authorize,
  accessScopeOf,
  type Authenticator,
  type Authenticated,
} from './auth/authenticator';
import type { ChangeLog } from './change-log';
import { problemFor } from './error-handler';
import { sendEvents } from './event-stream';
import type { Call, Handlers } from './handlers';
import type { Idempotency } from './idempotency';
import type { RateLimits } from './rate-limits';
import { normalize } from './normalize';
import { requireVisibleReferences } from './access-scope';
import { Csv, Download, EventStream, Json, NotModified, Twiml } from './reply';
import { digestOf, isMultipart, type Upload, type Uploader } from './upload';
import type { Validator } from './validate';

export interface Pipeline {
  authenticator: Authenticator;
  limits: RateLimits;
  validate: Validator;
  idempotency: Idempotency;
  changes: ChangeLog;
  tenants: TenantDatabases;
  upload: Uploader;
}

/** How long a reader of an export may stand still. */
const STALLED_MS = 60_000;

type AnyHandler = (call: Call<OperationId>) => Promise<unknown>;

/**
 * Mounts every operation of the contract on its handler: method, path, scope and status of success are the contract's. Each resource has
 * a router of its own, so that finding an operation does not take longer the more resources there are. The router belongs at BASE_PATH.
 */
export function bind(
  handlers: Handlers,
  pipes: Pipeline,
  operations = contract.operations,
): Router {
  const names = new Set<string>(operations.map(({ id }) => id));
  const stray = Object.keys(handlers).find((name) => !names.has(name));
  if (stray) throw new Error(`the handler ${stray} has no operation in openapi.yaml`);
  const router = Router({ caseSensitive: true });
  const resources = new Set(
    operations.map(({ path }) => path.slice(BASE_PATH.length).split('/')[1]),
  );
  for (const resource of resources) {
    const prefix = `/${resource}`;
    const own = operations.filter(({ path }) => `${path}/`.startsWith(`${BASE_PATH}${prefix}/`));
    router.use(
      prefix,
      bindResource(BASE_PATH + prefix, own, (operation) => adapt(operation, handlers, pipes)),
    );
  }
  return router;
}

function bindResource(
  prefix: string,
  operations: Operation[],
  handle: (operation: Operation) => RequestHandler,
): Router {
  const router = Router({ caseSensitive: true });
  // A fixed path goes before a parameter that would match it: /buyers/new before /buyers/{id}.
  const ordered = operations.toSorted((a, b) => (sortable(a.path) < sortable(b.path) ? -1 : 1));
  const at = (path: string) => path.slice(prefix.length).replace(/\{(\w+)\}/g, ':$1') || '/';
  for (const path of new Set(ordered.map((operation) => operation.path))) {
    for (const operation of ordered.filter((each) => each.path === path))
      router[operation.method](at(path), handle(operation));
    router.all(at(path), methodNotAllowed(operations, path));
  }
  return router;
}

const sortable = (path: string) => path.replaceAll('{', '~');

function methodNotAllowed(operations: Operation[], path: string): RequestHandler {
  const own = operations.filter((operation) => operation.path === path);
  const allowed = own.map(({ method }) => method.toUpperCase());
  if (own.some(({ method, effect }) => method === 'get' && !effect)) allowed.push('HEAD');
  const allow = allowed.join(', ');
  return (req) => {
    throw new HttpProblem(
      405,
      `${req.method} is not a method of this path; allowed: ${allow}.`,
      {},
      { Allow: allow },
    );
  };
}

function adapt(operation: Operation, handlers: Handlers, pipes: Pipeline): RequestHandler {
  const handler = handlers[operation.id] as unknown as AnyHandler | undefined;
  if (!handler) throw new Error(`no handler for operation ${operation.id}`);
  return async (req, res) => {
    res.locals.operation = operation;
    // Express parses the query string anew at every look.
    Object.defineProperty(req, 'query', { value: req.query, writable: true, configurable: true });
    if (operation.effect && req.method === 'HEAD')
      throw new HttpProblem(
        405,
        'HEAD changes nothing, and this path does.',
        {},
        { Allow: operation.method.toUpperCase() },
      );
    // A form with no file is read first: the token of a lead may be in it.
    const form = isOpen(operation) && isMultipart(req);
    if (form) await pipes.upload(operation, req, res);
    const shown = await pipes.authenticator.authenticate(req, operation);
    const { caller } = shown;
    res.locals.caller = caller;
    await pipes.limits.take(shown, res);
    authorize(caller, operation);
    const upload =
      operation.multipart && !form && isMultipart(req)
        ? await pipes.upload(operation, req, res)
        : undefined;
    try {
      const call = await read({ operation, req, res, upload, ...shown }, pipes);
      await answer({ operation, req, res, call, handler }, pipes);
    } finally {
      if (upload) await rm(upload.path, { force: true });
    }
  };
}

interface Received extends Authenticated {
  operation: Operation;
  req: Request;
  res: Response;
  upload: Upload | undefined;
}

/** What the handler is given: the request in the contract's types, or a refusal. */
async function read(
  { operation, req, res, upload, ...shown }: Received,
  pipes: Pipeline,
): Promise<Call<OperationId>> {
  const body_schema = isMultipart(req) ? operation.multipart : operation.body;
  const { query, body } = operation.merged
    ? merge(req, operation)
    : (req as { query: Record<string, unknown>; body: unknown });
  const input = normalize(operation, {
    params: req.params as Record<string, string>,
    query,
    body,
    body_schema,
  });
  Object.assign(req, { query: input.query });
  req.body = input.body;
  await validateAll(pipes.validate, { operation, req, res, unreadable: input.errors });
  const { caller } = shown;
  const accessScope = accessScopeOf(caller, operation.scope);
  const db = pipes.tenants.of(caller.company_id);
  const within = accessScope ? withContext(db, { accessScope }) : db;
  await requireVisibleReferences(within, {
    operation,
    params: req.openapi!.pathParams as Record<string, unknown>,
    body: req.body,
  });
  return {
    params: req.openapi!.pathParams,
    query: req.query,
    body: req.body,
    upload,
    if_match: checksumOf(req.headers['if-match']),
    if_none_match: checksumOf(req.headers['if-none-match']),
    last_event_id: req.get('Last-Event-ID'),
    ...shown,
    ip: req.ip ?? '',
    db: within,
  } as unknown as Call<OperationId>;
}

/**
 * What is in the query string and what is in the body as one body; the body's own counts. Parameters may stand in `data` too, as posts of foreign forms
 * have them; those beside it count.
 */
function merge(
  req: Request,
  operation: Operation,
): { query: Record<string, unknown>; body: unknown } {
  const { body: schema, method } = operation;
  const { body, query: everything } = req as { query: Record<string, unknown>; body: unknown };
  const closed = takesNothingElse(operation);
  // Credentials are no field, and data is what it is called where nothing but the fields may be sent.
  const query = closed ? without(everything, 'auth_token') : everything;
  if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body)))
    return { query: {}, body };
  if (method === 'get' || !req.headers['content-type'])
    req.headers['content-type'] = 'application/json';
  const sent: Record<string, unknown> = { ...query, ...body };
  const data = closed ? undefined : objectOf(sent.data);
  if (!data || !schema) return { query: {}, body: sent };
  const known = Object.keys(data).filter(
    (key) => Object.hasOwn(facets(schema).properties, key) && !OF_DATA.has(key),
  );
  const lifted = Object.fromEntries(known.map((key) => [key, data[key]]));
  const rest = Object.fromEntries(Object.entries(data).filter(([key]) => !known.includes(key)));
  return { query: {}, body: { ...lifted, ...sent, data: rest } };
}

const without = (fields: Record<string, unknown>, name: string) =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));

/** What among data is data, though a parameter is called so too: the zone of the person, not that of the times that are sent. */
const OF_DATA = new Set(['data', 'time_zone', 'serializer']);

/** An object, or the JSON of one as forms have it. */
function objectOf(value: unknown): Record<string, unknown> | undefined {
  let read = value;
  if (typeof value === 'string' && value.trimStart().startsWith('{')) {
    try {
      read = JSON.parse(value);
    } catch {
      return undefined;
    }
  }
  return typeof read === 'object' && read !== null && !Array.isArray(read)
    ? (read as Record<string, unknown>)
    : undefined;
}

interface Asked {
  operation: Operation;
  req: Request;
  res: Response;
  call: Call<OperationId>;
  handler: AnyHandler;
}

async function answer(
  { operation, req, res, call, handler }: Asked,
  pipes: Pipeline,
): Promise<void> {
  const key = operation.method === 'post' ? req.get('Idempotency-Key') : undefined;
  const { query, params, upload, caller, ip } = call;
  const write = { operation, caller, params, body: call.body, request_id: String(req.id), ip };
  const run = (db: Call<OperationId>['db']) =>
    pipes.changes.logging(db, write, (within) => handler({ ...call, db: within }));
  if (key === undefined) return reply(req, res, operation.status, await run(call.db));
  const body = upload ? [call.body, await digestOf(upload)] : call.body;
  const request = { operation, key, credentials: whose(call), params, query, body };
  const answered = await pipes.idempotency.once(call.db, request, run);
  if (answered.replayed) res.set('Idempotent-Replayed', 'true');
  send(res, answered.status, answered.text, answered.headers);
}

/** Of two who send the same under one key each is answered for himself. */
const whose = ({ owner, webhook, invitation, caller }: Call<OperationId>): string =>
  owner?.token ??
  webhook?.vanity_uri ??
  (invitation && `${invitation.user_id}/${invitation.number}`) ??
  caller.public_key;

interface Checked {
  operation: Operation;
  req: Request;
  res: Response;
  unreadable: FieldErrors;
}

/** Names everything that is wrong at once: what could not be read, and what was read and is not allowed. */
async function validateAll(
  validate: Validator,
  { operation, req, res, unreadable }: Checked,
): Promise<void> {
  try {
    await validate(operation, req, res);
  } catch (error) {
    const refusal = problemFor(error, operation);
    if (refusal?.status !== 422) throw error;
    throw HttpProblem.fields({ ...refusal.errors, ...unreadable }) ?? refusal;
  }
  const refusal = HttpProblem.fields(unreadable);
  if (refusal) throw refusal;
}

/** `"abc"`, `W/"abc"` and `abc` alike. */
const checksumOf = (header: string | undefined): string | undefined =>
  header?.replace(/^W\//, '').replaceAll('"', '').trim();

function send(res: Response, status: number, text: string, headers: Record<string, string>): void {
  res.writeHead(status, { ...headers, 'Content-Type': 'application/json; charset=utf-8' });
  res.end(text);
}

async function reply(req: Request, res: Response, status: number, result: unknown): Promise<void> {
  if (result instanceof Json)
    return send(res, result.status ?? status, result.text, result.headers);
  if (result instanceof Twiml) return void res.status(status).type('text/xml').send(result.text);
  if (result instanceof EventStream) return sendEvents(req, res.status(status), result);
  if (result instanceof NotModified) return void res.status(304).set(result.headers).end();
  if (result instanceof Csv || result instanceof Download) {
    res.status(status).attachment(result.file_name).type(result.media_type);
    if (result instanceof Download) res.set('Content-Length', String(result.bytes));
    if (req.method === 'HEAD') {
      result.stream.destroy();
      return void res.end();
    }
    // Until the first rows are there, a fault can still be answered as one.
    await once(result.stream, 'readable');
    // A caller who hangs up, or stops reading, ends the statement too: the stream is destroyed with the response.
    res.setTimeout(STALLED_MS, () => res.destroy());
    return pipeline(result.stream, res);
  }
  return send(res, status, JSON.stringify(result), {});
}

/** Operations that answer many records are those that can leave out their root. */
const isList = ({ method, parameters }: Operation): boolean =>
  method === 'get' && parameters.some(({ name }) => name === 'root');

/** `.json` and `.csv` behind the path of a list say which format is wanted, as `format` and Accept do. Belongs at BASE_PATH, before the operations. */
export function listFormats(operations = contract.operations): RequestHandler {
  const lists = operations
    .filter(isList)
    .map(({ path, csv }) => ({ path: path.slice(BASE_PATH.length), csv }));
  const fixed = new Map(lists.map(({ path, csv }) => [path, csv]));
  const nested = lists
    .filter(({ path }) => path.includes('{'))
    .map(({ path, csv }) => ({
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      csv,
    }));
  const csvOf = (path: string) =>
    fixed.get(path) ?? nested.find(({ pattern }) => pattern.test(path))?.csv;
  return (req, _res, next) => {
    const [path = '', query = ''] = req.url.split('?', 2);
    const [, bare = path, ending] = /^(.*)\.(json|csv)$/.exec(path) ?? [];
    const accepts_csv = req.headers.accept?.includes('text/csv') && !/(?:^|&)format=/.test(query);
    if (ending === undefined && !accepts_csv) return next();
    const csv = csvOf(bare);
    const format = ending ?? (csv ? 'csv' : undefined);
    if (
      csv === undefined ||
      format === undefined ||
      (format === 'csv' && !csv) ||
      (req.method !== 'GET' && req.method !== 'HEAD')
    )
      return next();
    const rest = query.split('&').filter((part) => part && !part.startsWith('format='));
    req.url = `${bare}?${[...rest, ...(csv ? [`format=${format}`] : [])].join('&')}`;
    req.originalUrl = BASE_PATH + req.url;
    next();
  };
}
