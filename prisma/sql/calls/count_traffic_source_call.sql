-- Keeps how many calls a traffic source has sent, and when the last one came. `called_at` is null
-- where a call is subtracted.
CREATE OR REPLACE FUNCTION count_traffic_source_call(
  company bigint, source bigint, by integer, called_at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF source IS NULL THEN
    RETURN;
  END IF;
  UPDATE traffic_source_call_counts c
    SET n = c.n + by, last_call_at = greatest(c.last_call_at, called_at)
    WHERE c.company_id = company AND c.traffic_source_id = source
      AND c.slot = (
        SELECT f.slot
        FROM traffic_source_call_counts f
        WHERE f.company_id = company AND f.traffic_source_id = source
        LIMIT 1
        FOR NO KEY UPDATE SKIP LOCKED
      );
  IF NOT FOUND THEN
    INSERT INTO traffic_source_call_counts AS c (
      company_id, traffic_source_id, slot, n, last_call_at
    )
      VALUES (company, source, random() * 2147483647, by, called_at)
      ON CONFLICT (company_id, traffic_source_id, slot) DO UPDATE SET
        n = c.n + excluded.n,
        last_call_at = greatest(c.last_call_at, excluded.last_call_at);
  END IF;
END $$;
