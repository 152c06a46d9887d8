import type { Request } from 'express';
import type { Operation } from '../../platform/contract/contract';

// Query strings that were found valid. Clients repeat requests for the same lists, and the validity
// and the meaning of a query string depend on the contract alone.

/** Limit over all operations. */
const MAX_QUERIES = 2_000;
const MAX_CHARS = 500;

type Query = Record<string, unknown>;

export class ValidQueries {
  private readonly queries = new Map<string, Query>();
  private readonly plain = new WeakMap<Operation, boolean>();

  /** The query of a request that is known to be valid; undefined if it must be validated. */
  find(operation: Operation, req: Request): Query | undefined {
    return this.isPlain(operation, req) ? this.queries.get(buildKey(operation, req)) : undefined;
  }

  add(operation: Operation, req: Request): void {
    // Credentials are not kept.
    if (!this.isPlain(operation, req) || 'auth_token' in req.query) return;
    const key = buildKey(operation, req);
    if (key.length > MAX_CHARS) return;
    if (this.queries.size >= MAX_QUERIES) this.queries.clear();
    this.queries.set(key, freezeDeep(req.query) as Query);
  }

  /** Only the query string of the request needs validation. */
  private isPlain(operation: Operation, { method, body, originalUrl }: Request): boolean {
    let plain = this.plain.get(operation);
    if (plain === undefined) this.plain.set(operation, (plain = hasQueryAlone(operation)));
    // The text after a # is no part of the query, though it may look like one.
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

function buildKey({ id }: Operation, { originalUrl: url }: Request): string {
  const at = url.indexOf('?');
  return at < 0 ? id : id + url.slice(at);
}

/** Several requests share a query: none may change it. */
function freezeDeep(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  Object.values(value).forEach(freezeDeep);
  return Object.freeze(value);
}
