import type { Statements } from '../../db/tenant';
import { template } from '../../db/statement';

// When a webhook has something to send. Whoever gives it something to send wakes its queue in the same transaction; the webhook is locked before its queue.

type Queue = Pick<Statements, 'company_id' | 'query'>;

const OPEN = template(
  'INSERT INTO webhook_queues (company_id, outgoing_webhook_id) VALUES ({company_id}, {id}::bigint) RETURNING 1',
  { prepared: false },
);
/** A webhook that is paused is woken when it no longer is. */
const WAKE = template(
  `UPDATE webhook_queues q SET next_due_at = least(q.next_due_at, {now}::timestamptz) FROM outgoing_webhooks w
    WHERE q.company_id = {company_id} AND q.outgoing_webhook_id = {id}::bigint AND w.company_id = q.company_id AND w.id = q.outgoing_webhook_id AND NOT w.paused AND w.deleted_at IS NULL RETURNING 1`,
  { prepared: false },
);
const END = template(
  `UPDATE webhook_queues SET next_due_at = NULL WHERE company_id = {company_id} AND outgoing_webhook_id = {id}::bigint RETURNING 1`,
  {
    prepared: false,
  },
);

/** Makes the queue of a new webhook. */
export async function openQueue(db: Queue, id: bigint): Promise<void> {
  await db.query(OPEN({ company_id: db.company_id, id: String(id) }));
}

/** Has somebody look what a webhook has to send, by then. */
export async function wakeQueue(db: Queue, id: bigint | string, now: Date): Promise<void> {
  await db.query(WAKE({ company_id: db.company_id, id: String(id), now: now.toISOString() }));
}

/** Lets nobody look any more: the webhook is paused or deleted. */
export async function endQueue(db: Queue, id: bigint | string): Promise<void> {
  await db.query(END({ company_id: db.company_id, id: String(id) }));
}
