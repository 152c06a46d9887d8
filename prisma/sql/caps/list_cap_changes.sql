-- What a call changes of rows of caps, as change_caps() takes it; null for nothing. `released` has
-- what the call no longer holds (list_released_slots), `usages` what owners have used, each row of
-- a buyer with its group or of a traffic source, and `entries` what the ledger charges buyers:
-- whether a buyer is prepaid is known once its row is locked.
CREATE OR REPLACE FUNCTION list_cap_changes(
  company bigint, released json, usages json, entries json
) RETURNS json LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT json_agg(c)
    FROM (
      SELECT
        p.limit_id,
        sum(p.connection) AS connection,
        sum(p.buyer_conversion) AS buyer_conversion,
        sum(p.revenue) AS revenue,
        sum(p.earned_revenue) AS earned_revenue,
        sum(p.charge) AS charge,
        -sum(p.connections) AS held_connections,
        -sum(p.conversions) AS held_conversions,
        -sum(p.held_revenue) AS held_revenue,
        -sum(p.slots) AS slots
      FROM (
        SELECT
          g.limit_id, 0 AS connection, 0 AS buyer_conversion, 0::numeric AS revenue,
          0::numeric AS earned_revenue, 0::numeric AS charge, g.connections, g.conversions,
          g.revenue AS held_revenue, g.is_released::integer AS slots
        FROM json_to_recordset(released) AS g(
          limit_id bigint, is_released boolean, connections integer, conversions integer,
          revenue numeric
        )
        WHERE g.is_released OR g.connections <> 0 OR g.conversions <> 0 OR g.revenue <> 0
        UNION ALL
        SELECT l.id, u.connection, u.buyer_conversion, u.revenue, u.earned_revenue, 0, 0, 0, 0, 0
        FROM json_to_recordset(usages) AS u(
          buyer_id bigint, buyer_group_id bigint, traffic_source_id bigint, connection integer,
          buyer_conversion integer, revenue numeric, earned_revenue numeric
        )
        JOIN call_limits l
          ON l.company_id = company
          AND counts_for(l, u.buyer_id, u.buyer_group_id, u.traffic_source_id)
        UNION ALL
        SELECT l.id, 0, 0, 0, 0, -e.amount, 0, 0, 0, 0
        FROM json_to_recordset(entries) AS e(buyer_id bigint, amount numeric)
        JOIN call_limits l ON l.company_id = company AND l.buyer_id = e.buyer_id
      ) p
      GROUP BY p.limit_id
    ) c
  );
END $$;
