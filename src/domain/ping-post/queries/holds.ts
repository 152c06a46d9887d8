import { sql, statement } from '../../../data/sql';

/** Locks, until the end of the transaction, the holds that `whose` names at an endpoint. */
export const LOCK_HOLDS = statement(
  'ping_post.lock_holds',
  sql`
    SELECT
      pg_advisory_xact_lock(
        hashtextextended(
          'holds of ' || {company_id}::bigint || '/' || {inbound_webhook_id}::bigint || '/'
            || {whose}::text,
          0
        )
      )::text AS locked
  `,
  { prepared: true },
);

/** A statement of its own: it must see what the earlier holders of the lock have committed. */
export const COUNT_OPEN_HOLDS = statement(
  'ping_post.count_open_holds',
  sql`
    SELECT
      a.of_address, c.of_caller, least(a.next_end, c.next_end) AS next_end,
      current_setting('max_connections')::int AS under_way
    FROM (
      SELECT count(*)::int AS of_address, min(h.expires_at) AS next_end
      FROM call_holds h
      WHERE h.company_id = {company_id} AND h.inbound_webhook_id = {inbound_webhook_id}::bigint
        AND h.remote_ip = {remote_ip} AND h.expires_at > {now}::timestamptz
        AND h.ping_id IS DISTINCT FROM {replaces}::bigint
    ) a
    CROSS JOIN (
      SELECT count(*)::int AS of_caller, min(h.expires_at) AS next_end
      FROM call_holds h
      WHERE h.company_id = {company_id} AND h.inbound_webhook_id = {inbound_webhook_id}::bigint
        AND h.caller_number = {caller_number}::bigint AND h.expires_at > {now}::timestamptz
        AND h.ping_id IS DISTINCT FROM {replaces}::bigint
    ) c
  `,
  { prepared: true, nullable: ['next_end'] },
);
