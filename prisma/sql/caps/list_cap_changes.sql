-- What a call changes of rows of caps, as change_caps() takes it; null for nothing. `released` has
-- what the call no longer holds (list_released_slots), `usages` what owners have used, each row of
-- a buyer with its group or of a traffic source, and `entries` what the ledger charges buyers:
-- whether a buyer is prepaid is known once its row is locked.
CREATE OR REPLACE FUNCTION list_cap_changes(
  company bigint, released json, usages json, entries json
) RETURNS json LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT json_agg(p.change)
    FROM (
      SELECT
        jsonb_build_object(
          'limit_id', g.limit_id,
          'held_connections', -g.connections,
          'held_conversions', -g.conversions,
          'held_revenue', -g.revenue,
          'slots', -g.is_released::integer
        ) AS change
      FROM json_to_recordset(released) AS g(
        limit_id bigint, is_released boolean, connections integer, conversions integer,
        revenue numeric
      )
      WHERE g.is_released OR g.connections <> 0 OR g.conversions <> 0 OR g.revenue <> 0
      UNION ALL
      SELECT u.usage::jsonb || jsonb_build_object('limit_id', l.id)
      FROM json_array_elements(usages) AS u(usage)
      CROSS JOIN json_to_record(u.usage) AS o(
        buyer_id bigint, buyer_group_id bigint, traffic_source_id bigint
      )
      JOIN call_limits l
        ON l.company_id = company
        AND counts_for(l, o.buyer_id, o.buyer_group_id, o.traffic_source_id)
      UNION ALL
      SELECT jsonb_build_object('limit_id', l.id, 'charge', -e.amount)
      FROM json_to_recordset(entries) AS e(buyer_id bigint, amount numeric)
      JOIN call_limits l ON l.company_id = company AND l.buyer_id = e.buyer_id
    ) p
  );
END $$;
