-- The only agent of a buyer, or the only one who is online; null if there is no such.
CREATE OR REPLACE FUNCTION find_agent_of_buyer(company bigint, buyer bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT
      CASE
        WHEN count(*) = 1 THEN min(g.id)
        WHEN count(*) FILTER (WHERE s.is_online) = 1 THEN min(g.id) FILTER (WHERE s.is_online)
      END
    FROM agent_buyers x
    JOIN agents g ON g.company_id = x.company_id AND g.id = x.agent_id AND g.deleted_at IS NULL
    JOIN agent_statuses s ON s.company_id = g.company_id AND s.id = g.agent_status_id
    WHERE x.company_id = company AND x.buyer_id = buyer
  );
END $$;
