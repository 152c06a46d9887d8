-- Analyzes tables that have at least tripled since they were analyzed. Plans that were made for a
-- nearly empty table read all of it, and stay until the next ANALYZE; autovacuum looks once a
-- minute, in which a new installation may have taken thousands of calls. Large tables are left to
-- autovacuum. Returns how many were analyzed; one session does so at a time.
CREATE OR REPLACE FUNCTION analyze_grown_tables() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  grown regclass;
  n integer := 0;
BEGIN
  IF pg_is_in_recovery() OR NOT pg_try_advisory_xact_lock(7481202) THEN
    RETURN 0;
  END IF;
  FOR grown IN
    SELECT s.relid
    FROM pg_stat_user_tables s
    JOIN pg_class c ON c.oid = s.relid
    WHERE s.schemaname = current_schema()
      AND c.reltuples < 100000
      AND s.n_mod_since_analyze > greatest(50, 2 * c.reltuples)
      AND pg_has_role(c.relowner, 'USAGE')
    ORDER BY s.relid
  LOOP
    EXECUTE format('ANALYZE %s', grown);
    n := n + 1;
  END LOOP;
  RETURN n;
END $$;
