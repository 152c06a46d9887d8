import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Pool } from 'pg';
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  Registry,
  type MetricObjectWithValues,
  type MetricValue,
} from 'prom-client';
import { HttpProblem } from '../errors';

/** What is measured, in a form that other processes can add up. */
export type Measured = MetricObjectWithValues<MetricValue<string>>[];

export interface Metrics {
  /** Adds a request to the times, by operation and status. */
  observe(operation: string, status: number, seconds: number): void;
  /** The page that Prometheus reads. */
  page: RequestHandler;
  /** What was measured by this process. */
  measured(): Promise<Measured>;
}

interface MetricsOptions {
  /** Absent: there is no page, since its numbers reveal how much business there is. */
  token: string | undefined;
  /** The text of the page where several processes make it together. */
  sum?: () => Promise<string>;
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

/** What is measured of any process, whether it answers requests or not. */
export const measureProcess = (): Promise<Measured> => processMetrics().getMetricsAsJSON();

/** The text of a page with what several processes have measured. */
export const sumOf = (measured: Measured[]): Promise<string> =>
  AggregatorRegistry.aggregate(measured).metrics();

/** What several processes have counted together, without what was so only at the moment. */
export async function countsOf(measured: Measured[]): Promise<Measured> {
  const all = (await AggregatorRegistry.aggregate(measured).getMetricsAsJSON()) as Measured;
  return all.filter(({ type }) => ['counter', 'histogram', 'summary'].includes(String(type)));
}

export function createMetrics(pool: Pool, { token, sum }: MetricsOptions): Metrics {
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
        .send(await (sum ? sum() : all.metrics()));
    },
    measured: () => all.getMetricsAsJSON(),
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
