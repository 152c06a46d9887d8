import { sql, statement } from '../../../data/sql';
import type { PayoutTerms } from '../../money/engine/payout';

export const READ_ENDPOINT = statement(
  'ping_post.read_endpoint',
  sql`
    SELECT
      w.id::float8 AS id, w.offer_id::float8 AS offer_id,
      w.traffic_source_id::float8 AS traffic_source_id, w.hold_seconds, w.max_open_holds,
      w.show_buyer_names,
      w.paused OR w.maker_user_id IS NOT NULL AND NOT maker_has_offer(
        w.company_id, w.maker_user_id, w.maker_team_ids,
        '{inbound_webhooks:create,inbound_webhooks:update}', w.offer_id
      ) AS paused,
      w.maker_user_id::text, w.maker_team_ids::text[] AS maker_team_ids
    FROM inbound_webhooks w
    WHERE w.company_id = {company_id} AND w.id = {id}::bigint AND w.deleted_at IS NULL`,
  { prepared: true, nullable: ['traffic_source_id', 'maker_user_id'] },
).returning<{ paused: boolean; show_buyer_names: boolean; maker_team_ids: string[] }>();

export const INSERT_PING = statement(
  'ping_post.insert_ping',
  sql`
    INSERT INTO pings (
      company_id, uuid, created_at, inbound_webhook_id, offer_id, caller_number,
      traffic_source_id, sub_id, token_values, buyer_ids, expires_at, answer
    )
    VALUES (
      {company_id}, {uuid}::uuid, {now}::timestamptz, {inbound_webhook_id}::bigint,
      {offer_id}::bigint, {caller_number}::bigint, {traffic_source_id}::bigint, {sub_id},
      {token_values}::jsonb, {buyer_ids}::bigint[], {expires_at}::timestamptz, {answer}::jsonb
    )
    RETURNING id::text AS id`,
  { prepared: true },
);

export const LOCK_PING = statement(
  'ping_post.lock_ping',
  sql`
    SELECT
      p.id::text AS id, p.uuid::text AS uuid, p.offer_id::float8 AS offer_id,
      p.caller_number::float8 AS caller_number,
      p.traffic_source_id::float8 AS traffic_source_id, p.sub_id, p.token_values,
      p.buyer_ids::float8[] AS buyer_ids, p.expires_at, p.answer,
      (
        SELECT c.uuid::text FROM calls c WHERE c.company_id = p.company_id AND c.id = p.call_id
      ) AS call_uuid
    FROM pings p
    WHERE p.company_id = {company_id}
      AND p.uuid = {uuid}::uuid
      AND p.inbound_webhook_id = {inbound_webhook_id}::bigint
    FOR UPDATE OF p`,
  { prepared: true, nullable: ['traffic_source_id', 'call_uuid'] },
);

export const SAVE_ANSWER = statement(
  'ping_post.save_answer',
  sql`
    UPDATE pings
    SET
      answer = {answer}::jsonb,
      call_id = NULL,
      token_values = token_values || {tokens}::jsonb,
      sub_id = coalesce({sub_id}, sub_id)
    WHERE company_id = {company_id} AND id = {id}::bigint`,
  { prepared: true },
);

export const LOAD_BIDS = statement(
  'ping_post.load_bids',
  sql`
    SELECT
      b.id::float8 AS buyer_id, b.user_buyer_id, b.name,
      coalesce(kept.number, b.number) AS number,
      coalesce(kept.amount, conversion.revenue)::float8 AS revenue,
      CASE
        WHEN kept.amount IS NOT NULL THEN kept.duration
        WHEN conversion.conversion_type = 'duration' THEN conversion.duration
      END AS duration,
      kept.expires_at,
      coalesce(
        (
          SELECT o.payouts
          FROM offers o
          WHERE o.company_id = {company_id} AND o.id = {offer_id}::bigint
        ),
        '[]'
      ) AS payouts,
      coalesce(
        (
          SELECT s.payouts
          FROM traffic_sources s
          WHERE s.company_id = {company_id} AND s.id = {traffic_source_id}::bigint
        ),
        '[]'
      ) AS source_payouts
    FROM buyers b
    JOIN call_limits l ON l.company_id = b.company_id AND l.buyer_id = b.id
    LEFT JOIN LATERAL (
      SELECT c.*
      FROM buyer_conversions c
      WHERE c.company_id = b.company_id
        AND c.buyer_id = b.id
        AND is_open(c.open_minutes, local_minute_of_week({now}::timestamptz, l.zone))
      ORDER BY c.time_frame, c.position
      LIMIT 1
    ) conversion ON true
    LEFT JOIN LATERAL (
      SELECT k.*
      FROM bids k
      WHERE b.buyer_type = 'rtb' AND k.company_id = {company_id}
        AND k.caller_number = {caller_number}::bigint AND k.offer_id = {offer_id}::bigint
        AND k.buyer_id = b.id AND k.expires_at > {now}::timestamptz
      OFFSET 0
    ) kept ON true
    WHERE b.company_id = {company_id} AND b.id = ANY({buyer_ids}::bigint[])`,
  { prepared: true, nullable: ['number', 'revenue', 'duration', 'expires_at'] },
).returning<{ payouts: PayoutTerms[]; source_payouts: PayoutTerms[] }>();

/** A number of the offer, the traffic source's own first; else one that belongs to no offer. */
export const FIND_FORWARDING_NUMBER = statement(
  'ping_post.find_forwarding_number',
  sql`
    SELECT
      coalesce(
        (
          SELECT '+' || n.phone_number
          FROM numbers n
          WHERE n.company_id = {company_id}
            AND n.deleted_at IS NULL
            AND n.forward_type = 'offer_id'
            AND n.offer_id = {offer_id}::bigint
          ORDER BY
            (n.traffic_source_id IS NOT DISTINCT FROM {traffic_source_id}::bigint) DESC,
            n.traffic_source_id NULLS FIRST,
            n.id
          LIMIT 1
        ),
        (
          SELECT '+' || n.phone_number
          FROM numbers n
          WHERE n.company_id = {company_id}
            AND n.deleted_at IS NULL
            AND n.forward_type = 'offer_id'
            AND n.offer_id IS NULL
          ORDER BY
            (n.traffic_source_id IS NOT DISTINCT FROM {traffic_source_id}::bigint) DESC,
            n.traffic_source_id NULLS FIRST,
            n.id
          LIMIT 1
        )
      ) AS number`,
  { prepared: true, nullable: ['number'] },
);
