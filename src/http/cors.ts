import type { RequestHandler } from 'express';

const EXPOSED = 'ETag, X-Request-Id, Retry-After, Idempotent-Replayed';
const ALLOWED = 'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Request-Id';

/** Lets the browsers of the configured origins call the API; others are told nothing, and refuse by themselves. */
export function cors(origins: readonly string[]): RequestHandler {
  if (origins.length === 0) return (_req, _res, next) => next();
  return (req, res, next) => {
    const { origin } = req.headers;
    res.vary('Origin');
    if (!origin || !(origins.includes(origin) || origins.includes('*'))) return next();
    res.set({ 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': EXPOSED });
    if (req.method !== 'OPTIONS') return next();
    res.set({ 'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, DELETE', 'Access-Control-Allow-Headers': ALLOWED, 'Access-Control-Max-Age': '7200' });
    res.status(204).end();
  };
}
