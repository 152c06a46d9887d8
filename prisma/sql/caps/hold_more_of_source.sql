-- Holds up to `dollars` of the caps of a source, which the caller has locked, for a call that holds
-- less: the other caps count the call already, and need no more room. Where one of those has no
-- room, `held` has the dollars that the call holds, and `refused` describes the caps of the source.
CREATE OR REPLACE FUNCTION hold_more_of_source(
  company bigint,
  at timestamptz,
  source bigint,
  the_call bigint,
  dollars numeric,
  OUT held numeric,
  OUT refused json
) LANGUAGE plpgsql AS $$
DECLARE
  slot record;
  added numeric;
BEGIN
  SELECT s.call_limit_id, s.revenue INTO slot
    FROM call_limits l
    JOIN call_slots s ON s.company_id = l.company_id AND s.call_limit_id = l.id
    WHERE l.company_id = company AND l.traffic_source_id = source AND s.call_id = the_call;
  added := dollars - slot.revenue;
  IF NOT FOUND OR added <= 0 THEN
    RETURN;
  END IF;
  IF EXISTS (
    SELECT
    FROM read_cap_counters(company, ARRAY[slot.call_limit_id], at) c
    WHERE c.metric IN ('earned_revenue', 'revenue') AND NOT has_room(c.cap_limit, c.used, added)
  ) THEN
    held := slot.revenue;
    refused := describe_caps(company, ARRAY[slot.call_limit_id], at);
    RETURN;
  END IF;
  UPDATE call_limits l
    SET pending_revenue = l.pending_revenue + added, changed_by = pg_current_xact_id()
    WHERE l.company_id = company AND l.id = slot.call_limit_id;
  UPDATE call_slots s
    SET revenue = dollars
    WHERE s.company_id = company AND s.call_id = the_call AND s.call_limit_id = slot.call_limit_id;
END $$;
