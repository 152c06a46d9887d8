import type { Request } from 'express';
import type { Operation } from '../contract';

// Query strings that were found valid. Clients ask for the same lists again and again, and whether
// a query string is valid, and what it means, depends on nothing but the contract.

/** Of all operations together. */
const MAX_KNOWN = 2_000;
const MAX_CHARS = 500;

type Query = Record<string, unknown>;

export class ValidQueries {
  private readonly known = new Map<string, Query>();
  private readonly plain = new WeakMap<Operation, boolean>();

  /** What a request asks for, if it is known to be valid; undefined if it must be validated. */
  find(operation: Operation, req: Request): Query | undefined {
    return this.isPlain(operation, req) ? this.known.get(keyOf(operation, req)) : undefined;
  }

  /** Remembers what a valid request asks for. */
  add(operation: Operation, req: Request): void {
    // What is a credential is not kept.
    if (!this.isPlain(operation, req) || 'auth_token' in req.query) return;
    const key = keyOf(operation, req);
    if (key.length > MAX_CHARS) return;
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    this.known.set(key, frozen(req.query) as Query);
  }

  /** Whether a request has nothing that is validated but its query string. */
  private isPlain(operation: Operation, { method, body, originalUrl }: Request): boolean {
    let plain = this.plain.get(operation);
    if (plain === undefined) this.plain.set(operation, (plain = hasQueryAlone(operation)));
    // What follows a # is read as no part of the query, though it may look like one.
    return plain && method === 'GET' && body === undefined && !originalUrl.includes('#');
  }
}

const hasQueryAlone = (operation: Operation): boolean =>
  operation.method === 'get' &&
  operation.credentials === 'account' &&
  !(operation.body ?? operation.multipart) &&
  !operation.merged &&
  !operation.lenient &&
  operation.parameters.every((parameter) => parameter.in === 'query');

function keyOf({ id }: Operation, { originalUrl: url }: Request): string {
  const at = url.indexOf('?');
  return at < 0 ? id : id + url.slice(at);
}

/** Several requests have the same query: none may change it. */
function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  Object.values(value).forEach(frozen);
  return Object.freeze(value);
}
