import type { Express, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import type { Config } from '../platform/config';
import { BASE_PATH } from '../platform/contract/contract';
import { ID_REACH } from '../data/kept-identity';
import type { Deps } from '../domain/deps';
import { consolePages } from '../console/console';
import { createHandlers } from './handlers';
import { sessionGate } from '../api/auth/session-gate';
import type { Pipeline } from '../api/request/read-call';
import { bind } from '../api/bind';
import { BODY_TIMEOUTS, bodyTimeout, type BodyTimeouts } from '../api/request/body-timeout';
import { changeLog } from '../api/records/change-log';
import { cors } from '../api/cors';
import { docs } from '../api/docs/routes';
import type { Handlers } from '../api/handlers';
import { idempotency } from '../api/records/idempotency';
import { listFormats } from '../api/records/list-formats';
import { otherPaths } from '../api/reply/other-paths';
import { bodyReader } from '../api/request/read-body';
import { staleReads } from '../api/records/stale-reads';
import { uploader } from '../api/request/upload';
import { ValidQueries } from '../api/request/valid-queries';
import { findReader } from '../api/request/reader';
import { loadDestinationTest } from '../domain/people/destinations';
import { confirmationPage } from '../domain/people/confirmation-page';
import { invitationPage } from '../domain/people/invitation-page';
import { signInRoutes } from '../domain/people/sign-in/routes';
import { beginApp, endApp, monitoringPages } from './http-app';
import { measurements, type Measurements } from './processes/measure';

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
  const { config } = deps;
  const app = beginApp(deps);
  const pipeline = {
    ...buildPipeline(deps, replacements.timeouts ?? BODY_TIMEOUTS),
    ...replacements,
  };

  const mounts = api(config, handlers, pipeline);
  app.use(BASE_PATH, mounts.open);
  app.use(`/console${BASE_PATH}`, mounts.ofConsole);
  app.use(signInRoutes(deps));
  app.use(monitoringPages(deps, measured));
  app.get('/', (_req, res) => res.redirect('/console/'));
  app.use(consolePages());
  app.use(helmet(PAGE_HEADERS), docs());
  app.get('/invitations', invitationPage);
  app.get('/confirmations', confirmationPage);
  return endApp(app, deps);
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
