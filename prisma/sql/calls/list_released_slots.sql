-- What the slots of a call no longer hold. With `releases`: everything of those that no open buyer
-- needs, of the traffic source at the end. Else what the call has used now, of the buyer that has
-- the call, of its group and of the source: for the caps of a source, a call converts when the
-- source is paid for it.
CREATE OR REPLACE FUNCTION list_released_slots(
  company bigint,
  the_call bigint,
  releases boolean,
  is_over boolean,
  open_buyers bigint[],
  open_groups bigint[],
  buyer bigint,
  buyer_group bigint,
  connects boolean,
  converts boolean,
  pays_source boolean
) RETURNS json LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT coalesce(
      json_agg(
        json_build_object(
          'limit_id', s.call_limit_id,
          'is_released', is_released,
          'connections', CASE
            WHEN is_released OR connects AND (is_source OR has_call) THEN s.connections ELSE 0
          END,
          'conversions', CASE
            WHEN is_released OR is_source AND pays_source OR has_call AND converts
              THEN s.conversions
            ELSE 0
          END,
          'revenue', CASE
            WHEN is_released OR converts AND (is_source OR has_call) THEN s.revenue ELSE 0
          END
        )
      ),
      '[]'
    )
    FROM call_slots s
    JOIN call_limits l ON l.company_id = s.company_id AND l.id = s.call_limit_id
    CROSS JOIN LATERAL (
      SELECT
        l.traffic_source_id IS NOT NULL AS is_source,
        coalesce(l.buyer_id = buyer OR l.buyer_group_id = buyer_group, false) AS has_call,
        releases
          AND coalesce(l.buyer_id <> ALL (open_buyers), true)
          AND coalesce(l.buyer_group_id <> ALL (open_groups), true)
          AND (l.traffic_source_id IS NULL OR is_over) AS is_released
    ) own
    WHERE s.company_id = company AND s.call_id = the_call
  );
END $$;

-- Takes off the slots of a call what list_released_slots() has listed.
CREATE OR REPLACE FUNCTION release_slots(
  company bigint, the_call bigint, at timestamptz, released json, lease_end timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM call_slots s
    USING json_to_recordset(released) AS g(limit_id bigint, is_released boolean)
    WHERE s.company_id = company AND s.call_id = the_call AND s.call_limit_id = g.limit_id
      AND g.is_released;
  UPDATE call_slots s
    SET
      lease_until = coalesce(lease_end, s.lease_until),
      seen_at = CASE WHEN lease_end IS NULL THEN s.seen_at ELSE at END,
      connections = s.connections - g.connections,
      conversions = s.conversions - g.conversions,
      revenue = s.revenue - g.revenue
    FROM json_to_recordset(released) AS g(
      limit_id bigint, connections integer, conversions integer, revenue numeric
    )
    WHERE s.company_id = company AND s.call_id = the_call AND s.call_limit_id = g.limit_id;
END $$;
