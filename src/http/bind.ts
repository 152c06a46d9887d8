import { Router, type RequestHandler } from 'express';
import { BASE_PATH, contract, type Operation } from '../contract';
import { HttpProblem } from '../errors';
import { adapt, type AnyHandler, type Pipeline } from './adapt';
import type { Handlers } from './handlers';
import { storedRecordOf } from './stored-fields';

/**
 * Mounts every operation of the contract on its handler: method, path, scope and status of success
 * come from the contract. Each resource has a router of its own, so that finding an operation does
 * not take longer the more resources there are. The router belongs at BASE_PATH.
 */
export function bind(
  handlers: Handlers,
  pipeline: Pipeline,
  operations = contract.operations,
): Router {
  requireKnownNames(handlers, operations);
  const router = Router({ caseSensitive: true });
  const resources = new Set(
    operations.map(({ path }) => path.slice(BASE_PATH.length).split('/')[1]),
  );
  const handle = (operation: Operation) => {
    const shown = operation.method === 'put' ? storedRecordOf(operation)?.show : undefined;
    const show = shown && handlerOf(shown, handlers);
    return adapt(operation, { handler: handlerOf(operation, handlers), show }, pipeline);
  };
  for (const resource of resources) {
    const prefix = `${BASE_PATH}/${resource}`;
    const own = operations.filter(({ path }) => `${path}/`.startsWith(`${prefix}/`));
    router.use(`/${resource}`, bindResource(prefix, own, handle));
  }
  return router;
}

function requireKnownNames(handlers: Handlers, operations: readonly Operation[]): void {
  const names = new Set<string>(operations.map(({ id }) => id));
  const stray = Object.keys(handlers).find((name) => !names.has(name));
  if (stray) throw new Error(`the handler ${stray} has no operation in openapi.yaml`);
}

function handlerOf({ id }: Operation, handlers: Handlers): AnyHandler {
  const handler = handlers[id] as unknown as AnyHandler | undefined;
  if (!handler) throw new Error(`no handler for operation ${id}`);
  return handler;
}

function bindResource(
  prefix: string,
  operations: Operation[],
  handle: (operation: Operation) => RequestHandler,
): Router {
  const router = Router({ caseSensitive: true });
  // A fixed path comes before a parameter that would match it: /buyers/new before /buyers/{id}.
  const ordered = operations.toSorted((a, b) => (sortable(a.path) < sortable(b.path) ? -1 : 1));
  const routeOf = (path: string) => path.slice(prefix.length).replace(/\{(\w+)\}/g, ':$1') || '/';
  for (const path of new Set(ordered.map((operation) => operation.path))) {
    const own = operations.filter((operation) => operation.path === path);
    for (const operation of own) router[operation.method](routeOf(path), handle(operation));
    router.all(routeOf(path), methodNotAllowed(own));
  }
  return router;
}

const sortable = (path: string) => path.replaceAll('{', '~');

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
