import { lockRecord, type Reference } from '../../data/records';
import type { Db } from '../../data/tenant';
import { HttpProblem } from '../../platform/errors';
import { FIND_LOGGED_DELIVERY, RESTART_DELIVERY } from './queries/deliveries';
import { wakeQueue } from './queues';

/**
 * Sends the delivery of a log again, and returns the id of the log. Throws a 404 problem for an
 * unknown log, and a 422 problem for a delivery that cannot be sent.
 */
export async function redeliver(db: Db, reference: Reference, now: Date): Promise<bigint> {
  const { id } = await lockRecord(db, 'webhook_logs', reference);
  const [log] = await db.sql(FIND_LOGGED_DELIVERY, { id });
  const { delivery_id, webhook_id, is_webhook_deleted, is_sendable } = log!;
  const problem = (why: string) => HttpProblem.field('id', 'wrong_state', why);
  if (is_webhook_deleted) throw problem('is of a webhook that is deleted');
  if (delivery_id === null) throw problem('is of a pre-dial request, which is sent only once');
  if (!is_sendable)
    throw problem('is of an event whose body was larger than 20 kB: it was not stored');
  await db.sql(RESTART_DELIVERY, { id: delivery_id, now: now.toISOString() });
  await wakeQueue(db, webhook_id!, now);
  return id;
}
