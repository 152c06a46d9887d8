import compression from 'compression';
import express, { type Express, type RequestHandler, type Response } from 'express';
import helmet from 'helmet';
import { listFaults } from './background/list-faults';
import type { Config } from './config-type';
import { BASE_PATH } from './contract';
import { ID_REACH } from './db/kept-identity';
import type { Deps } from './deps-type';
import { HttpProblem } from './errors';
import { consolePages } from './console/console';
import { createHandlers } from './handlers';
import type { Pipeline } from './http/adapt';
import { bind } from './http/bind';
import { BODY_TIMEOUTS, bodyTimeout, type BodyTimeouts } from './http/body-timeout';
import { changeLog } from './http/change-log';
import { cors } from './http/cors';
import { docs } from './http/docs/routes';
import { errorHandler } from './http/error-handler';
import type { Handlers } from './http/handlers';
import { healthChecks } from './http/health';
import { idempotency } from './http/idempotency';
import { listFormats } from './http/list-formats';
import { createRequestObserver } from './http/logging';
import { metricsPage } from './http/metrics';
import { otherPaths } from './http/other-paths';
import { readQuery } from './http/parameters';
import { bodyReader } from './http/read-body';
import { staleReads } from './http/stale-reads';
import { requireHost } from './http/unreadable-requests';
import { uploader } from './http/upload';
import { ValidQueries } from './http/valid-queries';
import { validator } from './http/validate';
import { loadDestinationTest } from './people/destinations';
import { collectFromParts } from './installation/all-parts';
import { confirmationPage } from './people/confirmation-page';
import { invitationPage } from './people/invitation-page';
import { measurements, type Measurements } from './processes/measure';
import { within } from './telemetry/tracing';

/**
 * The HTTP application. A request passes these handlers from top to bottom; an operation of the API
 * then passes the steps of src/http/adapt.ts. `replacements` take the place of parts of the
 * pipeline.
 */
export function createApp(
  deps: Deps,
  handlers: Handlers = createHandlers(deps),
  {
    measured = measurements(deps),
    ...replacements
  }: Partial<Pipeline> & { measured?: Measurements } = {},
): Express {
  const { config, log, database } = deps;
  const app = expressApp(config);
  const pipeline = {
    ...buildPipeline(app, deps, replacements.timeouts ?? BODY_TIMEOUTS),
    ...replacements,
  };

  app.use(observeAndCompress(createRequestObserver(log)));
  app.use(BASE_PATH, api(config, handlers, pipeline));
  app.use(healthChecks(database.sql, () => collectFromParts(deps, ({ sql }) => listFaults(sql))));
  app.get('/metrics', metricsPage(config.metrics_token, measured.page));
  app.get('/', (_req, res) => res.redirect('/api/docs/'));
  app.use(consolePages());
  app.use(helmet(PAGE_HEADERS), docs());
  app.get('/invitations', invitationPage);
  app.get('/confirmations', confirmationPage);
  app.use(() => {
    throw new HttpProblem('unknown_path', 'There is no such path.');
  });
  app.use(errorHandler(log));
  return app;
}

function expressApp({ trust_proxy }: Config): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  app.set('trust proxy', trust_proxy).set('query parser', readQuery);
  return app;
}

const buildPipeline = (app: Express, deps: Deps, timeouts: BodyTimeouts): Pipeline => ({
  authenticator: deps.authenticator,
  limits: deps.limits,
  readBody: bodyReader(deps.config),
  timeouts,
  storage: deps.storage,
  upload: uploader({
    storage: deps.storage,
    max_upload_bytes: deps.config.max_upload_bytes,
    max_body_bytes: deps.config.max_body_bytes,
    timeouts,
  }),
  validate: validator(app),
  queries: new ValidQueries(),
  tenants: deps.tenants,
  destinations: loadDestinationTest,
  stale: staleReads(deps.database, deps.standby),
  idempotency: idempotency(deps),
  changes: changeLog(deps.clock),
  id_reach: ID_REACH,
});

function observeAndCompress(observe: ReturnType<typeof createRequestObserver>): RequestHandler {
  const compress = compression();
  return (req, res, next) => {
    // Wrapping a response takes time: only clients that accept compression pay for it.
    within(observe(req, res), () => {
      requireHost(req);
      if (req.headers['accept-encoding']) compress(req, res, next);
      else next();
    });
  };
}

/**
 * The steps before an operation are called directly, one after the other: as Express handlers, each
 * would cost more than its work.
 */
function api({ cors_origins }: Config, handlers: Handlers, pipeline: Pipeline): RequestHandler {
  const allowOrigins = cors(cors_origins);
  const limitTimeOfBody = bodyTimeout(pipeline.timeouts);
  const [readOtherPaths, readFormat] = [otherPaths(), listFormats()];
  const operate = bind(handlers, pipeline);
  return (req, res, next) => {
    setSecurityHeaders(res);
    if (allowOrigins(req, res)) return;
    limitTimeOfBody(req);
    readOtherPaths(req);
    readFormat(req);
    return operate(req, res, next);
  };
}

/**
 * JSON needs few of the headers that protect pages; TLS, and with it HSTS, is the proxy's task.
 * Answers are private: no proxy and no browser may store them.
 */
function setSecurityHeaders(res: Response): void {
  res
    .setHeader('Cache-Control', 'no-store')
    .setHeader('X-Content-Type-Options', 'nosniff')
    .setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
}

const PAGE_HEADERS = {
  contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
  strictTransportSecurity: false,
};
