-- The hourly limits in the order of the metrics: of groups and traffic sources, which have their
-- own, and of buyers, which have them in their business hours.
CREATE OR REPLACE FUNCTION own_hourly_limits(l call_limits) RETURNS numeric[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ARRAY[
    l.attempt_hourly_limit, l.buyer_conversion_hourly_limit, l.connection_hourly_limit,
    l.earned_revenue_hourly_limit, l.revenue_hourly_limit
  ]
$$;

CREATE OR REPLACE FUNCTION hourly_limits_of(b buyer_business_hours) RETURNS numeric[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ARRAY[
    b.attempt_hourly_limit, b.buyer_conversion_hourly_limit, b.connection_hourly_limit,
    b.earned_revenue_hourly_limit, b.revenue_hourly_limit
  ]
$$;

-- The matrix of caps: the counters of a row of call_limits at an instant, in the order in which a
-- used-up cap is named. `hourly` has the hourly limits in force, in the order of the metrics.
-- `used` has what calls in progress may still use. A window that has ended counts as the next one,
-- of which no end is stored.
--
-- PostgreSQL replaces a call by this SELECT (it inlines it): keep it one.
CREATE OR REPLACE FUNCTION cap_counters(l call_limits, hourly numeric[], at timestamptz)
RETURNS TABLE (
  n integer, cap text, metric text, period text, cap_limit numeric, used numeric,
  resets_at timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT
    v.n,
    CASE v.metric
      WHEN 'slot' THEN 'concurrency'
      WHEN 'dollar' THEN 'balance'
      ELSE v.metric || '_' || v.period
    END,
    v.metric,
    v.period,
    v.cap_limit,
    CASE v.period
      WHEN 'monthly' THEN used_now(v.counter, l.monthly_resets_at, at)
      WHEN 'daily' THEN used_now(v.counter, l.daily_resets_at, at)
      WHEN 'hourly' THEN used_now(v.counter, l.hourly_resets_at, at)
      ELSE v.counter
    END + CASE v.metric
      WHEN 'buyer_conversion' THEN l.pending_conversions
      WHEN 'connection' THEN l.pending_connections
      WHEN 'earned_revenue' THEN l.pending_revenue
      WHEN 'revenue' THEN l.pending_revenue
      WHEN 'dollar' THEN l.pending_revenue
      ELSE 0
    END,
    CASE v.period
      WHEN 'monthly' THEN running_end(l.monthly_resets_at, at)
      WHEN 'daily' THEN running_end(l.daily_resets_at, at)
      WHEN 'hourly' THEN running_end(l.hourly_resets_at, at)
    END
  FROM (
    VALUES
      (0, 'attempt', 'total', l.attempt_total_limit::numeric, l.attempt_total_used::numeric),
      (1, 'buyer_conversion', 'total',
        l.buyer_conversion_total_limit, l.buyer_conversion_total_used),
      (2, 'connection', 'total', l.connection_total_limit, l.connection_total_used),
      (3, 'earned_revenue', 'total', l.earned_revenue_total_limit, l.earned_revenue_total_used),
      (4, 'revenue', 'total', l.revenue_total_limit, l.revenue_total_used),
      (5, 'attempt', 'monthly', l.attempt_monthly_limit, l.attempt_monthly_used),
      (6, 'buyer_conversion', 'monthly',
        l.buyer_conversion_monthly_limit, l.buyer_conversion_monthly_used),
      (7, 'connection', 'monthly', l.connection_monthly_limit, l.connection_monthly_used),
      (8, 'earned_revenue', 'monthly',
        l.earned_revenue_monthly_limit, l.earned_revenue_monthly_used),
      (9, 'revenue', 'monthly', l.revenue_monthly_limit, l.revenue_monthly_used),
      (10, 'attempt', 'daily', l.attempt_daily_limit, l.attempt_daily_used),
      (11, 'buyer_conversion', 'daily',
        l.buyer_conversion_daily_limit, l.buyer_conversion_daily_used),
      (12, 'connection', 'daily', l.connection_daily_limit, l.connection_daily_used),
      (13, 'earned_revenue', 'daily', l.earned_revenue_daily_limit, l.earned_revenue_daily_used),
      (14, 'revenue', 'daily', l.revenue_daily_limit, l.revenue_daily_used),
      (15, 'attempt', 'hourly', hourly[1], l.attempt_hourly_used),
      (16, 'buyer_conversion', 'hourly', hourly[2], l.buyer_conversion_hourly_used),
      (17, 'connection', 'hourly', hourly[3], l.connection_hourly_used),
      (18, 'earned_revenue', 'hourly', hourly[4], l.earned_revenue_hourly_used),
      (19, 'revenue', 'hourly', hourly[5], l.revenue_hourly_used),
      (20, 'slot', 'now', l.concurrency_cap_limit, l.concurrency_cap_used),
      (21, 'dollar', 'now', l.balance + l.credit_limit, 0)
  ) AS v (n, metric, period, cap_limit, counter)
$$;

-- The counters of several rows of call_limits that have a limit. A row without any is there once,
-- without a counter. PostgreSQL inlines it too.
CREATE OR REPLACE FUNCTION read_cap_counters(
  company bigint, limit_ids bigint[], at timestamptz
) RETURNS TABLE (
  limit_id bigint, zone text, last_call_at timestamptz, n integer, cap text, metric text,
  period text, cap_limit numeric, used numeric, resets_at timestamptz
) LANGUAGE sql STABLE AS $$
  SELECT
    l.id, l.zone, l.last_call_at::timestamptz, c.n, c.cap, c.metric, c.period, c.cap_limit,
    c.used, c.resets_at
  FROM call_limits l
  LEFT JOIN LATERAL (
    SELECT hourly_limits_of(b) AS limits
    FROM buyer_business_hours b
    WHERE b.company_id = company AND b.buyer_id = l.buyer_id
      AND is_open(b.open_minutes, local_minute_of_week(at, l.zone))
    ORDER BY b.position
    LIMIT 1
  ) h ON true
  LEFT JOIN LATERAL cap_counters(
    l, CASE WHEN l.buyer_id IS NULL THEN own_hourly_limits(l) ELSE h.limits END, at
  ) AS c ON c.cap_limit IS NOT NULL
  WHERE l.company_id = company AND l.id = ANY (limit_ids)
$$;

-- Rows of caps with their counters that have a limit, for the decision why they have no room.
CREATE OR REPLACE FUNCTION describe_caps(company bigint, limit_ids bigint[], at timestamptz)
RETURNS json LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT coalesce(
      json_agg(json_build_object('limit_id', x.limit_id, 'zone', x.zone, 'counters', x.counters)),
      '[]'
    )
    FROM (
      SELECT
        c.limit_id,
        c.zone,
        coalesce(
          json_agg(
            json_build_object(
              'cap', c.cap, 'used', c.used, 'limit', c.cap_limit, 'resets_at', c.resets_at
            )
            ORDER BY c.n
          ) FILTER (WHERE c.n IS NOT NULL),
          '[]'
        ) AS counters
      FROM read_cap_counters(company, limit_ids, at) c
      GROUP BY c.limit_id, c.zone
    ) x
  );
END $$;

-- Whether any cap of a row has a limit. A traffic source without one counts nothing, so that its
-- calls never wait for one another.
CREATE OR REPLACE FUNCTION has_limit(l call_limits) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT num_nonnulls(
    l.concurrency_cap_limit,
    l.attempt_total_limit, l.attempt_monthly_limit, l.attempt_daily_limit, l.attempt_hourly_limit,
    l.connection_total_limit, l.connection_monthly_limit, l.connection_daily_limit,
    l.connection_hourly_limit,
    l.buyer_conversion_total_limit, l.buyer_conversion_monthly_limit,
    l.buyer_conversion_daily_limit, l.buyer_conversion_hourly_limit,
    l.revenue_total_limit, l.revenue_monthly_limit, l.revenue_daily_limit, l.revenue_hourly_limit,
    l.earned_revenue_total_limit, l.earned_revenue_monthly_limit, l.earned_revenue_daily_limit,
    l.earned_revenue_hourly_limit
  ) > 0
$$;
