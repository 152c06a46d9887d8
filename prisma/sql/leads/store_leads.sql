-- Writes leads that the caller has locked, and what follows: a lead leaves its schedule if it
-- was connected, has called or opted out, each change is recorded, and `event`, if not null, is
-- written to the histories. Returns the leads as they are then.
CREATE OR REPLACE FUNCTION store_leads(
  old_rows leads[], new_rows leads[], event text, message text, details json
) RETURNS SETOF leads LANGUAGE plpgsql AS $$
DECLARE
  was leads;
  is_now leads;
  hours_were timestamptz[] := '{}';
  hours_are timestamptz[] := '{}';
BEGIN
  IF new_rows IS NULL THEN
    RETURN;
  END IF;
  PERFORM update_leads(new_rows);
  FOR n IN 1 .. cardinality(new_rows) LOOP
    was := old_rows[n];
    is_now := new_rows[n];
    IF is_now.connected_call_id IS DISTINCT FROM was.connected_call_id THEN
      is_now := leave_schedule(is_now, 'connected');
    END IF;
    IF is_now.called_at IS DISTINCT FROM was.called_at THEN
      is_now := leave_schedule(is_now, 'inbound_call');
    END IF;
    IF is_now.status = 'opt_out' AND was.status <> 'opt_out' THEN
      is_now := leave_schedule(is_now, 'opted_out');
    END IF;
    hours_were := hours_were
      || next_action_hour(was.due_at, was.callback_at, was.next_action_at);
    hours_are := hours_are
      || next_action_hour(is_now.due_at, is_now.callback_at, is_now.next_action_at);
    PERFORM announce_lead_change(was, is_now);
    RETURN NEXT is_now;
  END LOOP;
  -- Counted together: one row for an hour, not one for each lead.
  PERFORM count_next_actions(is_now.company_id, hours_were, hours_are);
  IF event IS NOT NULL THEN
    INSERT INTO lead_logs (company_id, created_at, lead_id, event, message, details)
      SELECT n.company_id, n.updated_at, n.id, event, message, details
      FROM unnest(new_rows) n
      ORDER BY n.id;
  END IF;
END $$;
