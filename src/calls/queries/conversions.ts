import type { PayoutTerms } from '../../routing/engine/payout';
import { sql, statement } from '../../db/sql';

/** `set_revenue` is what the buyer was said to pay before there was a conversion of it. */
export const READ_CONVERTIBLE_CALL = statement(
  'calls.read_convertible_call',
  sql`
    SELECT
      c.caller_number::float8 AS caller_number,
      c.traffic_source_id::float8 AS traffic_source_id,
      c.offer_id::float8 AS offer_id,
      c.lead_id::float8 AS lead_id,
      c.token_values,
      c.sub_id,
      CASE c.direction WHEN 'inbound' THEN c.to_number ELSE c.from_number END::float8
        AS number_called,
      c.caller_city,
      c.caller_state,
      c.caller_zip,
      c.caller_country,
      c.payout::float8 AS payout,
      c.revenue::float8 AS revenue,
      c.traffic_source_converted,
      coalesce(a.created_at, c.created_at) AS dialed_at,
      a.buyer_group_id::float8 AS buyer_group_id,
      coalesce(o.payouts, '[]') AS payouts,
      coalesce(v.converted, false) AS converted,
      (c.revenue - coalesce(v.revenue, 0))::float8 AS set_revenue,
      EXISTS (
        SELECT
        FROM conversions x
        WHERE x.company_id = c.company_id AND x.call_id = c.id AND x.returned_at IS NOT NULL
      ) AS is_returned,
      EXISTS (
        SELECT
        FROM call_events e
        WHERE e.company_id = c.company_id AND e.call_id = c.id AND e.event = 'payout_returned'
      ) AS is_payout_returned
    FROM calls c
    LEFT JOIN LATERAL (
      SELECT
        bool_or(x.buyer_id = {buyer_id}::bigint) AS converted,
        sum(x.revenue) AS revenue
      FROM conversions x
      WHERE x.company_id = c.company_id AND x.call_id = c.id AND x.returned_at IS NULL
    ) v ON true
    LEFT JOIN call_attempts a
      ON a.company_id = c.company_id AND a.call_id = c.id AND a.buyer_id = {buyer_id}::bigint
    LEFT JOIN offers o ON o.company_id = c.company_id AND o.id = c.offer_id
    WHERE c.company_id = {company_id} AND c.id = {call_id}::bigint`,
  {
    prepared: true,
    nullable: [
      'caller_number',
      'traffic_source_id',
      'offer_id',
      'lead_id',
      'number_called',
      'buyer_group_id',
    ],
  },
).returning<{
  token_values: Record<string, unknown>;
  traffic_source_converted: boolean;
  is_returned: boolean;
  is_payout_returned: boolean;
  payouts: PayoutTerms[];
}>();

/** The caps of a group before those of its buyer, as everywhere. */
export const LOCK_CAPS = statement(
  'calls.lock_caps',
  sql`
    SELECT l.id
    FROM call_limits l
    WHERE l.company_id = {company_id}
      AND (l.buyer_group_id = {buyer_group_id}::bigint OR l.buyer_id = {buyer_id}::bigint)
    ORDER BY (l.buyer_group_id IS NULL)
    FOR NO KEY UPDATE`,
  { prepared: true },
);

export const HAS_BUYER_PAID = statement(
  'calls.has_buyer_paid',
  sql`
    SELECT EXISTS (
      SELECT
      FROM conversions v
      WHERE v.company_id = {company_id}
        AND v.caller_number = {caller_number}::bigint
        AND v.buyer_id = {buyer_id}::bigint
        AND v.created_at > {now}::timestamptz - {seconds}::int * interval '1 second'
        AND v.returned_at IS NULL
    ) AS has_paid`,
  { prepared: true },
);

/** The number keeps these advisory locks apart from those of other statements. */
export const LOCK_CALLER_OF_OFFER = statement(
  'calls.lock_caller_of_offer',
  sql`SELECT pg_advisory_xact_lock(hashtextextended({caller_of_offer}, 4108))`,
  { prepared: false },
);

export const WAS_SOURCE_PAID = statement(
  'calls.was_source_paid',
  sql`
    SELECT EXISTS (
      SELECT
      FROM calls c
      WHERE c.company_id = {company_id}
        AND c.caller_number = {caller_number}::bigint
        AND c.offer_id = {offer_id}::bigint
        AND c.traffic_source_converted
        AND c.id <> {call_id}::bigint
        AND c.created_at > {now}::timestamptz - {seconds}::int * interval '1 second'
    ) AS was_paid`,
  { prepared: true },
);

/** A payout that no conversion of the call has yet becomes part of the new one. */
export const INSERT_CONVERSION = statement(
  'calls.insert_conversion',
  sql`
    WITH converted AS (
      INSERT INTO conversions (
        company_id, uuid, created_at, call_id, buyer_id, buyer_conversion_id, name, caller_number,
        revenue, payout
      )
      SELECT
        {company_id}, {uuid}::uuid, {now}::timestamptz, {call_id}::bigint, {buyer_id}::bigint,
        {buyer_conversion_id}::bigint, {name}, {caller_number}::bigint, {revenue}::numeric,
        c.payout - coalesce(
          (
            SELECT sum(other.payout)
            FROM conversions other
            WHERE other.company_id = {company_id} AND other.call_id = c.id
              AND other.returned_at IS NULL
          ),
          0
        )
      FROM calls c
      WHERE c.company_id = {company_id} AND c.id = {call_id}::bigint
      ON CONFLICT (company_id, call_id, buyer_id) WHERE returned_at IS NULL DO NOTHING
      RETURNING id
    ),
    call AS (
      UPDATE calls
      SET
        buyer_converted = true,
        buyer_revenue = buyer_revenue + {added}::numeric,
        revenue = revenue + {added}::numeric,
        updated_at = {now}::timestamptz,
        token_values = token_values || {tokens}::jsonb
      FROM converted
      WHERE calls.company_id = {company_id} AND calls.id = {call_id}::bigint
      RETURNING calls.lead_id
    ),
    lead AS (
      UPDATE leads
      SET
        buyer_converted = true,
        buyer_id = {buyer_id}::bigint,
        revenue = leads.revenue + {added}::numeric,
        updated_at = {now}::timestamptz
      FROM call
      WHERE leads.company_id = {company_id} AND leads.id = call.lead_id
    )
    SELECT count(*)::int AS n FROM converted`,
  { prepared: true },
);
