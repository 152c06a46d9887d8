import compression from 'compression';
import express, { Router, type Express, type RequestHandler } from 'express';
import { createRequestObserver } from '../api/logging';
import { healthChecks } from '../api/health';
import { metricsPage } from '../api/metrics';
import { errorHandler } from '../api/reply/error-handler';
import { readQuery } from '../api/request/parameters';
import { requireHost } from '../api/request/unreadable-requests';
import type { Deps } from '../domain/deps';
import { collectFromParts } from '../operate/installation/all-parts';
import { HttpProblem } from '../platform/errors';
import { within } from '../platform/telemetry/tracing';
import { listFaults } from './background/list-faults';
import { measurements, type Measurements } from './processes/measure';

// The part of HTTP that all processes have in common: each request is logged and measured, and
// Prometheus and load balancers find their pages. A worker has nothing else.

/** An application whose requests are logged and measured; `endApp` completes it. */
export function beginApp({ config, log }: Pick<Deps, 'config' | 'log'>): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  app.set('trust proxy', config.trust_proxy).set('query parser', readQuery);
  return app.use(observeAndCompress(createRequestObserver(log)));
}

/** Refuses the requests that nothing has answered, and answers errors. */
export function endApp(app: Express, { log }: Pick<Deps, 'log'>): Express {
  app.use(() => {
    throw new HttpProblem('unknown_path', 'There is no such path.');
  });
  return app.use(errorHandler(log));
}

/** /livez, /readyz and /metrics. */
export function monitoringPages(deps: Deps, { page }: Measurements): Router {
  const router = Router({ caseSensitive: true });
  const findFaults = () => collectFromParts(deps, ({ sql }) => listFaults(sql));
  router.use(healthChecks(deps.database.sql, findFaults));
  router.get('/metrics', metricsPage(deps.config.metrics_token, page));
  return router;
}

/** The application of a process that only runs jobs. */
export const createWorkerApp = (deps: Deps): Express =>
  endApp(beginApp(deps).use(monitoringPages(deps, measurements(deps))), deps);

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
