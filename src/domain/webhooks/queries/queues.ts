import { sql, statement } from '../../../data/sql';

/** A paused webhook is not woken: that is done when it is unpaused. */
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

/**
 * Webhooks that have something to send now, and since when the oldest delivery is due. A queue that
 * is served all the time keeps its time, so that the deliveries are read: two rows for each queue,
 * by their indexes.
 */
export const MEASURE_QUEUES = statement(
  'webhooks.measure_queues',
  sql`
    SELECT count(*)::int AS queues, min(least(first.due_at, again.due_at)) AS oldest
    FROM webhook_queues q
    LEFT JOIN LATERAL (
      SELECT d.due_at
      FROM webhook_deliveries d
      WHERE d.company_id = q.company_id AND d.outgoing_webhook_id = q.outgoing_webhook_id
        AND d.due_at IS NOT NULL AND d.attempts = 0
      ORDER BY d.id
      LIMIT 1
    ) first ON true
    LEFT JOIN LATERAL (
      SELECT d.due_at
      FROM webhook_deliveries d
      WHERE d.company_id = q.company_id AND d.outgoing_webhook_id = q.outgoing_webhook_id
        AND d.due_at IS NOT NULL AND d.attempts > 0
      ORDER BY d.due_at
      LIMIT 1
    ) again ON true
    WHERE q.next_due_at <= {now}::timestamptz
      AND least(first.due_at, again.due_at) <= {now}::timestamptz
  `,
  { prepared: false, nullable: ['oldest'] },
);
