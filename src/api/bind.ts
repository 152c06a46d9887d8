import type { RequestHandler } from 'express';
import { BASE_PATH, contract, type Operation } from '../platform/contract/contract';
import { HttpProblem } from '../platform/errors';
import { adapt } from './adapt';
import { type AnyHandler, type Pipeline } from './request/read-call';
import type { Handlers } from './handlers';
import { pathTable } from './request/path-table';
import { findStoredRecord } from './records/stored-fields';

interface Resource {
  methods: ReadonlyMap<string, RequestHandler>;
  otherwise: RequestHandler;
}

/**
 * Mounts every operation of the contract on its handler: method, path, scope and status of success
 * come from the contract. The handler belongs at BASE_PATH.
 */
export function bind(
  handlers: Handlers,
  pipeline: Pipeline,
  operations = contract.operations,
): RequestHandler {
  requireKnownNames(handlers, operations);
  const handle = (operation: Operation) => {
    const shown = operation.method === 'put' ? findStoredRecord(operation)?.show : undefined;
    const show = shown && requireHandler(shown, handlers);
    const handler = requireHandler(operation, handlers);
    const { by_lead_token } = operation;
    const byToken = by_lead_token && operations.find(({ id }) => id === by_lead_token);
    const target = byToken && { operation: byToken, handler: requireHandler(byToken, handlers) };
    return adapt(operation, { handler, show, by_lead_token: target }, pipeline);
  };
  const paths = new Set(operations.map(({ path }) => path));
  const find = pathTable(
    [...paths].map((path) => {
      const pathOperations = operations.filter((operation) => operation.path === path);
      return [path.slice(BASE_PATH.length), buildResource(pathOperations, handle)] as const;
    }),
  );
  return (req, res, next) => {
    const match = find(req.path);
    if (!match) return next();
    const { methods, otherwise } = match.value;
    req.params = match.params;
    return (methods.get(req.method) ?? otherwise)(req, res, next);
  };
}

function requireKnownNames(handlers: Handlers, operations: readonly Operation[]): void {
  const names = new Set<string>(operations.map(({ id }) => id));
  const stray = Object.keys(handlers).find((name) => !names.has(name));
  if (stray) throw new Error(`the handler ${stray} has no operation in openapi.yaml`);
}

function requireHandler({ id }: Operation, handlers: Handlers): AnyHandler {
  const handler = handlers[id] as unknown as AnyHandler | undefined;
  if (!handler) throw new Error(`no handler for operation ${id}`);
  return handler;
}

function buildResource(
  operations: Operation[],
  handle: (operation: Operation) => RequestHandler,
): Resource {
  const methods = new Map(
    operations.map((operation) => [operation.method.toUpperCase(), handle(operation)]),
  );
  const get = methods.get('GET');
  if (get) methods.set('HEAD', get);
  return { methods, otherwise: methodNotAllowed(operations) };
}

function methodNotAllowed(operations: Operation[]): RequestHandler {
  const allowed = operations.map(({ method }) => method.toUpperCase());
  if (operations.some(({ method, effect }) => method === 'get' && !effect)) allowed.push('HEAD');
  const Allow = allowed.join(', ');
  return ({ method }) => {
    throw new HttpProblem(
      'method_not_allowed',
      `${method} is not allowed here. Allowed: ${Allow}.`,
      { headers: { Allow } },
    );
  };
}
