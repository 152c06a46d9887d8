-- Changes rows of caps, which the caller has locked: what was used is added to every window, or
-- taken off, what calls in progress may still use (`held_…`), and what a prepaid buyer is charged.
-- It never refuses: what has happened is counted even when it exceeds a cap. `changes` has
-- objects with the limit_id of a row, and each number that is not 0; those of a row are added up.
-- Those of a call that is reported long afterwards have the time (`at`) at which they were used: a
-- window that has begun since does not count them.
CREATE OR REPLACE FUNCTION change_caps(company bigint, at timestamptz, changes json) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE call_limits l
  SET
    attempt_total_used =
      l.attempt_total_used
      + m.attempt * counts_in_total(m.used_at, l.totals_reset_at),
    buyer_conversion_total_used =
      l.buyer_conversion_total_used
      + m.buyer_conversion * counts_in_total(m.used_at, l.totals_reset_at),
    connection_total_used =
      l.connection_total_used
      + m.connection * counts_in_total(m.used_at, l.totals_reset_at),
    earned_revenue_total_used =
      l.earned_revenue_total_used
      + m.earned_revenue * counts_in_total(m.used_at, l.totals_reset_at),
    revenue_total_used =
      l.revenue_total_used
      + m.revenue * counts_in_total(m.used_at, l.totals_reset_at),
    attempt_monthly_used =
      used_now(l.attempt_monthly_used, l.monthly_resets_at, m.at)
      + m.attempt * counts_in_window(m.used_at, l.monthly_resets_at, '1 month', l.zone),
    buyer_conversion_monthly_used =
      used_now(l.buyer_conversion_monthly_used, l.monthly_resets_at, m.at)
      + m.buyer_conversion * counts_in_window(m.used_at, l.monthly_resets_at, '1 month', l.zone),
    connection_monthly_used =
      used_now(l.connection_monthly_used, l.monthly_resets_at, m.at)
      + m.connection * counts_in_window(m.used_at, l.monthly_resets_at, '1 month', l.zone),
    earned_revenue_monthly_used =
      used_now(l.earned_revenue_monthly_used, l.monthly_resets_at, m.at)
      + m.earned_revenue * counts_in_window(m.used_at, l.monthly_resets_at, '1 month', l.zone),
    revenue_monthly_used =
      used_now(l.revenue_monthly_used, l.monthly_resets_at, m.at)
      + m.revenue * counts_in_window(m.used_at, l.monthly_resets_at, '1 month', l.zone),
    attempt_daily_used =
      used_now(l.attempt_daily_used, l.daily_resets_at, m.at)
      + m.attempt * counts_in_window(m.used_at, l.daily_resets_at, '1 day', l.zone),
    buyer_conversion_daily_used =
      used_now(l.buyer_conversion_daily_used, l.daily_resets_at, m.at)
      + m.buyer_conversion * counts_in_window(m.used_at, l.daily_resets_at, '1 day', l.zone),
    connection_daily_used =
      used_now(l.connection_daily_used, l.daily_resets_at, m.at)
      + m.connection * counts_in_window(m.used_at, l.daily_resets_at, '1 day', l.zone),
    earned_revenue_daily_used =
      used_now(l.earned_revenue_daily_used, l.daily_resets_at, m.at)
      + m.earned_revenue * counts_in_window(m.used_at, l.daily_resets_at, '1 day', l.zone),
    revenue_daily_used =
      used_now(l.revenue_daily_used, l.daily_resets_at, m.at)
      + m.revenue * counts_in_window(m.used_at, l.daily_resets_at, '1 day', l.zone),
    attempt_hourly_used =
      used_now(l.attempt_hourly_used, l.hourly_resets_at, m.at)
      + m.attempt * counts_in_window(m.used_at, l.hourly_resets_at, '1 hour', 'UTC'),
    buyer_conversion_hourly_used =
      used_now(l.buyer_conversion_hourly_used, l.hourly_resets_at, m.at)
      + m.buyer_conversion * counts_in_window(m.used_at, l.hourly_resets_at, '1 hour', 'UTC'),
    connection_hourly_used =
      used_now(l.connection_hourly_used, l.hourly_resets_at, m.at)
      + m.connection * counts_in_window(m.used_at, l.hourly_resets_at, '1 hour', 'UTC'),
    earned_revenue_hourly_used =
      used_now(l.earned_revenue_hourly_used, l.hourly_resets_at, m.at)
      + m.earned_revenue * counts_in_window(m.used_at, l.hourly_resets_at, '1 hour', 'UTC'),
    revenue_hourly_used =
      used_now(l.revenue_hourly_used, l.hourly_resets_at, m.at)
      + m.revenue * counts_in_window(m.used_at, l.hourly_resets_at, '1 hour', 'UTC'),
    hourly_resets_at = CASE
      WHEN l.hourly_resets_at > m.at THEN l.hourly_resets_at
      ELSE next_hour(m.at, l.zone)
    END,
    daily_resets_at = CASE
      WHEN l.daily_resets_at > m.at THEN l.daily_resets_at
      ELSE next_day(m.at, l.zone)
    END,
    monthly_resets_at = CASE
      WHEN l.monthly_resets_at > m.at THEN l.monthly_resets_at
      ELSE next_month(m.at, l.zone)
    END,
    calls_count = l.calls_count + m.calls,
    last_call_at = CASE
      WHEN m.calls > 0 THEN greatest(l.last_call_at, m.at)
      ELSE l.last_call_at
    END,
    pending_connections = l.pending_connections + m.held_connections,
    pending_conversions = l.pending_conversions + m.held_conversions,
    pending_revenue = l.pending_revenue + m.held_revenue,
    balance = l.balance - m.charge,
    concurrency_cap_used = greatest(0, l.concurrency_cap_used + m.slots),
    changed_by = pg_current_xact_id()
  FROM (
    SELECT
      x.limit_id,
      max(x.at) AS used_at,
      coalesce(max(x.at), change_caps.at) AS at,
      coalesce(sum(x.calls), 0) AS calls,
      coalesce(sum(x.slots), 0) AS slots,
      coalesce(sum(x.attempt), 0) AS attempt,
      coalesce(sum(x.buyer_conversion), 0) AS buyer_conversion,
      coalesce(sum(x.connection), 0) AS connection,
      coalesce(sum(x.earned_revenue), 0) AS earned_revenue,
      coalesce(sum(x.revenue), 0) AS revenue,
      coalesce(sum(x.charge), 0) AS charge,
      coalesce(sum(x.held_connections), 0) AS held_connections,
      coalesce(sum(x.held_conversions), 0) AS held_conversions,
      coalesce(sum(x.held_revenue), 0) AS held_revenue
    FROM json_to_recordset(changes) AS x(
      limit_id bigint, at timestamptz, calls integer, slots integer, attempt integer,
      buyer_conversion integer, connection integer, earned_revenue numeric, revenue numeric,
      charge numeric,
      held_connections integer, held_conversions integer, held_revenue numeric
    )
    GROUP BY x.limit_id
  ) AS m
  WHERE l.company_id = company AND l.id = m.limit_id;
END $$;

-- 1 if a window counts what was used at a time, which is null for now, or 0 if it began later: the
-- window that ends at `resets_at`, or one that begins with this use. PostgreSQL replaces a call of
-- these by their expression (it inlines them): keep them single expressions.
CREATE OR REPLACE FUNCTION counts_in_window(
  used_at timestamptz, resets_at timestamptz, window_length interval, zone text
) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN used_at IS NULL OR resets_at IS NULL THEN 1
    WHEN used_at < ((resets_at AT TIME ZONE zone) - window_length) AT TIME ZONE zone THEN 0
    ELSE 1
  END
$$;

-- 1 if a total counts what was used at a time, or 0 if users have set it to 0 since.
CREATE OR REPLACE FUNCTION counts_in_total(used_at timestamptz, reset_at timestamptz)
RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN used_at <= reset_at THEN 0 ELSE 1 END
$$;
