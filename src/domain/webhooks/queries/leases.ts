import { sql, statement } from '../../../data/sql';

/** The webhook w of a queue q can be sent to. */
const IS_ACTIVE = sql`w.company_id = q.company_id AND w.id = q.outgoing_webhook_id
      AND w.deleted_at IS NULL AND NOT w.paused`;

/**
 * Leases queues that are due and that no other process serves, by turns of companies: first those
 * of the companies of which all processes together serve the fewest, longest due first. This
 * process serves at most `company_max` of each company. `full` are origins that get no more
 * requests for now; `served` are queues of this process, as `company/webhook`.
 */
export const CLAIM_QUEUES = statement(
  'webhooks.claim_queues',
  sql`
    WITH due AS MATERIALIZED (
      SELECT q.company_id, q.outgoing_webhook_id, q.next_due_at,
        own.key IS NOT NULL AS is_own,
        own.key IS NOT NULL
          OR coalesce(
            q.leased_until > {now}::timestamptz AND q.leased_by <> {worker}::uuid, false
          ) AS is_served,
        w.origin <> ALL({full}::text[]) AS is_open
      FROM webhook_queues q
      JOIN outgoing_webhooks w ON ${IS_ACTIVE}
      LEFT JOIN unnest({served}::text[]) AS own (key)
        ON own.key = q.company_id || '/' || q.outgoing_webhook_id
      WHERE q.next_due_at <= {now}::timestamptz
    ),
    turns AS (
      SELECT company_id, outgoing_webhook_id, next_due_at, is_served,
        count(*) FILTER (WHERE is_own) OVER company AS own,
        count(*) FILTER (WHERE is_served) OVER company AS served,
        row_number() OVER (PARTITION BY company_id ORDER BY is_served DESC, next_due_at) AS place
      FROM due
      WHERE is_served OR is_open
      WINDOW company AS (PARTITION BY company_id)
    ),
    chosen AS (
      SELECT company_id, outgoing_webhook_id, place, next_due_at
      FROM turns
      WHERE NOT is_served AND own + place - served <= {company_max}::int
      ORDER BY place, next_due_at
      LIMIT {max}::int
    ),
    claimed AS (
      SELECT q.company_id, q.outgoing_webhook_id
      FROM chosen c
      JOIN webhook_queues q
        ON q.company_id = c.company_id AND q.outgoing_webhook_id = c.outgoing_webhook_id
      WHERE q.next_due_at <= {now}::timestamptz
        AND (
          q.leased_until IS NULL
          OR q.leased_until <= {now}::timestamptz
          OR q.leased_by = {worker}::uuid
        )
      ORDER BY c.place, c.next_due_at
      FOR NO KEY UPDATE OF q SKIP LOCKED
    )
    UPDATE webhook_queues q
    SET leased_by = {worker}::uuid, leased_until = {until}::timestamptz
    FROM claimed c, outgoing_webhooks w
    WHERE q.company_id = c.company_id AND q.outgoing_webhook_id = c.outgoing_webhook_id
      AND ${IS_ACTIVE}
    RETURNING q.company_id::text, q.outgoing_webhook_id::text, w.uuid::text, w.origin,
      w.secret_version, w.secret_rotated_at, w.timeout_seconds, w.success_codes, w.retries,
      w.maker_user_id::text, w.maker_team_ids::text[] AS maker_team_ids
  `,
  { prepared: true, nullable: ['maker_user_id'] },
).returning<{
  company_id: string;
  outgoing_webhook_id: string;
  uuid: string;
  origin: string;
  secret_version: number;
  timeout_seconds: number;
  success_codes: number[];
  retries: number;
  maker_team_ids: string[];
}>();

/** Returns the queues whose lease continues: not those that were taken over, paused or deleted. */
export const RENEW_LEASES = statement(
  'webhooks.renew_leases',
  sql`
    UPDATE webhook_queues q
    SET leased_until = {until}::timestamptz
    FROM outgoing_webhooks w,
      unnest({company_ids}::bigint[], {outgoing_webhook_ids}::bigint[])
        AS leased(company_id, outgoing_webhook_id)
    WHERE q.company_id = leased.company_id
      AND q.outgoing_webhook_id = leased.outgoing_webhook_id
      AND q.leased_by = {worker}::uuid
      AND ${IS_ACTIVE}
    RETURNING q.company_id::text, q.outgoing_webhook_id::text
  `,
  { prepared: true },
);

export const LOCK_LEASED_QUEUE = statement(
  'webhooks.lock_leased_queue',
  sql`
    SELECT FROM webhook_queues
    WHERE company_id = {company_id}::bigint
      AND outgoing_webhook_id = {outgoing_webhook_id}::bigint
      AND leased_by = {worker}::uuid
    FOR NO KEY UPDATE
  `,
  { prepared: true },
);

export const RELEASE_QUEUE = statement(
  'webhooks.release_queue',
  sql`
    UPDATE webhook_queues q
    SET leased_by = NULL, leased_until = NULL,
      next_due_at = CASE
        WHEN NOT EXISTS (SELECT FROM outgoing_webhooks w WHERE ${IS_ACTIVE}) THEN NULL
        WHEN EXISTS (
          SELECT FROM webhook_deliveries d
          WHERE d.company_id = {company_id}::bigint
            AND d.outgoing_webhook_id = {outgoing_webhook_id}::bigint
            AND d.due_at IS NOT NULL AND d.attempts = 0
        ) THEN {now}::timestamptz
        ELSE (
          SELECT min(d.due_at)
          FROM webhook_deliveries d
          WHERE d.company_id = {company_id}::bigint
            AND d.outgoing_webhook_id = {outgoing_webhook_id}::bigint
            AND d.due_at IS NOT NULL AND d.attempts > 0
        )
      END
    WHERE q.company_id = {company_id}::bigint
      AND q.outgoing_webhook_id = {outgoing_webhook_id}::bigint
  `,
  { prepared: true },
);
