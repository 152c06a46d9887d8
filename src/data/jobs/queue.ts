import PgBoss from 'pg-boss';
import { HostsClient } from '../postgres/hosts-client';
import type { Db } from '../db';
import { withClient } from '../postgres/with-client';
import { INDEX_TURNS, NOTIFY } from './queries/job';
import { TASK_NAMES, type TaskName, type Tasks } from './tasks';

// Only this file and src/data/jobs/workers.ts know the queue library. Jobs are rows in PostgreSQL:
// they are added in the transaction of the records that they are about, none is lost when a process
// dies, and every job may run twice.

export interface Timing {
  /** A job without a heartbeat for this long is run again by another process. */
  expire_seconds: number;
  heartbeat_ms: number;
  /** Time between two looks for expired jobs. */
  maintenance_seconds: number;
  /** Time between two looks for jobs whose notification was lost. */
  poll_ms: number;
}

export const TIMING: Timing = {
  expire_seconds: 12,
  heartbeat_ms: 3_000,
  maintenance_seconds: 3,
  poll_ms: 2_000,
};
const RETRY_SECONDS = 2;
/** In practice without end: each kind of job decides itself when to give up. */
const RETRIES = 1_000_000;
const RETENTION_MINUTES = 365 * 24 * 60;
export const CHANNEL = 'trunkline_jobs';

type Execute = (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>;

/** With `supervise` it also looks for expired jobs. */
export function library(
  execute: Execute,
  {
    supervise,
    maintenance_seconds = TIMING.maintenance_seconds,
  }: { supervise: boolean; maintenance_seconds?: number },
): PgBoss {
  return new PgBoss({
    db: { executeSql: execute as never },
    schema: 'jobs',
    migrate: false,
    schedule: false,
    supervise,
    maintenanceIntervalSeconds: maintenance_seconds,
    archiveCompletedAfterSeconds: 3600,
    deleteAfterHours: 24,
  });
}

/** Makes the queue's own tables and one queue for each kind of job, where they are missing. */
export async function prepareQueue(connectionString: string): Promise<void> {
  const client = new HostsClient({ connectionString, options: '-c timezone=UTC' });
  await withClient(client, async () => {
    const boss = new PgBoss({
      db: { executeSql: (text, values) => client.query(text, values) },
      schema: 'jobs',
      schedule: false,
      supervise: false,
    });
    boss.on('error', () => undefined);
    await boss.start();
    const options = {
      retryLimit: RETRIES,
      retryDelay: RETRY_SECONDS,
      expireInSeconds: TIMING.expire_seconds,
      retentionMinutes: RETENTION_MINUTES,
    };
    for (const name of TASK_NAMES) await boss.createQueue(name, { name, ...options });
    await client.query(INDEX_TURNS.text);
    await boss.stop({ graceful: false });
  });
}

export interface Queue {
  /** Adds a job in the transaction of `db`: it runs once that commits, and only then. */
  add<Name extends TaskName>(
    db: Pick<Db, 'query'>,
    name: Name,
    payload: Tasks[Name],
  ): Promise<void>;
  /** Adds jobs of one kind in the same way, in one statement. */
  addAll<Name extends TaskName>(
    db: Pick<Db, 'query'>,
    name: Name,
    payloads: readonly Tasks[Name][],
  ): Promise<void>;
}

const senderBoss = library(() => Promise.reject(new Error('a job is added in a transaction')), {
  supervise: false,
});
const plain = (value: unknown) =>
  typeof value === 'object' && value !== null && !(value instanceof Date)
    ? JSON.stringify(value)
    : (value ?? null);

/** Makes the library run its statement in the transaction of `db`. */
const buildTransactionOptions = (db: Pick<Db, 'query'>) => {
  const execute: Execute = async (text, values = []) => ({
    rows: await db.query({ text, values: values.map(plain) }),
  });
  return { db: { executeSql: execute as never } };
};

const notify = (db: Pick<Db, 'query'>, name: TaskName) =>
  db.query(NOTIFY.bind({ channel: CHANNEL, name }));

export const queue: Queue = {
  add: async (db, name, payload) => {
    await senderBoss.send(name, payload, buildTransactionOptions(db));
    await notify(db, name);
  },
  addAll: async (db, name, payloads) => {
    if (payloads.length === 0) return;
    const jobs = payloads.map((data) => ({ name, data }));
    await senderBoss.insert(jobs, buildTransactionOptions(db));
    await notify(db, name);
  },
};

export interface JobContext {
  /** Equal in every run of the job. */
  job_id: string;
  /** Aborted when the process stops or another one has taken over the job: throw soon. */
  signal: AbortSignal;
}

export type Runners = {
  [Name in TaskName]: (payload: Tasks[Name], context: JobContext) => Promise<void>;
};
