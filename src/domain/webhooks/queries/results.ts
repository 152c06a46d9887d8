import { countRows } from '../../../data/counts/counters';
import { sql, statement } from '../../../data/sql';

/**
 * Writes the results of attempts, for the webhooks that this process still leases, and returns
 * them. Deliveries are updated, and attempts are logged; attempts of webhooks that were fired by
 * hand for a lead also in the log of the lead.
 */
export const WRITE_RESULTS = statement(
  'webhooks.write_results',
  sql`
    WITH input AS MATERIALIZED (
        SELECT *
        FROM json_to_recordset({rows}::json) AS input(
          n int, company_id bigint, outgoing_webhook_id bigint, delivery_id bigint, uuid uuid,
          attempt int, started_at timestamptz, duration int, code int, success boolean, notes text,
          request_headers jsonb, response_headers jsonb, response_body text, status text,
          due_at timestamptz
        )
      ),
      leased AS MATERIALIZED (
        SELECT q.company_id, q.outgoing_webhook_id
        FROM webhook_queues q
        WHERE (q.company_id, q.outgoing_webhook_id) IN (
            SELECT i.company_id, i.outgoing_webhook_id FROM input i
          )
          AND q.leased_by = {worker}::uuid
        ORDER BY q.company_id, q.outgoing_webhook_id
        FOR NO KEY UPDATE
      ),
      results AS MATERIALIZED (
        SELECT input.*, d.webhook_manual_fire_id, d.trigger_type, d.uuid AS event_id, d.lead_id,
          d.call_id, d.buyer_id, d.offer_id,
          CASE
            WHEN d.webhook_manual_fire_id IS NOT NULL AND d.lead_id IS NOT NULL
            THEN nextval('lead_logs_id_seq')
          END AS lead_log_id
        FROM input
        JOIN leased USING (company_id, outgoing_webhook_id)
        JOIN webhook_deliveries d ON d.company_id = input.company_id AND d.id = input.delivery_id
      ),
      updated AS (
        UPDATE webhook_deliveries d
        SET status = r.status, attempts = r.attempt, due_at = r.due_at
        FROM results r
        WHERE d.company_id = r.company_id AND d.id = r.delivery_id
      ),
      logged AS (
        INSERT INTO webhook_logs (
          company_id, uuid, created_at, outgoing_webhook_id, webhook_delivery_id,
          webhook_manual_fire_id, lead_log_id, trigger_type, event_id, attempt, lead_id, call_id,
          buyer_id, offer_id, request_headers, code, response_headers, response_body, started_at,
          duration, success, notes
        )
        SELECT r.company_id, r.uuid, r.started_at, r.outgoing_webhook_id, r.delivery_id,
          r.webhook_manual_fire_id, r.lead_log_id, r.trigger_type, r.event_id, r.attempt,
          r.lead_id, r.call_id, r.buyer_id, r.offer_id, r.request_headers, r.code,
          r.response_headers, r.response_body, r.started_at, r.duration, r.success, r.notes
        FROM results r
        ORDER BY r.n
      ),
      logged_for_leads AS (
        INSERT INTO lead_logs (
          company_id, id, created_at, lead_id, event, message, call_id, details
        )
        SELECT r.company_id, r.lead_log_id, r.started_at, r.lead_id,
          CASE WHEN r.success THEN 'webhook_delivered' ELSE 'webhook_failed' END,
          coalesce(r.notes, 'answered ' || r.code), r.call_id,
          jsonb_build_object(
            'outgoing_webhook_id', r.outgoing_webhook_id,
            'webhook_manual_fire_id', r.webhook_manual_fire_id,
            'attempt', r.attempt,
            'code', r.code
          )
        FROM results r
        WHERE r.lead_log_id IS NOT NULL
        ORDER BY r.n
      ),
      counted AS (${countRows('webhook_logs', 'results')})
    SELECT r.company_id::text, r.outgoing_webhook_id::text, r.delivery_id::text, r.status
    FROM results r
  `,
  { prepared: true },
).returning<{ status: 'waiting' | 'delivered' | 'dead' }>();

/** Returns a row if the webhook has a confirmed address, which had no alert in the last hour. */
export const CLAIM_ALERT = statement(
  'webhooks.claim_alert',
  sql`
    UPDATE webhook_queues q
    SET alerted_at = {now}::timestamptz
    FROM outgoing_webhooks w
    JOIN mail_addresses a
      ON a.company_id = w.company_id AND a.email = lower(w.alert_email)
      AND a.confirmed_at IS NOT NULL
    WHERE q.company_id = {company_id}::bigint
      AND q.outgoing_webhook_id = {outgoing_webhook_id}::bigint
      AND w.company_id = q.company_id AND w.id = q.outgoing_webhook_id
      AND (q.alerted_at IS NULL OR q.alerted_at < {now}::timestamptz - interval '1 hour')
    RETURNING q.alerted_at
  `,
  { prepared: true },
);
