import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';

/**
 * Inserts deliveries in the order of `n`, and logs those with a fault: they are dead. The queues of
 * the others are woken in the order of their ids, after their webhooks were locked.
 */
export const INSERT_DELIVERIES = statement(
  'webhooks.insert_deliveries',
  sql`
    WITH input AS (
        SELECT *
        FROM json_to_recordset({rows}::json) AS input(
          n int, uuid uuid, log_uuid uuid, outgoing_webhook_id bigint,
          webhook_manual_fire_id bigint, trigger_type text, lead_id bigint, call_id bigint,
          buyer_id bigint, offer_id bigint, request_method text, request_url text,
          request_headers jsonb, shown_headers jsonb, request_body text, fault text
        )
      ),
      inserted AS (
        INSERT INTO webhook_deliveries (
          company_id, uuid, created_at, outgoing_webhook_id, webhook_manual_fire_id, trigger_type,
          lead_id, call_id, buyer_id, offer_id, request_method, request_url, request_headers,
          request_body, status, due_at
        )
        SELECT {company_id}, i.uuid, {now}::timestamptz, i.outgoing_webhook_id,
          i.webhook_manual_fire_id, i.trigger_type, i.lead_id, i.call_id, i.buyer_id, i.offer_id,
          i.request_method, i.request_url, i.request_headers, i.request_body,
          CASE WHEN i.fault IS NULL THEN 'waiting' ELSE 'dead' END,
          CASE WHEN i.fault IS NULL THEN {now}::timestamptz END
        FROM input i
        ORDER BY i.n
        RETURNING id, uuid
      ),
      logged AS (
        INSERT INTO webhook_logs (
          company_id, uuid, created_at, outgoing_webhook_id, webhook_delivery_id,
          webhook_manual_fire_id, trigger_type, event_id, attempt, lead_id, call_id, buyer_id,
          offer_id, request_headers, started_at, duration, success, notes
        )
        SELECT {company_id}, i.log_uuid, {now}::timestamptz, i.outgoing_webhook_id, inserted.id,
          i.webhook_manual_fire_id, i.trigger_type, i.uuid, 0, i.lead_id, i.call_id, i.buyer_id,
          i.offer_id, i.shown_headers, {now}::timestamptz, 0, false, i.fault
        FROM input i
        JOIN inserted ON inserted.uuid = i.uuid
        WHERE i.fault IS NOT NULL
        ORDER BY i.n
        RETURNING company_id
      ),
      counted AS (${countRows('webhook_logs', 'logged')}),
      locked AS (
        SELECT q.outgoing_webhook_id
        FROM webhook_queues q
        WHERE q.company_id = {company_id}
          AND q.outgoing_webhook_id IN (
            SELECT i.outgoing_webhook_id FROM input i WHERE i.fault IS NULL
          )
        ORDER BY q.outgoing_webhook_id
        FOR NO KEY UPDATE
      )
    UPDATE webhook_queues q
    SET next_due_at = least(q.next_due_at, {now}::timestamptz)
    FROM locked, outgoing_webhooks w
    WHERE q.company_id = {company_id} AND q.outgoing_webhook_id = locked.outgoing_webhook_id
      AND w.company_id = q.company_id AND w.id = q.outgoing_webhook_id
      AND NOT w.paused AND w.deleted_at IS NULL
  `,
  { prepared: true },
);

/**
 * The due deliveries of a webhook, in the order of events. Two parts, each with an index of its
 * own: new deliveries in the order of their ids, and failed ones by the time of their next attempt.
 * `unwritten_ids` has the ids whose results are not written yet. `after` skips new deliveries that
 * were sent before: until the next vacuum, the index still contains them.
 */
export const FIND_DUE_DELIVERIES = statement(
  'webhooks.find_due_deliveries',
  sql`
    SELECT d.id::text, d.uuid::text, d.request_method, d.request_url, d.request_headers,
      d.request_body, d.attempts
    FROM (
      (
        SELECT *
        FROM webhook_deliveries d
        WHERE d.company_id = {company_id}::bigint
          AND d.outgoing_webhook_id = {outgoing_webhook_id}::bigint
          AND d.due_at IS NOT NULL AND d.attempts = 0
          AND d.id > {after}::bigint AND d.id <> ALL({unwritten_ids}::bigint[])
        ORDER BY d.id
        LIMIT {max}::int
      )
      UNION ALL
      (
        SELECT *
        FROM webhook_deliveries d
        WHERE d.company_id = {company_id}::bigint
          AND d.outgoing_webhook_id = {outgoing_webhook_id}::bigint
          AND d.due_at IS NOT NULL AND d.attempts > 0
          AND d.due_at <= {now}::timestamptz AND d.id <> ALL({unwritten_ids}::bigint[])
        ORDER BY d.due_at
        LIMIT {max}::int
      )
    ) d
    ORDER BY d.id
    LIMIT {max}::int
  `,
  { prepared: true },
).returning<{ request_headers: Record<string, string> }>();

/**
 * The delivery of a log, with the columns that decide whether it can be sent again. Locks its
 * webhook.
 */
export const FIND_LOGGED_DELIVERY = statement(
  'webhooks.find_logged_delivery',
  sql`
    SELECT l.webhook_delivery_id::text AS delivery_id, l.outgoing_webhook_id::text AS webhook_id,
      w.deleted_at IS NOT NULL AS is_webhook_deleted,
      coalesce(is_sendable(d), false) AS is_sendable
    FROM webhook_logs l
    JOIN outgoing_webhooks w ON w.company_id = l.company_id AND w.id = l.outgoing_webhook_id
    LEFT JOIN webhook_deliveries d ON d.company_id = l.company_id AND d.id = l.webhook_delivery_id
    WHERE l.company_id = {company_id} AND l.id = {id}
    FOR SHARE OF w
  `,
  { prepared: false, nullable: ['delivery_id'] },
);

/** Makes failed deliveries of a locked webhook due (prisma/sql/webhooks/redeliver_failed.sql). */
export const REDELIVER_FAILED = statement(
  'webhooks.redeliver_failed',
  sql`
    SELECT r.redelivered::float8 AS redelivered, r.remaining::float8 AS remaining
    FROM redeliver_failed(
      {company_id}::bigint, {id}::bigint, {from}::timestamptz, {to}::timestamptz,
      {at_most}::bigint, {now}::timestamptz
    ) r
  `,
  { prepared: false },
);
