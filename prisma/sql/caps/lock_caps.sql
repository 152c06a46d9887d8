-- Locks rows of caps until the transaction ends, in the one order in which everything locks them:
-- those of groups, of buyers and of traffic sources, each by the id of the owner. Sources are last,
-- because all calls of a source want its row.
CREATE OR REPLACE FUNCTION lock_caps(company bigint, limit_ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM
    FROM call_limits l
    WHERE l.company_id = company AND l.id = ANY (limit_ids)
    ORDER BY (l.buyer_group_id IS NULL), l.buyer_group_id, l.buyer_id, l.traffic_source_id
    FOR NO KEY UPDATE;
END $$;
