import { Client } from 'pg';
import type { Logger } from 'pino';
import PgBoss from 'pg-boss';
import type { Database } from '../db/client';
import { bell, listen, type Bell } from '../db/notifications';
import type { Db } from '../db/tenant';
import { TASK_NAMES, TASKS, type TaskName, type Tasks } from './tasks';

// The only file that knows the queue library. Jobs are rows in PostgreSQL: they are added in the transaction of what they are about, a process
// that dies loses none, and every job may run twice.

export interface Timing {
  /** A job whose process has given no sign for so long is run again by another. With the time between looks: within 20 s. */
  expire_seconds: number;
  heartbeat_ms: number;
  /** Between two looks for expired jobs. */
  maintenance_seconds: number;
  /** How long a job may wait where a notification got lost. */
  poll_ms: number;
}

const TIMING: Timing = {
  expire_seconds: 12,
  heartbeat_ms: 3_000,
  maintenance_seconds: 3,
  poll_ms: 2_000,
};
const RETRY_SECONDS = 2;
/** In practice for ever: a workflow decides itself when to give up. */
const RETRIES = 1_000_000;
const RETENTION_MINUTES = 365 * 24 * 60;
const CHANNEL = 'trunkline_jobs';

type Execute = (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>;

/** The library reads and writes through our pool; with `supervise` it also looks for expired jobs. */
function library(
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

/** Makes the queue's own tables and one queue for each kind of job; does nothing where they are there. */
export async function prepareQueue(connectionString: string): Promise<void> {
  const client = new Client({ connectionString, options: '-c timezone=UTC' });
  await client.connect();
  try {
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
    await boss.stop({ graceful: false });
  } finally {
    await client.end();
  }
}

export interface Queue {
  /** Adds a job in the transaction of `db`: it runs when that commits, and not at all when it does not. */
  add<Name extends TaskName>(
    db: Pick<Db, 'query'>,
    name: Name,
    payload: Tasks[Name],
  ): Promise<void>;
}

const silent = library(() => Promise.reject(new Error('a job is added in a transaction')), {
  supervise: false,
});
const plain = (value: unknown) =>
  typeof value === 'object' && value !== null && !(value instanceof Date)
    ? JSON.stringify(value)
    : (value ?? null);

export const queue: Queue = {
  add: async (db, name, payload) => {
    const execute: Execute = async (text, values = []) => ({
      rows: await db.query({ text, values: values.map(plain) }),
    });
    await silent.send(name, payload, { db: { executeSql: execute as never } });
    await db.query({ text: 'SELECT pg_notify($1, $2)::text', values: [CHANNEL, name] });
  },
};

export interface JobContext {
  /** The same in every run of the job. */
  job_id: string;
  /** Aborted when the process stops or another has taken the job over: end soon, by throwing. */
  signal: AbortSignal;
}

export type Runners = {
  [Name in TaskName]: (payload: Tasks[Name], context: JobContext) => Promise<void>;
};

export interface Workers {
  /** Lets no further job begin, tells those that run to end, and waits for them. */
  stop(): Promise<void>;
}

interface Job {
  id: string;
  data: unknown;
  /** Which run of the job this is: another process that takes it over has a higher one. */
  retryCount: number;
}

interface WorkersOptions {
  database: Database;
  log: Logger;
  runners: Runners;
  timing?: Timing;
}

export async function startWorkers({
  database,
  log,
  runners,
  timing = TIMING,
}: WorkersOptions): Promise<Workers> {
  const boss = library((text, values) => database.pool.query(text, values), {
    supervise: true,
    maintenance_seconds: timing.maintenance_seconds,
  });
  boss.on('error', (error) => log.warn({ err: error }, 'the job queue'));
  await boss.start();
  const stopping = new AbortController();
  const bells = new Map(TASK_NAMES.map((name) => [name, bell()]));
  const listener = listen({
    url: database.url,
    channel: CHANNEL,
    heard: (name) => bells.get(name as TaskName)?.ring(),
    stopping: stopping.signal,
  });
  const loops = TASK_NAMES.map((name) => {
    const runner = runners[name] as (payload: unknown, context: JobContext) => Promise<void>;
    return loop({
      boss,
      database,
      log,
      name,
      runner,
      timing,
      bell: bells.get(name)!,
      stopping: stopping.signal,
    });
  });
  return {
    stop: async () => {
      stopping.abort();
      bells.forEach(({ ring }) => ring());
      await Promise.all(loops);
      await listener;
      await boss.stop({ graceful: false });
    },
  };
}

interface Loop {
  boss: PgBoss;
  database: Database;
  log: Logger;
  name: TaskName;
  runner: (payload: unknown, context: JobContext) => Promise<void>;
  timing: Timing;
  bell: Bell;
  stopping: AbortSignal;
}

async function loop(context: Loop): Promise<void> {
  const { boss, name, bell, stopping, timing } = context;
  const { concurrency } = TASKS[name];
  const running = new Set<Promise<void>>();
  while (!stopping.aborted) {
    const free = concurrency - running.size;
    const jobs: Job[] =
      free > 0 ? await boss.fetch(name, { batchSize: free, includeMetadata: true }) : [];
    for (const job of jobs) {
      const work = run(context, job).finally(() => {
        running.delete(work);
        bell.ring();
      });
      running.add(work);
    }
    if (jobs.length < free || free === 0) await bell.rung(timing.poll_ms);
  }
  await Promise.all(running);
}

/** Runs one job under a heartbeat; what it throws is logged, and the job runs again. */
async function run(context: Loop, job: Job): Promise<void> {
  const { id, data } = job;
  const { boss, log, name, runner, stopping, timing } = context;
  const taken_over = new AbortController();
  // While the database is away there is nobody to take the job over.
  const beat = () =>
    void stillMine(context, job).then(
      (mine) => mine || taken_over.abort(),
      () => undefined,
    );
  beat();
  const heartbeat = setInterval(beat, timing.heartbeat_ms);
  try {
    await runner(data, { job_id: id, signal: AbortSignal.any([stopping, taken_over.signal]) });
    // A run that stood still so long that another took the job over must not end that one's job.
    if (await stillMine(context, job)) await boss.complete(name, id);
  } catch (error) {
    if (!stopping.aborted && !taken_over.signal.aborted)
      log.warn({ err: error, job: name, job_id: id }, 'a job failed and will run again');
    // A database that is away cannot be told: the job expires, and runs again then.
    const mine = !taken_over.signal.aborted && (await stillMine(context, job).catch(() => false));
    if (mine) await boss.fail(name, id).catch(() => undefined);
  } finally {
    clearInterval(heartbeat);
  }
}

/** Puts off the job's expiry; false when it is over, or another run of it has begun. */
async function stillMine(
  { database, name, timing }: Loop,
  { id, retryCount }: Job,
): Promise<boolean> {
  const text = `UPDATE jobs.job SET started_on = now(), expire_in = $3 * interval '1 second' WHERE name = $1 AND id = $2 AND state = 'active' AND retry_count = $4`;
  const { rowCount } = await database.pool.query(text, [
    name,
    id,
    timing.expire_seconds,
    retryCount,
  ]);
  return rowCount === 1;
}
