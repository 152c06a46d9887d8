import type { PayoutTerms } from '../../money/engine/payout';
import { OPEN_CONVERSIONS_JSON, type PayingConversion } from '../../money/queries/open-conversions';
import { sql, statement } from '../../../data/sql';

/**
 * Everything that decides what a change of dollars does to a call. Amounts that were counted
 * before a return are left out, and so are conversions that were returned.
 */
export const READ_CALL_MONEY = statement(
  'calls.read_money',
  sql`
    SELECT
      c.caller_number::float8 AS caller_number,
      c.traffic_source_id::float8 AS traffic_source_id,
      c.buyer_id::float8 AS buyer_id,
      a.buyer_group_id::float8 AS buyer_group_id,
      c.payout::float8 AS payout,
      c.revenue::float8 AS revenue,
      c.buyer_converted,
      c.traffic_source_converted,
      c.buyer_repeat_caller,
      c.traffic_source_repeat_caller,
      CASE WHEN a.bid IS NOT NULL
        THEN json_build_object('amount', a.bid, 'duration', a.bid_duration) END AS bid,
      (
        SELECT (${OPEN_CONVERSIONS_JSON}
        )
        FROM (SELECT c.buyer_id, coalesce(a.created_at, c.created_at) AS at) wanted
      ) AS conversions,
      coalesce(o.payouts, '[]') AS payouts,
      coalesce(s.payouts, '[]') AS source_payouts,
      (
        SELECT coalesce(
          json_agg(
            json_build_object(
              'id', v.id::text,
              'buyer_id', v.buyer_id,
              'buyer_group_id', x.buyer_group_id,
              'at', v.created_at,
              'revenue', v.revenue
            )
            ORDER BY v.id
          ),
          '[]'
        )
        FROM conversions v
        LEFT JOIN call_attempts x
          ON x.company_id = v.company_id AND x.call_id = v.call_id AND x.buyer_id = v.buyer_id
        WHERE v.company_id = c.company_id AND v.call_id = c.id AND v.returned_at IS NULL
      ) AS payments,
      (
        SELECT coalesce(
          json_agg(
            json_build_object(
              'event', e.event,
              'buyer_id', e.buyer_id,
              'at', e.created_at,
              'amount',
                coalesce((e.details->>'to')::numeric - (e.details->>'from')::numeric, 0)
            )
            ORDER BY e.id
          ),
          '[]'
        )
        FROM call_events e
        WHERE e.company_id = c.company_id
          AND e.call_id = c.id
          AND e.event IN ('revenue_changed', 'payout', 'payout_changed')
          AND NOT EXISTS (
            SELECT
            FROM call_events r
            WHERE r.company_id = e.company_id AND r.call_id = e.call_id AND r.id > e.id
              AND CASE e.event
                WHEN 'revenue_changed'
                  THEN r.event = 'conversion_returned' AND r.buyer_id = e.buyer_id
                ELSE r.event = 'payout_returned'
              END
          )
      ) AS amounts,
      EXISTS (
        SELECT
        FROM call_events e
        WHERE e.company_id = c.company_id AND e.call_id = c.id AND e.event = 'payout_returned'
      ) AS is_payout_returned
    FROM calls c
    LEFT JOIN call_attempts a
      ON a.company_id = c.company_id AND a.call_id = c.id AND a.buyer_id = c.buyer_id
    LEFT JOIN offers o ON o.company_id = c.company_id AND o.id = c.offer_id
    LEFT JOIN traffic_sources s
      ON s.company_id = c.company_id AND s.id = c.traffic_source_id
    WHERE c.company_id = {company_id} AND c.id = {call_id}::bigint`,
  {
    prepared: true,
    nullable: ['caller_number', 'traffic_source_id', 'buyer_id', 'buyer_group_id', 'bid'],
  },
).returning<{
  buyer_converted: boolean;
  traffic_source_converted: boolean;
  buyer_repeat_caller: boolean;
  traffic_source_repeat_caller: boolean;
  is_payout_returned: boolean;
  bid: { amount: number; duration: number } | null;
  conversions: PayingConversion[];
  payouts: PayoutTerms[];
  source_payouts: PayoutTerms[];
  /** `at` is in ISO 8601. */
  payments: {
    id: string;
    buyer_id: number;
    buyer_group_id: number | null;
    at: string;
    revenue: number;
  }[];
  amounts: { event: string; buyer_id: number | null; at: string; amount: number }[];
}>();

/** Writes what is paid for a call from now on (prisma/sql/calls/settle_call.sql). */
export const SETTLE_CALL = statement(
  'calls.settle',
  sql`
    SELECT r.outcome, r.buyer_paid, r.source_paid
    FROM settle_call(
      {company_id}::bigint, {call_id}::bigint, {now}::timestamptz, {dollars}::json, {events}::json
    ) r`,
  { prepared: true, records: true },
).returning<{ outcome: 'written' | 'paid_otherwise'; buyer_paid: boolean; source_paid: boolean }>();
