import compression from 'compression';
import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import { parse } from 'qs';
import { BASE_PATH } from './contract';
import type { Deps } from './deps';
import { createHandlers } from './handlers';
import { bind, listFormats, type Pipeline } from './http/bind';
import { changeLog } from './http/change-log';
import { cors } from './http/cors';
import { docs } from './http/docs';
import { errorHandler, unavailable } from './http/error-handler';
import type { Handlers } from './http/handlers';
import { idempotency } from './http/idempotency';
import { invitationPage } from './people/invitation-page';
import { requestLog } from './http/logging';
import { isMultipart, uploader } from './http/upload';
import { validator } from './http/validate';
import { createMetrics } from './http/metrics';
import { HttpProblem } from './errors';

const QUERY = { depth: 5, arrayLimit: 10_000, parameterLimit: 10_000, plainObjects: true };

/** A JSON API needs little of what protects pages; the docs page gets all of it. TLS, and with it HSTS, is the business of the proxy in front. */
const API_HEADERS = {
  xContentTypeOptions: 'nosniff',
  contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
};
const PAGE_HEADERS = {
  contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
  strictTransportSecurity: false,
};

/** The HTTP application: parsers → normalize → validator → bound handlers → error mapper. */
export function createApp(
  deps: Deps,
  handlers: Handlers = createHandlers(deps),
  others: Partial<Pipeline> = {},
): Express {
  const { config, log, database } = deps;
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  app
    .set('trust proxy', config.trust_proxy)
    .set('query parser', (text: string) => parse(text, QUERY));
  const metrics = createMetrics(database.pool);
  app.use(requestLog(log), metrics.observe, compressed());
  app.use(BASE_PATH, api(app, deps, { handlers, others }));
  app.get('/livez', (_req, res) => void res.type('text/plain').send('ok\n'));
  app.get('/readyz', async (_req, res) => {
    await database.pool.query('SELECT 1').catch(() => {
      throw unavailable();
    });
    res.type('text/plain').send('ok\n');
  });
  app.get('/metrics', metrics.page);
  app.get('/', (_req, res) => res.redirect('/api/docs/'));
  app.use(helmet(PAGE_HEADERS), docs());
  app.get('/invitations', invitationPage);
  app.use(() => {
    throw new HttpProblem(404, 'There is no such path.');
  });
  app.use(errorHandler(log));
  return app;
}

interface Parts {
  handlers: Handlers;
  /** In place of the usual ones. */
  others: Partial<Pipeline>;
}

function api(app: Express, deps: Deps, { handlers, others }: Parts): RequestHandler[] {
  const { config, clock, pepper, authenticator, limits, tenants, storage } = deps;
  const limit = config.max_body_bytes;
  const upload = uploader({
    storage,
    max_upload_bytes: config.max_upload_bytes,
    max_body_bytes: limit,
  });
  const pipes = {
    authenticator,
    limits,
    tenants,
    upload,
    validate: validator(app),
    idempotency: idempotency({ pepper, clock }),
    changes: changeLog(clock),
    ...others,
  };
  const secure: RequestHandler = (_req, res, next) => {
    res
      .setHeader('X-Content-Type-Options', API_HEADERS.xContentTypeOptions)
      .setHeader('Content-Security-Policy', API_HEADERS.contentSecurityPolicy);
    next();
  };
  const parsers = [
    express.json({ limit, strict: false }),
    express.urlencoded({ limit, extended: true, parameterLimit: 20_000 }),
  ];
  return [
    secure,
    cors(config.cors_origins),
    patience,
    ...parsers,
    listFormats(),
    bind(handlers, pipes),
  ];
}

/** How long a body may take to arrive, unless it holds a file. */
const PATIENCE_MS = 60_000;

/** Ends connections whose body only drips in; a file may take as long as it takes, and an hour at most (server.ts). */
const patience: RequestHandler = (req, _res, next) => {
  const has_body =
    req.headers['transfer-encoding'] !== undefined ||
    Number(req.headers['content-length'] ?? 0) > 0;
  if (has_body && !isMultipart(req)) {
    const timer = setTimeout(() => req.destroy(), PATIENCE_MS);
    req.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
  }
  next();
};

/** Compresses for those who ask for it; the others are spared its wrapping of every answer. */
function compressed(): RequestHandler {
  const compress = compression();
  return (req, res, next) => (req.headers['accept-encoding'] ? compress(req, res, next) : next());
}
