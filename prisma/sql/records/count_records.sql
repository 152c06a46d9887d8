-- Adds to the count of a company's records of a kind (src/data/counts/counters.ts). Locks the slot
-- of the connection.
CREATE OR REPLACE FUNCTION count_records(company bigint, of_resource text, added bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF added > 0 THEN
    INSERT INTO record_counts AS c (company_id, resource, slot, n)
      VALUES (company, of_resource, pg_backend_pid() % 64, added)
      ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = c.n + excluded.n;
  END IF;
END $$;
