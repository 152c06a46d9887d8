import { lockRecord, type Reference } from '../db/records';
import type { Db } from '../db/tenant';
import { wakeQueue } from './queries/queues';
import { HttpProblem } from '../errors';

interface Logged {
  delivery_id: string | null;
  webhook_id: string;
  gone: boolean;
  sendable: boolean;
}

/** Has what a log is about delivered once more, and answers the id of the log. Refuses with 404 and 422. */
export async function redeliver(db: Db, reference: Reference, now: Date): Promise<bigint> {
  const { id } = await lockRecord(db, 'webhook_logs', reference);
  const [log] = await db.query<Logged>({
    text: `SELECT l.webhook_delivery_id::text AS delivery_id, l.outgoing_webhook_id::text AS webhook_id, w.deleted_at IS NOT NULL AS gone,
        coalesce(d.request_body IS NOT NULL OR d.request_method IN ('GET', 'DELETE'), false) AS sendable
      FROM webhook_logs l JOIN outgoing_webhooks w ON w.company_id = l.company_id AND w.id = l.outgoing_webhook_id
        LEFT JOIN webhook_deliveries d ON d.company_id = l.company_id AND d.id = l.webhook_delivery_id
      WHERE l.company_id = $1 AND l.id = $2 FOR SHARE OF w`,
    values: [db.company_id, id],
  });
  const { delivery_id, webhook_id, gone, sendable } = log!;
  const refuse = (why: string) => HttpProblem.field('id', why);
  if (gone) throw refuse('is of a webhook that is deleted: there is nobody to deliver to');
  if (delivery_id === null)
    throw refuse('is of a question before a buyer was dialed, which is asked once');
  if (!sendable)
    throw refuse(
      'is of an event whose body was larger than 20 kB: nothing of it is there to be sent',
    );
  await db.query({
    text: `UPDATE webhook_deliveries SET status = 'waiting', attempts = 0, due_at = $3::timestamptz WHERE company_id = $1 AND id = $2::bigint RETURNING 1`,
    values: [db.company_id, delivery_id, now.toISOString()],
  });
  await wakeQueue(db, webhook_id, now);
  return id;
}
