CREATE OR REPLACE FUNCTION next_action_hour(
  due_at timestamptz, callback_at timestamptz, next_action_at timestamptz
) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN due_at IS NOT NULL THEN date_trunc('hour', coalesce(callback_at, next_action_at), 'UTC')
  END
$$;

-- Replaces the rows of these hours by one for each. What another transaction is replacing is left
-- to it: nobody waits. It needs READ COMMITTED, as all of the service does.
CREATE OR REPLACE FUNCTION fold_next_actions(of_company bigint, hours timestamptz[])
RETURNS void LANGUAGE sql AS $$
  WITH taken AS MATERIALIZED (
    SELECT c.company_id, c.hour, c.id
    FROM next_action_counts c
    WHERE c.company_id = of_company AND c.hour = ANY (hours)
    FOR UPDATE SKIP LOCKED
  ),
  removed AS (
    DELETE FROM next_action_counts c
    USING taken t
    WHERE c.company_id = t.company_id AND c.hour = t.hour AND c.id = t.id
    RETURNING c.company_id, c.hour, c.n
  )
  INSERT INTO next_action_counts (company_id, hour, n)
  SELECT company_id, hour, sum(n)
  FROM removed
  GROUP BY company_id, hour
  HAVING sum(n) <> 0
$$;

-- The count of an hour is the sum of its rows. Leads that come or go add a row, so that writers
-- share none, and none waits for another; one in sixteen folds the rows of its hours. `was` and
-- `is_now` are hours of one company; leads that are made together are counted together.
CREATE OR REPLACE FUNCTION count_next_actions(
  company bigint, was timestamptz[], is_now timestamptz[]
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO next_action_counts (company_id, hour, n)
    SELECT company, x.hour, sum(x.n)
    FROM (
      SELECT unnest(was) AS hour, -1 AS n
      UNION ALL
      SELECT unnest(is_now), 1
    ) x
    WHERE x.hour IS NOT NULL
    GROUP BY x.hour
    HAVING sum(x.n) <> 0;
  IF FOUND AND random() < 0.0625 THEN
    PERFORM fold_next_actions(company, was || is_now);
  END IF;
  RETURN true;
END $$;
