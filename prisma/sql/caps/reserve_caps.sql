-- Reserves what calls take of rows of caps, which the caller has locked: of each call all of it, or
-- nothing, in the order of their `index`. Returns a row for each call that takes something. Without
-- room, `refused` describes the rows that have none; else it is null, and `caps` has the caps with
-- a limit as they were before the call, as decisions keep them. All calls are counted at one time.
--
-- `usages` has an object for each row of a call: its index there (n), limit_id, its owner
-- (buyer_id, buyer_group_id, traffic_source_id), spacing_seconds, the least time since the last
-- call, and the numbers of change_caps().
--
-- All calls are checked by one statement, each as if those before it had room. That holds up to the
-- first one that has none; those after it are checked again, without it.
CREATE OR REPLACE FUNCTION reserve_locked_caps(company bigint, at timestamptz, usages json)
RETURNS TABLE (index integer, refused json, caps json) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  pending json := usages;
  checked record;
  full_call integer;
  full_ids bigint[];
  reserved integer[];
BEGIN
  LOOP
    full_call := NULL;
    reserved := '{}';
    FOR checked IN
      SELECT
        u.index,
        array_agg(u.limit_id) FILTER (
          WHERE u.is_gone
            OR u.spacing_seconds > 0
            AND (
              u.calls_before > 0
              OR u.last_call_at > at - u.spacing_seconds * interval '1 second'
            )
            OR u.cap IS NOT NULL
            AND (u.metric <> 'slot' OR u.slots > 0)
            AND NOT has_room(u.cap_limit, u.used, u.added)
        ) AS full_ids,
        coalesce(
          json_agg(
            json_build_object(
              'cap', u.cap,
              'used', u.used,
              'limit', u.cap_limit,
              'resets_at', to_char(
                coalesce(u.resets_at, next_end(u.period, at, u.zone)) AT TIME ZONE 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
              ),
              'buyer_id', u.buyer_id,
              'buyer_group_id', u.buyer_group_id,
              'traffic_source_id', u.traffic_source_id
            )
            ORDER BY u.n, u.cap_n
          ) FILTER (WHERE u.cap IS NOT NULL),
          '[]'
        ) AS caps
      FROM (
        SELECT
          m.*, c.n AS cap_n, c.cap, c.metric, c.period, c.cap_limit, c.resets_at, c.zone,
          c.last_call_at, c.limit_id IS NULL AS is_gone, by_call.added,
          c.used + coalesce(sum(by_call.added) OVER earlier, 0) AS used,
          count(*) OVER earlier AS calls_before
        FROM json_to_recordset(pending) AS m(
          index integer, n integer, limit_id bigint, buyer_id bigint, buyer_group_id bigint,
          traffic_source_id bigint, attempt integer, slots integer, held_connections integer,
          held_conversions integer, held_revenue numeric, spacing_seconds integer
        )
        LEFT JOIN read_cap_counters(
          company,
          ARRAY(SELECT x.limit_id FROM json_to_recordset(pending) AS x(limit_id bigint)),
          at
        ) c ON c.limit_id = m.limit_id
        CROSS JOIN LATERAL (
          SELECT CASE c.metric
            WHEN 'attempt' THEN m.attempt
            WHEN 'buyer_conversion' THEN m.held_conversions
            WHEN 'connection' THEN m.held_connections
            WHEN 'slot' THEN m.slots
            ELSE m.held_revenue
          END AS added
        ) by_call
        WINDOW earlier AS (
          PARTITION BY m.limit_id, c.n
          ORDER BY m.index
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
      ) u
      GROUP BY u.index
      ORDER BY u.index
    LOOP
      IF checked.full_ids IS NOT NULL THEN
        full_call := checked.index;
        full_ids := checked.full_ids;
        EXIT;
      END IF;
      reserved := reserved || checked.index;
      RETURN QUERY SELECT checked.index, NULL::json, checked.caps;
    END LOOP;
    IF full_call IS NULL THEN
      PERFORM change_caps(company, at, pending);
      RETURN;
    END IF;
    PERFORM change_caps(company, at, pick_usages(pending, reserved));
    RETURN QUERY SELECT full_call, describe_caps(company, full_ids, at), NULL::json;
    pending := pick_usages(
      pending,
      ARRAY(
        SELECT x.index
        FROM json_to_recordset(pending) AS x(index integer)
        WHERE x.index > full_call
      )
    );
  END LOOP;
END $$;

-- The usages of some calls, by index.
CREATE OR REPLACE FUNCTION pick_usages(usages json, indexes integer[]) RETURNS json
LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT coalesce(json_agg(u.usage), '[]')
    FROM json_array_elements(usages) AS u(usage)
    WHERE (u.usage->>'index')::integer = ANY (indexes)
  );
END $$;

-- Reserves rows that are not locked yet, for one call. Without room, no lock is kept: the block is
-- a transaction of its own within the open one, and variables keep their values when it fails.
CREATE OR REPLACE FUNCTION reserve_caps(
  company bigint,
  at timestamptz,
  usages json,
  OUT refused json,
  OUT caps json
) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_caps(
    company, ARRAY(SELECT x.limit_id FROM json_to_recordset(usages) AS x(limit_id bigint))
  );
  SELECT r.refused, r.caps INTO refused, caps FROM reserve_locked_caps(company, at, usages) r;
  IF refused IS NOT NULL THEN
    RAISE EXCEPTION 'caps have no room' USING ERRCODE = 'TL001';
  END IF;
EXCEPTION WHEN SQLSTATE 'TL001' THEN
  RETURN;
END $$;
