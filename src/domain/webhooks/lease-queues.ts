import type { Pool } from 'pg';
import type { Maker } from '../../data/access/makers';
import { sqlOn, type Sql } from '../../data/sql';
import { runInTransaction } from '../../data/transaction';
import { CLAIM_QUEUES, LOCK_LEASED_QUEUE, RELEASE_QUEUE, RENEW_LEASES } from './queries/leases';

// A process leases the queues that it serves. A process that has lost a lease writes no results.

/** A webhook whose deliveries this process sends until the lease ends. */
export interface Lease extends Maker {
  company_id: string;
  outgoing_webhook_id: string;
  uuid: string;
  origin: string;
  secret_version: number;
  secret_rotated_at: Date | null;
  timeout_seconds: number;
  success_codes: number[];
  retries: number;
}

export type LeasedQueue = Pick<Lease, 'company_id' | 'outgoing_webhook_id'>;

export const queueKey = ({ company_id, outgoing_webhook_id }: LeasedQueue): string =>
  `${company_id}/${outgoing_webhook_id}`;

interface Claim {
  worker: string;
  now: Date;
  until: Date;
  /** Origins that get no more requests for now. */
  full: readonly string[];
  served: readonly string[];
  max: number;
  company_max: number;
}

/** Leases queues that are due, by turns of companies. */
export const claimQueues = (sql: Sql, { now, until, full, served, ...rest }: Claim) =>
  sql(CLAIM_QUEUES, {
    ...rest,
    full: [...full],
    served: [...served],
    now: now.toISOString(),
    until: until.toISOString(),
  });

/** Extends leases, and returns the keys of those that were not taken over, paused or deleted. */
export async function renewLeases(
  sql: Sql,
  leases: readonly LeasedQueue[],
  { worker, until }: Pick<Claim, 'worker' | 'until'>,
): Promise<Set<string>> {
  const renewed = await sql(RENEW_LEASES, {
    worker,
    until: until.toISOString(),
    company_ids: leases.map(({ company_id }) => company_id),
    outgoing_webhook_ids: leases.map(({ outgoing_webhook_id }) => outgoing_webhook_id),
  });
  return new Set(renewed.map(queueKey));
}

/**
 * Ends the lease of a queue, and sets the time at which it is due next. Two statements, so that the
 * second one sees the deliveries of transactions that held the lock.
 */
export async function releaseQueue(
  pool: Pool,
  { company_id, outgoing_webhook_id }: LeasedQueue,
  { worker, now }: { worker: string; now: Date },
): Promise<void> {
  await runInTransaction(pool, async (client) => {
    const sql = sqlOn(client);
    const locked = await sql(LOCK_LEASED_QUEUE, { company_id, outgoing_webhook_id, worker });
    if (locked.length > 0)
      await sql(RELEASE_QUEUE, { company_id, outgoing_webhook_id, now: now.toISOString() });
  });
}
