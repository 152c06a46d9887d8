import type { Db, Statements } from '../../data/db';
import { CLOSE_QUEUE, WAKE_QUEUE } from './queries/queues';

// A queue stores when its webhook has something to send. Code that adds a delivery wakes the queue
// in the same transaction. The webhook is locked before its queue.

type Queue = Pick<Statements, 'sql'>;

export async function openQueue({ prisma, company_id }: Db, id: bigint): Promise<void> {
  await prisma.webhookQueue.create({ data: { company_id, outgoing_webhook_id: id } });
}

/** Makes the queue due at a time, unless it is due earlier. */
export async function wakeQueue(db: Queue, id: bigint | string, now: Date): Promise<void> {
  await db.sql(WAKE_QUEUE, { id, now: now.toISOString() });
}

export async function closeQueue(db: Queue, id: bigint | string): Promise<void> {
  await db.sql(CLOSE_QUEUE, { id });
}
