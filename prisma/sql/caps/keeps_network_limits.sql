-- Whether no limit of a row of caps is above the ceiling that a partner left it when it lowered the
-- limit. Without a limit, it is above each. The limits come in the order of their names here.
CREATE OR REPLACE FUNCTION keeps_network_limits(ceilings jsonb, calls integer[], dollars numeric[])
RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  names CONSTANT text[] := ARRAY[
    'concurrency_cap_limit', 'attempt_total_limit', 'attempt_monthly_limit', 'attempt_daily_limit',
    'attempt_hourly_limit', 'connection_total_limit', 'connection_monthly_limit',
    'connection_daily_limit', 'connection_hourly_limit', 'buyer_conversion_total_limit',
    'buyer_conversion_monthly_limit', 'buyer_conversion_daily_limit',
    'buyer_conversion_hourly_limit', 'revenue_total_limit', 'revenue_monthly_limit',
    'revenue_daily_limit', 'revenue_hourly_limit', 'earned_revenue_total_limit',
    'earned_revenue_monthly_limit', 'earned_revenue_daily_limit', 'earned_revenue_hourly_limit'
  ];
BEGIN
  RETURN NOT EXISTS (
    SELECT
    FROM unnest(names, calls::numeric[] || dollars) AS x(name, value)
    WHERE coalesce(x.value, 'Infinity') > coalesce((ceilings->>x.name)::numeric, 'Infinity')
  );
END $$;
