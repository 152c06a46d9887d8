-- PostgreSQL replaces a call of the first two by their expression (it inlines them), so that they
-- cost nothing: keep them single expressions that name `used` at most twice.

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

-- Fails the statement when caps that it must reserve had no room: they are the detail.
CREATE OR REPLACE FUNCTION require_caps(wanted bigint[], reserved bigint[]) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  refused CONSTANT bigint[] := ARRAY(SELECT unnest(wanted) EXCEPT SELECT unnest(reserved));
BEGIN
  IF cardinality(refused) > 0 THEN
    RAISE EXCEPTION 'caps have no room' USING ERRCODE = 'TL001', DETAIL = refused::text;
  END IF;
  RETURN true;
END $$;
