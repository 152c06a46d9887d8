import type { Db } from '../db';
import { HostsClient } from '../postgres/hosts-client';
import { withClient } from '../postgres/with-client';
import { ADD_JOBS, CREATE_QUEUE } from './queries/job';
import type { TaskName, Tasks } from './tasks';

// Jobs are rows in PostgreSQL: they are added in the transaction of the records that they are
// about, none is lost when a process dies, and every job may run twice.

export interface Timing {
  /** A job without a heartbeat for this long is run again by another process. */
  expire_seconds: number;
  heartbeat_ms: number;
  /** A job that has failed is run again after this time: each kind decides when to give up. */
  retry_seconds: number;
  /** Time between two looks for jobs whose notification was lost, or whose run has expired. */
  poll_ms: number;
}

export const TIMING: Timing = {
  expire_seconds: 12,
  heartbeat_ms: 3_000,
  retry_seconds: 2,
  poll_ms: 2_000,
};
export const CHANNEL = 'trunkline_jobs';

/** Makes the queue where it is missing. */
export async function prepareQueue(connectionString: string): Promise<void> {
  const client = new HostsClient({ connectionString, options: '-c timezone=UTC' });
  await withClient(client, () => client.query(CREATE_QUEUE));
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

async function addAll(db: Pick<Db, 'query'>, name: TaskName, payloads: readonly unknown[]) {
  if (payloads.length === 0) return;
  await db.query(ADD_JOBS.bind({ channel: CHANNEL, name, payloads: JSON.stringify(payloads) }));
}

export const queue: Queue = {
  add: (db, name, payload) => addAll(db, name, [payload]),
  addAll,
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
