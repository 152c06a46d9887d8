import type { PayoutTerms } from '../../money/engine/payout';
import { sql, statement } from '../../../data/sql';

/** `set_revenue`: revenue that was set before the buyer had a conversion. */
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
      c.buyer_repeat_caller,
      c.traffic_source_repeat_caller,
      coalesce(a.created_at, c.created_at) AS dialed_at,
      a.buyer_group_id::float8 AS buyer_group_id,
      CASE WHEN a.bid IS NOT NULL
        THEN json_build_object('amount', a.bid, 'duration', a.bid_duration) END AS bid,
      coalesce(o.payouts, '[]') AS payouts,
      coalesce((
        SELECT s.payouts
        FROM traffic_sources s
        WHERE s.company_id = c.company_id AND s.id = c.traffic_source_id
      ), '[]') AS source_payouts,
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
      'bid',
    ],
  },
).returning<{
  bid: { amount: number; duration: number } | null;
  token_values: Record<string, unknown>;
  traffic_source_converted: boolean;
  buyer_repeat_caller: boolean;
  traffic_source_repeat_caller: boolean;
  is_returned: boolean;
  is_payout_returned: boolean;
  payouts: PayoutTerms[];
  source_payouts: PayoutTerms[];
}>();
