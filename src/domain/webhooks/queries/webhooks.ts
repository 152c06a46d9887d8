import { sql, statement } from '../../../data/sql';

const COLUMNS = sql`w.id::text, w.owner_type, w.owner_id::text, w.trigger_type, w.url, w.method,
      w.headers, w.body, w.token_filters, w.maker_user_id::text,
      w.maker_team_ids::text[] AS maker_team_ids`;

interface WebhookJsonColumns {
  headers: Record<string, string>;
  token_filters: string[];
  maker_team_ids: string[];
}

/** The webhooks that receive these kinds of events, locked against being paused or deleted. */
export const LOCK_ACTIVE_WEBHOOKS = statement(
  'webhooks.lock_active_webhooks',
  sql`
    SELECT ${COLUMNS}
    FROM outgoing_webhooks w
    WHERE w.company_id = {company_id} AND w.trigger_type = ANY({kinds}::text[])
      AND w.deleted_at IS NULL AND NOT w.paused
    ORDER BY w.id
    FOR SHARE
  `,
  { prepared: true, nullable: ['owner_id', 'maker_user_id'] },
).returning<WebhookJsonColumns>();

export const LOCK_WEBHOOK = statement(
  'webhooks.lock_webhook',
  sql`
    SELECT ${COLUMNS}, w.name
    FROM outgoing_webhooks w
    WHERE w.company_id = {company_id} AND w.id = {id}::bigint AND w.deleted_at IS NULL
    FOR SHARE
  `,
  { prepared: false, nullable: ['owner_id', 'maker_user_id'] },
).returning<WebhookJsonColumns>();

/** Returns no row if the webhook is paused already, or deleted. */
export const PAUSE_WEBHOOK = statement(
  'webhooks.pause_webhook',
  sql`
    UPDATE outgoing_webhooks
    SET paused = true, paused_reason = {reason}, updated_at = {now}::timestamptz
    WHERE company_id = {company_id} AND id = {id} AND NOT paused AND deleted_at IS NULL
    RETURNING id::text
  `,
  { prepared: false },
);

export const FIND_WEBHOOK_TO_ALERT = statement(
  'webhooks.find_webhook_to_alert',
  sql`
    SELECT w.name, w.url, w.alert_email
    FROM outgoing_webhooks w
    JOIN mail_addresses a
      ON a.company_id = w.company_id AND a.email = lower(w.alert_email)
      AND a.confirmed_at IS NOT NULL
    WHERE w.company_id = {company_id} AND w.id = {id} AND w.deleted_at IS NULL
  `,
  { prepared: false },
).returning<{ alert_email: string }>();

export const LOCK_BUYERS = statement(
  'webhooks.lock_buyers',
  sql`
    SELECT id
    FROM buyers
    WHERE company_id = {company_id} AND id = ANY({ids}::bigint[])
    ORDER BY id
    FOR UPDATE
  `,
  { prepared: false },
);

export const COUNT_WEBHOOKS_OF_BUYERS = statement(
  'webhooks.count_webhooks_of_buyers',
  sql`
    UPDATE buyers b
    SET outgoing_webhooks_count = (
        SELECT count(*)
        FROM outgoing_webhooks w
        WHERE w.company_id = b.company_id AND w.owner_type = 'Buyer' AND w.owner_id = b.id
          AND w.deleted_at IS NULL
      )
    WHERE b.company_id = {company_id} AND b.id = ANY({ids}::bigint[])
  `,
  { prepared: false },
);
