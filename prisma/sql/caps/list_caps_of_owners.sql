-- Whether a row of caps counts what these owners use: a buyer with its group, or a traffic source.
-- A source without a limit counts nothing.
--
-- PostgreSQL replaces a call by this expression (it inlines it), and so finds rows by indexes.
CREATE OR REPLACE FUNCTION counts_for(
  l call_limits, buyer bigint, buyer_group bigint, source bigint
) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT l.buyer_id = buyer OR l.buyer_group_id = buyer_group
    OR l.traffic_source_id = source AND has_limit(l)
$$;

-- The rows of caps that count for owners, which the rows of a list name.
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
      AND counts_for(l, x.buyer_id, x.buyer_group_id, x.traffic_source_id)
  );
END $$;
