import { countConnections } from '../../src/data/client';
import type { CpuUsage } from './cpu';

// Computes how much hardware a day's work takes from the costs of operations. Nothing is measured
// here.

/** CPU milliseconds of one operation, and the bytes that it leaves on disk. */
export interface Cost {
  api_ms: number;
  workers_ms: number;
  database_ms: number;
  bytes?: number;
}

export const PARTS = ['api', 'workers', 'database'] as const;
export type Part = (typeof PARTS)[number];
/** Processor cores, or CPU seconds, of each part. */
export type Parts = Record<Part, number>;

export interface Costs {
  operations: Record<string, Cost>;
  /** Cores that one API process, one worker and the database use without work. */
  idle: Parts;
  /** Events that are reported per call. */
  events_of_call: number;
  /** Private memory of one session of the database. */
  session_mb: number;
  api_mb: number;
  worker_mb: number;
}

export type Counts = Record<string, number>;

export interface Fleet {
  api: number;
  workers: number;
}

export function predict(
  { operations, idle }: Pick<Costs, 'operations' | 'idle'>,
  counts: Counts,
  { seconds, fleet }: { seconds: number; fleet: Fleet },
): Parts {
  const running = { ...fleet, database: 1 };
  const total = (part: Part) =>
    Object.entries(counts).reduce(
      (sum, [operation, n]) => {
        const cost = operations[operation];
        if (!cost) throw new Error(`what ${operation} costs was not measured`);
        return sum + (n * cost[`${part}_ms`]) / 1000;
      },
      idle[part] * running[part] * seconds,
    );
  return { api: total('api'), workers: total('workers'), database: total('database') };
}

export interface Day {
  calls: number;
  leads: number;
  numbers: number;
  /** Reads of lists, records and reports. */
  reads: number;
}

export interface Assumptions {
  /** The busiest hour, as a multiple of the average of the day. */
  peak: number;
  /** The share of a core that is used in the busiest hour. */
  utilisation: number;
  /** Cores of the largest PostgreSQL server. */
  node_cores: number;
  /** Days whose records should be in memory, because they are often read. */
  recent_days: number;
}

export interface Plan {
  /** Operations a second in the busiest hour. */
  rates: Counts;
  /** Cores that are busy in the busiest hour. */
  busy: Parts;
  processes: number;
  workers: number;
  database_cores: number;
  /** GB that a day adds. */
  disk_gb: number;
  memory_gb: number;
  /** Databases over which companies are spread (docs/scale.md). */
  cells: number;
}

/** Sessions of a process at most, with the default DATABASE_POOL_SIZE; two more listen. */
const SESSIONS = countConnections(16) + 2;
const DAY_SECONDS = 86_400;

/** Counts the operations of a day; a call sends one webhook, a lead gets one text. */
export function countOperations(
  { calls, leads, numbers, reads }: Day,
  { events_of_call, reads: shares }: { events_of_call: number; reads: Counts },
): Counts {
  const all = Object.values(shares).reduce((sum, share) => sum + share, 0);
  const counts: Counts = {
    'begin a call': calls,
    'event of a call': calls * events_of_call,
    'deliver a webhook': calls,
    'submit a lead': leads,
    'text a lead': leads,
    'import a number': numbers,
  };
  for (const [operation, share] of Object.entries(shares))
    counts[operation] = (reads * share) / all;
  return counts;
}

/** Computes the processes, cores, disk and cells that so many operations a day need. */
export function plan(counts: Counts, costs: Costs, assumptions: Assumptions): Plan {
  const { peak, utilisation, node_cores, recent_days } = assumptions;
  const rates = Object.fromEntries(
    Object.entries(counts).map(([operation, n]) => [operation, (n * peak) / DAY_SECONDS]),
  );
  const needed = (cores: number) => Math.max(1, Math.ceil(cores / utilisation));
  const working = predict(costs, rates, { seconds: 1, fleet: { api: 0, workers: 0 } });
  // An idle process takes some of its core too.
  const processes = needed(working.api / (1 - costs.idle.api / utilisation));
  const workers = needed(working.workers / (1 - costs.idle.workers / utilisation));
  const busy = predict(costs, rates, { seconds: 1, fleet: { api: processes, workers } });
  const databaseCores = needed(busy.database);
  const bytes = Object.entries(counts).reduce(
    (sum, [operation, n]) => sum + n * (costs.operations[operation]!.bytes ?? 0),
    0,
  );
  const sessions = (processes + workers) * SESSIONS;
  return {
    rates,
    busy,
    processes,
    workers,
    database_cores: databaseCores,
    disk_gb: bytes / 1e9,
    memory_gb: (sessions * costs.session_mb) / 1e3 + (bytes * recent_days) / 1e9,
    cells: Math.ceil(databaseCores / node_cores),
  };
}

/** A part that uses this share of its cores is full. */
const FULL = 0.9;

/** Returns the part that is full, and so limits the rate. */
export function findFullPart(
  { seconds, api, workers, load, machine }: Omit<CpuUsage, 'database'>,
  { cores, fleet }: { cores: number; fleet: Fleet },
): string {
  const full = (spent: number, most: number) => most > 0 && spent / seconds / most >= FULL;
  if (full(load, 1)) return 'the load';
  if (full(api, fleet.api)) return 'API processes';
  if (full(workers, fleet.workers)) return 'workers';
  return full(machine, cores) ? 'the machine' : 'nothing';
}
