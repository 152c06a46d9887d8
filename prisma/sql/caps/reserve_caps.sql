-- Reserves what a call takes of rows of caps, which the caller has locked: all of it, or nothing.
-- Without room, `refused` describes the rows that have none; else it is null, and `caps` has the
-- caps with a limit as they were before, as decisions keep them. `usages` has an object for each
-- row: its index (n), limit_id, its owner (buyer_id, buyer_group_id, traffic_source_id),
-- spacing_seconds, the least time since the last call, and the numbers of change_caps().
CREATE OR REPLACE FUNCTION reserve_locked_caps(
  company bigint,
  at timestamptz,
  usages json,
  OUT refused json,
  OUT caps json
) LANGUAGE plpgsql AS $$
DECLARE
  full_ids bigint[];
BEGIN
  SELECT
    array_agg(m.limit_id) FILTER (
      WHERE c.limit_id IS NULL
        OR m.spacing_seconds > 0
        AND c.last_call_at > at - m.spacing_seconds * interval '1 second'
        OR c.n IS NOT NULL
        AND (c.metric <> 'slot' OR m.slots > 0)
        AND NOT has_room(
          c.cap_limit,
          c.used,
          CASE c.metric
            WHEN 'attempt' THEN m.attempt
            WHEN 'buyer_conversion' THEN m.held_conversions
            WHEN 'connection' THEN m.held_connections
            WHEN 'slot' THEN m.slots
            ELSE m.held_revenue
          END
        )
    ),
    coalesce(
      json_agg(
        json_build_object(
          'cap', c.cap,
          'used', c.used,
          'limit', c.cap_limit,
          'resets_at', to_char(
            coalesce(c.resets_at, next_end(c.period, at, c.zone)) AT TIME ZONE 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
          ),
          'buyer_id', m.buyer_id,
          'buyer_group_id', m.buyer_group_id,
          'traffic_source_id', m.traffic_source_id
        )
        ORDER BY m.n, c.n
      ) FILTER (WHERE c.n IS NOT NULL),
      '[]'
    )
  INTO full_ids, caps
  FROM json_to_recordset(usages) AS m(
    n integer, limit_id bigint, buyer_id bigint, buyer_group_id bigint, traffic_source_id bigint,
    attempt integer, slots integer, held_connections integer, held_conversions integer,
    held_revenue numeric, spacing_seconds integer
  )
  LEFT JOIN read_cap_counters(
    company, ARRAY(SELECT x.limit_id FROM json_to_recordset(usages) AS x(limit_id bigint)), at
  ) c ON c.limit_id = m.limit_id;
  IF full_ids IS NULL THEN
    PERFORM change_caps(company, at, usages);
  ELSE
    refused := describe_caps(company, full_ids, at);
    caps := NULL;
  END IF;
END $$;

-- Reserves rows that are not locked yet. Without room, no lock is kept: the block is a transaction
-- of its own within the open one, and variables keep their values when it fails.
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
