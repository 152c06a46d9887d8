import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import {
  AggregatorRegistry,
  Registry,
  type MetricObjectWithValues,
  type MetricValue,
} from 'prom-client';
import { contract, METHODS } from '../platform/contract/contract';
import { HttpProblem } from '../platform/errors';
import { buildInfo, requests } from '../platform/telemetry/metrics';

/** Metrics of a process, in a form that can be summed over processes. */
export type MetricSnapshot = MetricObjectWithValues<MetricValue<string>>[];

/** The text of the page, summed over processes. */
export const renderMetrics = (measured: MetricSnapshot[]): Promise<string> =>
  AggregatorRegistry.aggregate(measured).metrics();

/** Sums over processes, without gauges: these hold for a moment only. */
export async function sumCounters(measured: MetricSnapshot[]): Promise<MetricSnapshot> {
  const all = (await AggregatorRegistry.aggregate(measured).getMetricsAsJSON()) as MetricSnapshot;
  return all.filter(({ type }) => ['counter', 'histogram', 'summary'].includes(String(type)));
}

buildInfo.set({ version: contract.document.info.version }, 1);

/** Methods that requests are measured by; the parser knows dozens more, which are `other`. */
const MEASURED_METHODS = new Set<string>([
  ...METHODS.map((method) => method.toUpperCase()),
  'HEAD',
  'OPTIONS',
]);

interface RequestTiming {
  /** Absent for a path without an operation. */
  operation: string | undefined;
  method: string;
  status: number;
  seconds: number;
}

export function observeRequest({
  operation = 'none',
  method,
  status,
  seconds,
}: RequestTiming): void {
  const knownMethod = MEASURED_METHODS.has(method) ? method : 'other';
  const statusClass = `${Math.floor(status / 100)}xx`;
  requests.observe({ operation, method: knownMethod, status_class: statusClass }, seconds);
}

/**
 * The page that Prometheus reads. Without a token there is none, since its numbers reveal how much
 * business there is.
 */
export const metricsPage =
  (token: string | undefined, text: () => Promise<string>): RequestHandler =>
  async (req, res) => {
    requireToken(req.headers.authorization, token);
    res
      .set('Cache-Control', 'no-store')
      .type(Registry.PROMETHEUS_CONTENT_TYPE)
      .send(await text());
  };

function requireToken(authorization = '', token: string | undefined): void {
  if (token === undefined)
    throw new HttpProblem('unknown_path', 'There are no metrics: METRICS_TOKEN is not set.');
  const [received, expected] = [authorization, `Bearer ${token}`].map((text) =>
    createHash('sha256').update(text).digest(),
  );
  if (!timingSafeEqual(received!, expected!))
    throw new HttpProblem(
      'wrong_credentials',
      'Metrics need Authorization: Bearer METRICS_TOKEN.',
      {
        headers: { 'WWW-Authenticate': 'Bearer realm="Trunkline metrics"' },
      },
    );
}
