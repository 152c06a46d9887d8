import compression from 'compression';
import express, { type Express } from 'express';
import helmet from 'helmet';
import { parse } from 'qs';
import { BASE_PATH } from './contract';
import type { Deps } from './deps';
import { createHandlers } from './handlers';
import { bind, listFormats } from './http/bind';
import { cors } from './http/cors';
import { docs } from './http/docs';
import { errorHandler, unavailable } from './http/errors';
import type { Handlers } from './http/handlers';
import { idempotency } from './http/idempotency';
import { requestLog } from './http/logging';
import { validator } from './http/validate';
import { createMetrics } from './metrics';
import { Refusal } from './refusal';

const QUERY = { depth: 5, arrayLimit: 10_000, parameterLimit: 10_000, plainObjects: false, allowPrototypes: true };

/** TLS ends at the proxy in front, which also decides about HSTS: over plain HTTP these two would only break the docs page. */
const SECURITY_HEADERS = { contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } }, strictTransportSecurity: false };

/** The HTTP application: parsers → normalize → validator → bound handlers → error mapper. */
export function createApp(deps: Deps, handlers: Handlers = createHandlers(deps)): Express {
  const { config, log, database, clock } = deps;
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  app.set('trust proxy', config.trust_proxy).set('query parser', (text: string) => parse(text, QUERY));
  const metrics = createMetrics(database.pool);
  app.use(requestLog(log), metrics.observe, helmet(SECURITY_HEADERS), compression());
  app.get('/livez', (_req, res) => void res.type('text/plain').send('ok\n'));
  app.get('/readyz', async (_req, res) => {
    await database.pool.query('SELECT 1').catch(() => {
      throw unavailable();
    });
    res.type('text/plain').send('ok\n');
  });
  app.get('/metrics', metrics.page);
  app.get('/', (_req, res) => res.redirect('/api/docs/'));
  app.use(docs());
  const limit = config.max_body_bytes;
  app.use(BASE_PATH, cors(config.cors_origins), express.json({ limit, strict: false }), express.urlencoded({ limit, extended: true, parameterLimit: 20_000 }));
  const pipes = {
    authenticator: deps.authenticator,
    validate: validator(app),
    idempotency: idempotency({ pepper: deps.pepper, clock }),
    tenants: deps.tenants,
  };
  app.use(listFormats(), bind(handlers, pipes));
  app.use(() => {
    throw new Refusal(404, 'There is no such path.');
  });
  app.use(errorHandler(log));
  return app;
}
