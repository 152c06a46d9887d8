-- Reserves caps as reserve_caps() does. Where one has no room, nothing is reserved, no lock is kept
-- (the block is a transaction of its own within the open one), and `refused` has those without
-- room.
CREATE OR REPLACE FUNCTION try_reserve_caps(
  company bigint,
  at timestamptz,
  usages json,
  OUT refused bigint[],
  OUT caps json
) LANGUAGE plpgsql AS $$
DECLARE
  limit_ids text;
BEGIN
  caps := reserve_caps(company, at, usages);
EXCEPTION WHEN SQLSTATE 'TL001' THEN
  GET STACKED DIAGNOSTICS limit_ids = PG_EXCEPTION_DETAIL;
  refused := limit_ids::bigint[];
END $$;
