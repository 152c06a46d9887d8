-- The minute of the week in a time zone; Sunday 00:00 is 0.
CREATE OR REPLACE FUNCTION local_minute_of_week(at timestamptz, zone text) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT (
    extract(dow FROM at AT TIME ZONE zone) * 1440
    + extract(hour FROM at AT TIME ZONE zone) * 60
    + extract(minute FROM at AT TIME ZONE zone)
  )::integer
$$;

-- Whether a schedule is open. `open_minutes` are the minutes of the week at which it opens and
-- closes in turn (src/platform/time/opening-hours.ts); without any it is always open.
CREATE OR REPLACE FUNCTION is_open(open_minutes integer[], minute_of_week integer) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT cardinality(open_minutes) = 0 OR width_bucket(minute_of_week, open_minutes) % 2 = 1
$$;

-- When a closed schedule opens next, on the minute; null if it never does.
CREATE OR REPLACE FUNCTION next_opening(open_minutes integer[], zone text, at timestamptz)
RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT min(
    (
      date_trunc('minute', at AT TIME ZONE zone)
      + make_interval(mins => (opening - local_minute_of_week(at, zone) + 10079) % 10080 + 1)
    ) AT TIME ZONE zone
  )
  FROM unnest(open_minutes) WITH ORDINALITY AS boundary (opening, n)
  WHERE n % 2 = 1 AND opening < 10080
$$;

-- ISO 8601 with milliseconds and the numeric UTC offset of a time zone.
CREATE OR REPLACE FUNCTION iso_local(at timestamptz, zone text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT to_char(at AT TIME ZONE zone, 'YYYY-MM-DD"T"HH24:MI:SS.MS')
    || to_char(
      make_interval(
        secs => abs(extract(epoch FROM (at AT TIME ZONE zone) - (at AT TIME ZONE 'UTC')))
      ),
      CASE
        WHEN (at AT TIME ZONE zone) < (at AT TIME ZONE 'UTC') THEN '"-"HH24:MI'
        ELSE '"+"HH24:MI'
      END
    )
$$;

-- When the next local hour, day or month of a time zone begins. A day of 23 or 25 hours is one day.
-- They are immutable, as a distributed PostgreSQL wants them in CASE: what the hour has left is
-- taken between times without a zone, because an hour that the clock repeats is two.
CREATE OR REPLACE FUNCTION next_hour(at timestamptz, zone text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (
    (at AT TIME ZONE 'UTC')
    + (date_trunc('hour', at AT TIME ZONE zone) - (at AT TIME ZONE zone))
    + interval '1 hour'
  ) AT TIME ZONE 'UTC'
$$;

CREATE OR REPLACE FUNCTION next_day(at timestamptz, zone text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (date_trunc('day', at AT TIME ZONE zone) + interval '1 day') AT TIME ZONE zone
$$;

CREATE OR REPLACE FUNCTION next_month(at timestamptz, zone text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (date_trunc('month', at AT TIME ZONE zone) + interval '1 month') AT TIME ZONE zone
$$;
