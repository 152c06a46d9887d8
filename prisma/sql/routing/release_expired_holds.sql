-- Deletes expired reservations, of all companies, and gives back what they hold of caps: slots,
-- what a call might have used, the call, and its attempt in the windows that counted it. A call
-- that went to the buyer's own number (direct) is not reported: of it, only slots and what it might
-- have used are given back. Deletes at most `most`, and returns how many; one that another process
-- deletes is left to that process.
--
-- Locks: reservations, then caps (lock_caps), company by company.
CREATE OR REPLACE FUNCTION release_expired_holds(at timestamptz, most integer) RETURNS integer
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  holds call_holds[];
  the_company bigint;
BEGIN
  holds := ARRAY(
    SELECT r
    FROM call_holds r
    WHERE r.expires_at <= at
    ORDER BY r.expires_at
    LIMIT most
    FOR UPDATE SKIP LOCKED
  );

  DELETE FROM call_holds r
    USING unnest(holds) AS h
    WHERE r.company_id = h.company_id AND r.id = h.id;

  FOR the_company IN SELECT DISTINCT h.company_id FROM unnest(holds) AS h ORDER BY 1 LOOP
    PERFORM lock_caps(
      the_company,
      ARRAY(
        SELECT s.call_limit_id
        FROM unnest(holds) AS h
        CROSS JOIN jsonb_to_recordset(h.slots) AS s(call_limit_id bigint)
        WHERE h.company_id = the_company
      )
    );

    UPDATE call_limits l
      SET
        changed_by = pg_current_xact_id(),
        concurrency_cap_used = greatest(0, l.concurrency_cap_used - u.slots),
        pending_connections = l.pending_connections - u.connections,
        pending_conversions = l.pending_conversions - u.conversions,
        pending_revenue = l.pending_revenue - u.revenue,
        calls_count = greatest(0, l.calls_count - u.calls),
        attempt_total_used = greatest(0, l.attempt_total_used - u.total),
        attempt_monthly_used = greatest(0, l.attempt_monthly_used - u.monthly),
        attempt_daily_used = greatest(0, l.attempt_daily_used - u.daily),
        attempt_hourly_used = greatest(0, l.attempt_hourly_used - u.hourly),
        last_call_at = CASE
          WHEN u.is_last AND l.buyer_id IS NOT NULL THEN (
            SELECT max(a.created_at)
            FROM call_attempts a
            WHERE a.company_id = the_company AND a.buyer_id = l.buyer_id
          )
          ELSE l.last_call_at
        END
      FROM (
        SELECT
          k.id,
          count(*) AS slots,
          sum(s.connections) AS connections,
          sum(s.conversions) AS conversions,
          sum(s.revenue) AS revenue,
          count(*) FILTER (WHERE NOT h.direct) AS calls,
          count(*) FILTER (
            WHERE NOT h.direct AND h.created_at > coalesce(k.totals_reset_at, '-infinity')
          ) AS total,
          count(*) FILTER (
            WHERE NOT h.direct
              AND h.created_at >=
                ((k.monthly_resets_at AT TIME ZONE k.zone) - interval '1 month')
                AT TIME ZONE k.zone
          ) AS monthly,
          count(*) FILTER (
            WHERE NOT h.direct
              AND h.created_at >=
                ((k.daily_resets_at AT TIME ZONE k.zone) - interval '1 day') AT TIME ZONE k.zone
          ) AS daily,
          count(*) FILTER (
            WHERE NOT h.direct AND h.created_at >= k.hourly_resets_at - interval '1 hour'
          ) AS hourly,
          bool_or(NOT h.direct AND h.created_at = k.last_call_at) AS is_last
        FROM unnest(holds) AS h
        CROSS JOIN jsonb_to_recordset(h.slots) AS s(
          call_limit_id bigint, connections integer, conversions integer, revenue numeric
        )
        JOIN call_limits k ON k.company_id = the_company AND k.id = s.call_limit_id
        WHERE h.company_id = the_company
        GROUP BY k.company_id, k.id
      ) AS u
      WHERE l.company_id = the_company AND l.id = u.id;
  END LOOP;

  RETURN cardinality(holds);
END $$;
