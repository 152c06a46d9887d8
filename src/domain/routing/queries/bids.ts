import { sql, statement } from '../../../data/sql';
import type { DestinationPolicy } from '../../people/destinations';

export const BIDDERS = statement(
  'routing.bidders',
  sql`
    SELECT
      b.id::float8 AS id,
      b.uuid::text,
      b.bid_request AS request,
      b.bid_response AS paths,
      least(coalesce(b.ping_timeout_ms, b.ping_timeout_seconds * 1000, 1000), 5000) AS timeout_ms,
      b.bid_secret_version AS secret_version,
      b.bid_secret_rotated_at AS secret_rotated_at
    FROM buyers b
    WHERE b.company_id = {company_id} AND b.id = ANY({buyer_ids}::bigint[])
      AND b.bid_request IS NOT NULL
  `,
  { prepared: true, nullable: ['paths', 'secret_rotated_at'] },
).returning<{
  request: {
    url: string;
    method?: string;
    headers?: Record<string, string>;
    body?: string | null;
  };
  paths: Record<string, string> | null;
}>();

/**
 * The bid data of some calls, a row for each: stored bids, bidders that are left out after
 * failures, and the allowed destinations of bids. A bidder that fails `failures` times within a
 * minute is left out for `rest_seconds` from the last failure. This follows from the stored
 * failures, so that every process agrees and calls write nothing. Positions in the arrays count
 * from 1.
 */
export const KNOWN_BIDS = statement(
  'routing.known_bids',
  sql`
    WITH failed AS MATERIALIZED (
      SELECT
        f.buyer_id,
        f.failed_at,
        lag(f.failed_at, {failures}::int - 1)
          OVER (PARTITION BY f.buyer_id ORDER BY f.failed_at) AS first_of_them
      FROM bid_failures f
      WHERE f.company_id = {company_id} AND f.buyer_id = ANY({buyer_ids}::bigint[])
        AND f.failed_at > {now}::timestamptz - ({rest_seconds}::int + 60) * interval '1 second'
    )
    SELECT
      asked.index::int AS index,
      coalesce((
        SELECT json_agg(json_build_object(
          'buyer_id', k.buyer_id,
          'amount', k.amount,
          'number', k.number,
          'duration', k.duration,
          'expires_at', k.expires_at
        ))
        FROM bids k
        WHERE k.company_id = {company_id} AND k.caller_number = asked.number
          AND k.offer_id = asked.offer_id AND k.expires_at > {now}::timestamptz
      ), '[]') AS kept,
      coalesce((
        SELECT json_agg(json_build_object('buyer_id', x.buyer_id, 'until', x.until))
        FROM (
          SELECT f.buyer_id, max(f.failed_at) + {rest_seconds}::int * interval '1 second' AS until
          FROM failed f
          WHERE f.failed_at < f.first_of_them + interval '1 minute'
          GROUP BY f.buyer_id
        ) x
        WHERE x.until > {now}::timestamptz
      ), '[]') AS suspended,
      (
        SELECT json_build_object(
          'country', c.country,
          'contact_countries', c.contact_countries,
          'contact_prefixes', coalesce(c.contact_prefixes, '{}'),
          'sip_hosts', coalesce(c.sip_hosts, '{}')
        )
        FROM companies c
        WHERE c.id = {company_id}
      ) AS policy
    FROM unnest({offer_ids}::bigint[], {numbers}::bigint[])
      WITH ORDINALITY AS asked(offer_id, number, index)
    ORDER BY asked.index
  `,
  { prepared: true },
).returning<{
  kept: {
    buyer_id: number;
    amount: number;
    number: string | null;
    duration: number;
    expires_at: string;
  }[];
  suspended: { buyer_id: number; until: string }[];
  policy: DestinationPolicy;
}>();

/** Stores bids for a caller and an offer, and failures (prisma/sql/routing/record_bids.sql). */
export const RECORD_BIDS = statement(
  'routing.record_bids',
  sql`
    SELECT record_bids(
      {company_id}::bigint, {caller_number}::bigint, {offer_id}::bigint, {now}::timestamptz,
      {bids}::json, {failures}::json
    )`,
  { prepared: true },
);
