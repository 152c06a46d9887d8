import type { Statements } from '../../data/db';
import { CLOSE_QUEUE, OPEN_QUEUE, WAKE_QUEUE } from './queries/queues';

// A queue stores when its webhook has something to send. Code that adds a delivery wakes the queue
// in the same transaction. The webhook is locked before its queue.

type Queue = Pick<Statements, 'sql'>;

export async function openQueue(db: Queue, id: bigint): Promise<void> {
  await db.sql(OPEN_QUEUE, { id });
}

/** Makes the queue due at a time, unless it is due earlier. */
export async function wakeQueue(db: Queue, id: bigint | string, now: Date): Promise<void> {
  await db.sql(WAKE_QUEUE, { id, now: now.toISOString() });
}

export async function closeQueue(db: Queue, id: bigint | string): Promise<void> {
  await db.sql(CLOSE_QUEUE, { id });
}
