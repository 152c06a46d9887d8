import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Pool } from 'pg';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { HttpProblem } from '../errors';

export interface Metrics {
  /** Adds a request to the times, by operation and status. */
  observe(operation: string, status: number, seconds: number): void;
  /** The page that Prometheus reads. */
  page: RequestHandler;
}

let of_process: Registry | undefined;

/** What is measured of the process is measured once, however many applications it runs. */
function processMetrics(): Registry {
  if (!of_process) {
    of_process = new Registry();
    collectDefaultMetrics({ register: of_process });
  }
  return of_process;
}

/** Without a token there is no page: its numbers reveal how much business there is. */
export function createMetrics(pool: Pool, token: string | undefined): Metrics {
  const registry = new Registry();
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [registry],
  });
  const connections = new Gauge({
    name: 'database_connections',
    help: 'Connections of the pool, by state, and requests waiting for one.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
      this.set({ state: 'waiting' }, pool.waitingCount);
    },
  });
  void connections;
  const all = Registry.merge([processMetrics(), registry]);
  return {
    observe: (operation, status, seconds) => requests.observe({ operation, status }, seconds),
    page: async (req, res) => {
      requireToken(req.headers.authorization, token);
      res
        .set('Cache-Control', 'no-store')
        .type(all.contentType)
        .send(await all.metrics());
    },
  };
}

function requireToken(authorization = '', token: string | undefined): void {
  if (token === undefined)
    throw new HttpProblem('unknown_path', 'There are no metrics: METRICS_TOKEN is not set.');
  const [sent, expected] = [authorization, `Bearer ${token}`].map((text) =>
    createHash('sha256').update(text).digest(),
  );
  if (!timingSafeEqual(sent!, expected!))
    throw new HttpProblem(
      'wrong_credentials',
      'Metrics need Authorization: Bearer METRICS_TOKEN.',
      {
        headers: { 'WWW-Authenticate': 'Bearer realm="Trunkline metrics"' },
      },
    );
}
