import { sql, statement } from '../../db/sql';

export const OPEN_QUEUE = statement(
  'webhooks.open_queue',
  sql`
    INSERT INTO webhook_queues (company_id, outgoing_webhook_id)
    VALUES ({company_id}, {id}::bigint)
  `,
  { prepared: false },
);

/** A paused webhook is not woken: it is when it is unpaused. */
export const WAKE_QUEUE = statement(
  'webhooks.wake_queue',
  sql`
    UPDATE webhook_queues q
    SET next_due_at = least(q.next_due_at, {now}::timestamptz)
    FROM outgoing_webhooks w
    WHERE q.company_id = {company_id} AND q.outgoing_webhook_id = {id}::bigint
      AND w.company_id = q.company_id AND w.id = q.outgoing_webhook_id
      AND NOT w.paused AND w.deleted_at IS NULL
  `,
  { prepared: false },
);

export const CLOSE_QUEUE = statement(
  'webhooks.close_queue',
  sql`
    UPDATE webhook_queues
    SET next_due_at = NULL
    WHERE company_id = {company_id} AND outgoing_webhook_id = {id}::bigint
  `,
  { prepared: false },
);
