-- Takes usage out of rows of caps, which the caller has locked: of each window that still runs and
-- in which it was counted. An hour or a day that came later never had it. Rows of `taken` are of a
-- buyer with its group or of a traffic source, with the time at which they were counted. It is no
-- matter of balances: those change with the ledger.
CREATE OR REPLACE FUNCTION take_back_usage(company bigint, now timestamptz, taken json)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  limit_ids CONSTANT bigint[] := list_caps_of_owners(company, taken);
BEGIN
  UPDATE call_limits l
    SET
      changed_by = pg_current_xact_id(),
      buyer_conversion_total_used = greatest(0, l.buyer_conversion_total_used - s.conversions[1]),
      buyer_conversion_monthly_used =
        greatest(0, l.buyer_conversion_monthly_used - s.conversions[2]),
      buyer_conversion_daily_used = greatest(0, l.buyer_conversion_daily_used - s.conversions[3]),
      buyer_conversion_hourly_used = greatest(0, l.buyer_conversion_hourly_used - s.conversions[4]),
      revenue_total_used = greatest(0, l.revenue_total_used - s.revenue[1]),
      revenue_monthly_used = greatest(0, l.revenue_monthly_used - s.revenue[2]),
      revenue_daily_used = greatest(0, l.revenue_daily_used - s.revenue[3]),
      revenue_hourly_used = greatest(0, l.revenue_hourly_used - s.revenue[4]),
      earned_revenue_total_used = l.earned_revenue_total_used - s.earned_revenue[1],
      earned_revenue_monthly_used = l.earned_revenue_monthly_used - s.earned_revenue[2],
      earned_revenue_daily_used = l.earned_revenue_daily_used - s.earned_revenue[3],
      earned_revenue_hourly_used = l.earned_revenue_hourly_used - s.earned_revenue[4]
    FROM (
      SELECT
        k.id,
        array_agg(t.conversions ORDER BY w.n) AS conversions,
        array_agg(t.revenue ORDER BY w.n) AS revenue,
        array_agg(t.earned_revenue ORDER BY w.n) AS earned_revenue
      FROM call_limits k
      CROSS JOIN LATERAL (
        VALUES
          (1, coalesce(k.totals_reset_at, '-infinity') + interval '1 microsecond'),
          (2, CASE WHEN k.monthly_resets_at > now
            THEN ((k.monthly_resets_at AT TIME ZONE k.zone) - interval '1 month')
              AT TIME ZONE k.zone
          END),
          (3, CASE WHEN k.daily_resets_at > now
            THEN ((k.daily_resets_at AT TIME ZONE k.zone) - interval '1 day') AT TIME ZONE k.zone
          END),
          (4, CASE WHEN k.hourly_resets_at > now THEN k.hourly_resets_at - interval '1 hour' END)
      ) AS w(n, began)
      CROSS JOIN LATERAL (
        SELECT
          coalesce(sum(x.conversions), 0)::integer AS conversions,
          coalesce(sum(x.revenue), 0) AS revenue,
          coalesce(sum(x.earned_revenue), 0) AS earned_revenue
        FROM json_to_recordset(taken) AS x(
          buyer_id bigint, buyer_group_id bigint, traffic_source_id bigint, at timestamptz,
          conversions integer, revenue numeric, earned_revenue numeric
        )
        WHERE x.at >= w.began
          AND counts_for(k, x.buyer_id, x.buyer_group_id, x.traffic_source_id)
      ) t
      WHERE k.company_id = company AND k.id = ANY (limit_ids)
      GROUP BY k.id
    ) s
    WHERE l.company_id = company AND l.id = s.id;
END $$;
