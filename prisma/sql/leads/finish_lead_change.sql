-- What follows from a change of a lead that was written: the lead leaves its schedule if the change
-- connects it or opts it out, and the change is recorded. Returns the row as it is then.
CREATE OR REPLACE FUNCTION finish_lead_change(was leads, is_now leads) RETURNS leads
LANGUAGE plpgsql AS $$
BEGIN
  IF is_now.connected_call_id IS DISTINCT FROM was.connected_call_id THEN
    is_now := leave_schedule(is_now, 'connected');
  END IF;
  IF is_now.status = 'opt_out' AND was.status <> 'opt_out' THEN
    is_now := leave_schedule(is_now, 'opted_out');
  END IF;
  PERFORM record_lead_change(was, is_now);
  RETURN is_now;
END $$;
