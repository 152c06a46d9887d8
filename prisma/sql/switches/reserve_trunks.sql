-- How many calls ring or talk through a trunk. They are counted where they are written, so that
-- nothing has to be given back.
CREATE OR REPLACE FUNCTION count_trunk_calls(company bigint, the_trunk bigint) RETURNS integer
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT count(*)
    FROM call_attempts a
    WHERE a.company_id = company AND a.trunk_id = the_trunk
      AND a.status IN ('ringing', 'answered', 'connected')
  );
END $$;

-- How many calls of a trunk have begun in the second of a time. Clocks of processes differ a
-- little: the next second has begun where another process has counted it.
CREATE OR REPLACE FUNCTION calls_in_second(trunk trunks, at timestamptz) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN trunk.counted_second BETWEEN date_trunc('second', at)
      AND date_trunc('second', at) + interval '1 second'
      THEN trunk.calls_in_second
    ELSE 0
  END
$$;

-- How many calls more a trunk may take at a time; null for any number.
CREATE OR REPLACE FUNCTION trunk_room(trunk trunks, at timestamptz) RETURNS integer
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN least(
    CASE
      WHEN trunk.max_calls IS NOT NULL
        THEN trunk.max_calls - count_trunk_calls(trunk.company_id, trunk.id)
    END,
    trunk.max_calls_per_second - calls_in_second(trunk, at)
  );
END $$;

-- The trunks of a company that calls may use, in the order in which they are tried: those that are
-- down last.
CREATE OR REPLACE FUNCTION list_trunks(company bigint, at timestamptz) RETURNS json
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT coalesce(
      json_agg(
        json_build_object(
          'id', t.id,
          'name', t.name,
          'switch_id', t.switch_id,
          'host', t.host,
          'prefixes', t.prefixes,
          'countries', t.countries,
          'dial_prefix', t.dial_prefix,
          'caller_id_rule', t.caller_id_rule,
          'caller_id', t.caller_id,
          'headers', t.headers,
          'room', trunk_room(t, at)
        )
        ORDER BY coalesce(t.down_until > at, false), t.position, t.id
      ),
      '[]'
    )
    FROM trunks t
    WHERE t.company_id = company AND t.deleted_at IS NULL AND NOT t.paused
  );
END $$;

CREATE OR REPLACE FUNCTION lock_trunks(company bigint, trunk_ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM trunks t
    WHERE t.company_id = company AND t.id = ANY (trunk_ids)
    ORDER BY t.id
    FOR NO KEY UPDATE;
END $$;

-- Reserves the trunks of legs. `legs` has an object for each: the `index` of its call, and its
-- trunk_id, if it has one. Returns the calls whose trunks have no room, with these trunks. The
-- others have theirs once their attempts are written, in the same transaction. Legs of calls
-- without room take room from the calls after them, which look for another trunk for nothing.
--
-- Locks trunks with a limit, in the order of their ids.
CREATE OR REPLACE FUNCTION reserve_trunks(company bigint, at timestamptz, legs json)
RETURNS TABLE (index integer, full_trunk_ids bigint[]) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  trunk_ids CONSTANT bigint[] := ARRAY(
    SELECT DISTINCT x.trunk_id
    FROM json_to_recordset(legs) AS x(trunk_id bigint)
    WHERE x.trunk_id IS NOT NULL
  );
  refused record;
  refused_indexes integer[] := '{}';
BEGIN
  IF trunk_ids = '{}' THEN
    RETURN;
  END IF;
  PERFORM lock_trunks(
    company,
    ARRAY(
      SELECT t.id
      FROM trunks t
      WHERE t.company_id = company AND t.id = ANY (trunk_ids)
        AND num_nonnulls(t.max_calls, t.max_calls_per_second) > 0
    )
  );
  FOR refused IN
    WITH trunk AS MATERIALIZED (
      SELECT t.id, trunk_room(t, at) AS room
      FROM trunks t
      WHERE t.company_id = company AND t.id = ANY (trunk_ids)
        AND t.deleted_at IS NULL AND NOT t.paused
    ),
    leg AS (
      SELECT
        x.index, x.trunk_id, trunk.room, trunk.id IS NULL AS is_gone,
        -- Those of the same call are peers: all of them count.
        count(*) OVER (PARTITION BY x.trunk_id ORDER BY x.index) AS n
      FROM json_to_recordset(legs) AS x(index integer, trunk_id bigint)
      LEFT JOIN trunk ON trunk.id = x.trunk_id
      WHERE x.trunk_id IS NOT NULL
    )
    SELECT leg.index, array_agg(DISTINCT leg.trunk_id) AS trunk_ids
    FROM leg
    WHERE leg.is_gone OR leg.n > leg.room
    GROUP BY leg.index
  LOOP
    refused_indexes := refused_indexes || refused.index;
    RETURN QUERY SELECT refused.index, refused.trunk_ids;
  END LOOP;
  UPDATE trunks t
    SET
      calls_in_second = x.n + calls_in_second(t, at),
      counted_second = CASE
        WHEN calls_in_second(t, at) > 0 THEN t.counted_second
        ELSE date_trunc('second', at)
      END
    FROM (
      SELECT leg.trunk_id, count(*) AS n
      FROM json_to_recordset(legs) AS leg(index integer, trunk_id bigint)
      WHERE leg.index <> ALL (refused_indexes)
      GROUP BY leg.trunk_id
    ) x
    WHERE t.company_id = company AND t.id = x.trunk_id AND t.max_calls_per_second IS NOT NULL;
END $$;
