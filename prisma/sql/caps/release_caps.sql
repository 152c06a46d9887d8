-- Gives back what a call holds of these rows of caps, which the caller has locked: its slots, and
-- what it might still have used.
CREATE OR REPLACE FUNCTION release_caps(company bigint, the_call bigint, limit_ids bigint[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH released AS (
    DELETE FROM call_slots s
    WHERE s.company_id = company AND s.call_id = the_call AND s.call_limit_id = ANY (limit_ids)
    RETURNING s.call_limit_id, s.connections, s.conversions, s.revenue
  )
  UPDATE call_limits l
    SET
      changed_by = pg_current_xact_id(),
      concurrency_cap_used = greatest(0, l.concurrency_cap_used - 1),
      pending_connections = l.pending_connections - r.connections,
      pending_conversions = l.pending_conversions - r.conversions,
      pending_revenue = l.pending_revenue - r.revenue
    FROM released r
    WHERE l.company_id = company AND l.id = r.call_limit_id;
END $$;
