import type { Request, Response } from 'express';
import { buildPathPattern, contract, isOpen as isOpenTo } from '../platform/contract/contract';

const EXPOSED = [
  ...['ETag', 'X-Request-Id', 'X-Client-Request-Id', 'Retry-After', 'Idempotent-Replayed'],
  ...['RateLimit', 'RateLimit-Policy'],
].join(', ');
const ALLOWED = [
  ...['Authorization', 'Content-Type', 'If-Match', 'If-None-Match', 'Idempotency-Key'],
  ...['Last-Event-ID', 'X-Request-Id', 'X-Requested-With', 'X-CSRF-Token', 'X-XSRF-Token'],
];

/**
 * Operations that landing pages of any origin call: a lead token, or that of a webhook, is enough.
 */
const ROUTES = contract.operations.map((operation) => ({
  is_open: isOpenTo(operation),
  method: operation.method.toUpperCase(),
  pattern: buildPathPattern(operation.path),
}));
const OPEN = ROUTES.filter(({ is_open }) => is_open);

/** An open path answers methods that it does not have: a page can read that they are refused. */
function isOpen(req: Request): boolean {
  const method = req.method === 'OPTIONS' ? req.get('Access-Control-Request-Method') : req.method;
  const open = OPEN.filter(({ pattern }) => pattern.test(req.path));
  if (open.length === 0 || open.some((route) => route.method === method)) return open.length > 0;
  return !ROUTES.some((route) => route.method === method && route.pattern.test(req.path));
}

const LOWER_ALLOWED = ALLOWED.map((name) => name.toLowerCase());

/** The headers of libraries and of what observes a page differ: those it asks for are allowed. */
function listAllowed(requested = ''): string {
  const names = requested.split(',').map((name) => name.trim().toLowerCase());
  const others = names.filter(
    (name) => /^[\w-]{1,100}$/.test(name) && !LOWER_ALLOWED.includes(name),
  );
  return [...ALLOWED, ...new Set(others)].join(', ');
}

/**
 * Allows browsers of the configured origins to call the API, and those of all origins to submit
 * leads; without these headers a browser refuses. Returns true when it has answered a preflight
 * request.
 */
export function cors(origins: readonly string[]): (req: Request, res: Response) => boolean {
  return (req, res) => {
    const { origin } = req.headers;
    if (origins.length > 0) res.vary('Origin');
    if (!origin) return false;
    const isOpenToPages = isOpen(req);
    if (!origins.includes(origin) && !origins.includes('*') && !isOpenToPages) return false;
    res
      .vary('Origin')
      .set({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED });
    // sendBeacon is a request with credentials. What a password that the browser has kept would
    // show stays unreadable to the page.
    if (isOpenToPages && !req.headers.authorization)
      res.set('Access-Control-Allow-Credentials', 'true');
    if (req.method !== 'OPTIONS') return false;
    res.set({
      'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, DELETE',
      'Access-Control-Allow-Headers': listAllowed(req.get('Access-Control-Request-Headers')),
      'Access-Control-Max-Age': '7200',
    });
    res.status(204).end();
    return true;
  };
}
