import compression from 'compression';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import helmet from 'helmet';
import { listFaults } from './background/list-faults';
import type { Config } from '../platform/config';
import { BASE_PATH } from '../platform/contract/contract';
import { ID_REACH } from '../data/kept-identity';
import type { Deps } from '../domain/deps';
import { HttpProblem } from '../platform/errors';
import { consolePages } from '../console/console';
import { createHandlers } from './handlers';
import { sessionGate } from '../api/auth/session-gate';
import type { Pipeline } from '../api/request/read-call';
import { bind } from '../api/bind';
import { BODY_TIMEOUTS, bodyTimeout, type BodyTimeouts } from '../api/request/body-timeout';
import { changeLog } from '../api/records/change-log';
import { cors } from '../api/cors';
import { docs } from '../api/docs/routes';
import { errorHandler } from '../api/reply/error-handler';
import type { Handlers } from '../api/handlers';
import { healthChecks } from '../api/health';
import { idempotency } from '../api/records/idempotency';
import { listFormats } from '../api/records/list-formats';
import { createRequestObserver } from '../api/logging';
import { metricsPage } from '../api/metrics';
import { otherPaths } from '../api/reply/other-paths';
import { readQuery } from '../api/request/parameters';
import { bodyReader } from '../api/request/read-body';
import { staleReads } from '../api/records/stale-reads';
import { requireHost } from '../api/request/unreadable-requests';
import { uploader } from '../api/request/upload';
import { ValidQueries } from '../api/request/valid-queries';
import { findReader } from '../api/request/reader';
import { loadDestinationTest } from '../domain/people/destinations';
import { collectFromParts } from '../operate/installation/all-parts';
import { confirmationPage } from '../domain/people/confirmation-page';
import { invitationPage } from '../domain/people/invitation-page';
import { signInRoutes } from '../domain/people/sign-in/routes';
import { measurements, type Measurements } from './processes/measure';
import { within } from '../platform/telemetry/tracing';

/**
 * The HTTP application. A request passes these handlers from top to bottom; an operation of the API
 * then passes the steps of src/api/adapt.ts. `replacements` take the place of parts of the
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
    ...buildPipeline(deps, replacements.timeouts ?? BODY_TIMEOUTS),
    ...replacements,
  };

  app.use(observeAndCompress(createRequestObserver(log)));
  const mounts = api(config, handlers, pipeline);
  app.use(BASE_PATH, mounts.open);
  app.use(`/console${BASE_PATH}`, mounts.ofConsole);
  app.use(signInRoutes(deps));
  app.use(healthChecks(database.sql, () => collectFromParts(deps, ({ sql }) => listFaults(sql))));
  app.get('/metrics', metricsPage(config.metrics_token, measured.page));
  app.get('/', (_req, res) => res.redirect('/console/'));
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

const buildPipeline = (deps: Deps, timeouts: BodyTimeouts): Pipeline => ({
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
  findReader,
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

interface Mounts {
  /** For every client that has credentials of its own, or needs none. */
  open: RequestHandler;
  /** For the console, whose session is in a cookie: of no other origin, and without CORS. */
  ofConsole: RequestHandler;
}

/**
 * The steps before an operation are called directly, one after the other: as Express handlers, each
 * would cost more than its work.
 */
function api(config: Config, handlers: Handlers, pipeline: Pipeline): Mounts {
  const allowOrigins = cors(config.cors_origins);
  const openGate = sessionGate(config);
  const limitTimeOfBody = bodyTimeout(pipeline.timeouts);
  const [readOtherPaths, readFormat] = [otherPaths(), listFormats()];
  const operate = bind(handlers, pipeline);
  const mount =
    (isAnswered: (req: Request, res: Response) => boolean): RequestHandler =>
    (req, res, next) => {
      setSecurityHeaders(res);
      readOtherPaths(req);
      if (isAnswered(req, res)) return;
      limitTimeOfBody(req);
      readFormat(req);
      return operate(req, res, next);
    };
  return {
    open: mount(allowOrigins),
    ofConsole: mount((req) => {
      openGate(req);
      return false;
    }),
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
