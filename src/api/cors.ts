import type { Request, Response } from 'express';
import { BASE_PATH, contract, isOpen as isOpenTo } from '../platform/contract/contract';

const EXPOSED = [
  ...['ETag', 'X-Request-Id', 'X-Client-Request-Id', 'Retry-After', 'Idempotent-Replayed'],
  ...['RateLimit', 'RateLimit-Policy'],
].join(', ');
const ALLOWED = [
  ...['Authorization', 'Content-Type', 'If-Match', 'If-None-Match', 'Idempotency-Key'],
  ...['Last-Event-ID', 'X-Request-Id'],
].join(', ');

/**
 * Operations that landing pages of any origin call: a lead token, or that of a webhook, is enough.
 */
const OPEN = contract.operations.filter(isOpenTo).map(({ method, path }) => ({
  method: method.toUpperCase(),
  pattern: new RegExp(`^${path.slice(BASE_PATH.length).replace(/\{\w+\}/g, '[^/]+')}/?$`),
}));

function isOpen(req: Request): boolean {
  const method = req.method === 'OPTIONS' ? req.get('Access-Control-Request-Method') : req.method;
  return OPEN.some((operation) => operation.method === method && operation.pattern.test(req.path));
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
    if (!origins.includes(origin) && !origins.includes('*') && !isOpen(req)) return false;
    res
      .vary('Origin')
      .set({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED });
    if (req.method !== 'OPTIONS') return false;
    res.set({
      'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, DELETE',
      'Access-Control-Allow-Headers': ALLOWED,
      'Access-Control-Max-Age': '7200',
    });
    res.status(204).end();
    return true;
  };
}
