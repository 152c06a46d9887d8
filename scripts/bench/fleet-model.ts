import { connectionsOf } from '../../src/db/client';
import type { Spent } from './cpu';

// How much hardware a day's work takes, from what each operation costs. Nothing here measures.

/** CPU milliseconds of one operation, and what it leaves on disk. */
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
  /** Cores that one API process, one worker and the database take when nothing is to be done. */
  idle: Parts;
  /** Events that are reported of a call. */
  events_of_call: number;
  /** Private memory of a session of the database. */
  session_mb: number;
  api_mb: number;
  worker_mb: number;
}

export type Counts = Record<string, number>;

/** How many processes run. */
export interface Fleet {
  api: number;
  workers: number;
}

/** The CPU seconds that so many operations should take in so many seconds. */
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

/** What is to be done on a day. */
export interface Day {
  calls: number;
  leads: number;
  numbers: number;
  /** Of lists, records and reports. */
  reads: number;
}

export interface Assumptions {
  /** How many times the average of the day the busiest hour has. */
  peak: number;
  /** The share of a core that is used at that time. */
  utilisation: number;
  /** Cores of the largest PostgreSQL that is run. */
  node_cores: number;
  /** Days whose records are often read: they should be in memory. */
  recent_days: number;
}

export interface Plan {
  /** Operations a second in the busiest hour. */
  rates: Counts;
  /** Cores that are busy then. */
  busy: Parts;
  processes: number;
  workers: number;
  database_cores: number;
  /** GB that a day adds. */
  disk_gb: number;
  memory_gb: number;
  /** Databases over which companies are spread (docs/scaling.md). */
  cells: number;
}

/** Of a process at most, with the usual DATABASE_POOL_SIZE; two more listen. */
const SESSIONS = connectionsOf(16) + 2;
const DAY_SECONDS = 86_400;

/** How often each operation is done on such a day; a call sends one webhook, a lead gets a text. */
export function operationsOf(
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

/** Processes, cores, disk and cells that so many operations a day need. */
export function plan(counts: Counts, costs: Costs, assumptions: Assumptions): Plan {
  const { peak, utilisation, node_cores, recent_days } = assumptions;
  const rates = Object.fromEntries(
    Object.entries(counts).map(([operation, n]) => [operation, (n * peak) / DAY_SECONDS]),
  );
  const needed = (cores: number) => Math.max(1, Math.ceil(cores / utilisation));
  const working = predict(costs, rates, { seconds: 1, fleet: { api: 0, workers: 0 } });
  // A process that waits takes some of its core too.
  const processes = needed(working.api / (1 - costs.idle.api / utilisation));
  const workers = needed(working.workers / (1 - costs.idle.workers / utilisation));
  const busy = predict(costs, rates, { seconds: 1, fleet: { api: processes, workers } });
  const database_cores = needed(busy.database);
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
    database_cores,
    disk_gb: bytes / 1e9,
    memory_gb: (sessions * costs.session_mb) / 1e3 + (bytes * recent_days) / 1e9,
    cells: Math.ceil(database_cores / node_cores),
  };
}

/** From this share of its cores on, a part takes no more. */
const FULL = 0.9;

/** The part that is full: what more work would need more of. */
export function fullPart(
  { seconds, api, workers, load, machine }: Omit<Spent, 'database'>,
  { cores, fleet }: { cores: number; fleet: Fleet },
): string {
  const full = (spent: number, most: number) => most > 0 && spent / seconds / most >= FULL;
  if (full(load, 1)) return 'the load';
  if (full(api, fleet.api)) return 'API processes';
  if (full(workers, fleet.workers)) return 'workers';
  return full(machine, cores) ? 'the machine' : 'nothing';
}
