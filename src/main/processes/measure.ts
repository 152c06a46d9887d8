import { Gauge, Registry } from 'prom-client';
import type { Pool } from 'pg';
import type { Deps } from '../../domain/deps';
import type { MetricSnapshot } from '../../api/metrics';
import { registry } from '../../platform/telemetry/metrics';
import { databaseMetrics } from './database-metrics';

/** Metrics of this process, and the text of the page of metrics. */
export interface Measurements {
  measured(): Promise<MetricSnapshot>;
  page(): Promise<string>;
}

interface MeasurementsOptions {
  /** Set with several processes: renders the sum of their metrics. */
  sum?: () => Promise<string>;
  /** Age limit of the metrics of the database. */
  max_age_ms?: number;
}

/**
 * Measures a process with its pools. Metrics of the database are equal in each process: only the
 * one that renders the page reads them, and they are not summed.
 */
export function measurements(
  deps: Pick<Deps, 'database' | 'parts' | 'clock' | 'log'>,
  { sum, max_age_ms }: MeasurementsOptions = {},
): Measurements {
  const ownRegistry = Registry.merge([registry, poolMetrics(deps)]);
  const ofDatabase = databaseMetrics(deps, max_age_ms);
  return {
    measured: () => ownRegistry.getMetricsAsJSON(),
    page: async () =>
      (await Promise.all([sum ? sum() : ownRegistry.metrics(), ofDatabase()])).join('\n'),
  };
}

const POOLS = [
  'pool',
  'prepared',
  'searches',
  'routing',
  'credentials',
  'batched',
  'streams',
  'bulk',
] as const;

function poolMetrics({ database, parts }: Pick<Deps, 'database' | 'parts'>): Registry {
  const registers = [new Registry()];
  const pools = (): [string, Pool[]][] => {
    const all = [...new Set([database, ...parts().map((part) => part.database)])];
    return POOLS.map((name) => [name, all.map((item) => item[name])]);
  };
  const sum = (of: readonly Pool[], count: (pool: Pool) => number) =>
    of.reduce((total, pool) => total + count(pool), 0);
  new Gauge({
    name: 'trunkline_database_pool_connections',
    help: 'Connections to the database, by pool and state.',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, of] of pools()) {
        const idle = sum(of, ({ idleCount }) => idleCount);
        this.set({ pool, state: 'idle' }, idle);
        this.set({ pool, state: 'used' }, sum(of, ({ totalCount }) => totalCount) - idle);
      }
    },
  });
  new Gauge({
    name: 'trunkline_database_pool_max_connections',
    help: 'Connections that a pool may open.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, of] of pools())
        this.set(
          { pool },
          sum(of, ({ options }) => options.max),
        );
    },
  });
  new Gauge({
    name: 'trunkline_database_pool_waiting',
    help: 'Statements and transactions that wait for a connection of a pool.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, of] of pools())
        this.set(
          { pool },
          sum(of, ({ waitingCount }) => waitingCount),
        );
    },
  });
  return registers[0]!;
}
