-- PostgreSQL replaces a call of these by their expression (it inlines them), so that they cost
-- nothing: keep them single expressions that name an argument at most twice.

-- What is used of a cap at an instant: nothing once its window has ended, although the counter is
-- not reset before the next use.
CREATE OR REPLACE FUNCTION used_now(used anyelement, resets_at timestamptz, at timestamptz)
RETURNS anyelement LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN resets_at > at THEN used ELSE 0 END
$$;

-- Whether a cap can take `added`. One that is used up takes nothing, not even 0: no call is dialed
-- to a buyer whose conversions are used up.
CREATE OR REPLACE FUNCTION has_room(
  cap_limit anycompatible,
  used anycompatible,
  added anycompatible
) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT cap_limit IS NULL OR used < cap_limit AND used + added <= cap_limit
$$;

-- The end of a window that is running; null for one that has ended.
CREATE OR REPLACE FUNCTION running_end(resets_at timestamptz, at timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN resets_at > at THEN resets_at END
$$;

-- The end of the window of a period that begins now.
CREATE OR REPLACE FUNCTION next_end(period text, at timestamptz, zone text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE period
    WHEN 'monthly' THEN next_month(at, zone)
    WHEN 'daily' THEN next_day(at, zone)
    WHEN 'hourly' THEN next_hour(at, zone)
  END
$$;
