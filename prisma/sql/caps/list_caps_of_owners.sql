-- The rows of caps of owners, which the rows of a list name: buyers with their groups, and traffic
-- sources. A source without a limit counts nothing.
CREATE OR REPLACE FUNCTION list_caps_of_owners(company bigint, owners json) RETURNS bigint[]
LANGUAGE plpgsql AS $$
BEGIN
  RETURN ARRAY(
    SELECT l.id
    FROM json_to_recordset(owners) AS x(
      buyer_id bigint, buyer_group_id bigint, traffic_source_id bigint
    )
    JOIN call_limits l
      ON l.company_id = company
      AND (
        l.buyer_id = x.buyer_id OR l.buyer_group_id = x.buyer_group_id
        OR l.traffic_source_id = x.traffic_source_id AND has_limit(l)
      )
  );
END $$;
