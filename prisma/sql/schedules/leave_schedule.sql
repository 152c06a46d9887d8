-- A lead leaves its schedule in the statement that writes why (`reason`, one of exit_on of the
-- schedule; null for none): that statement passes the row that it has written, and gets it back as
-- it then is. Whoever is about to contact the lead waits for its row, and finds that the claim is
-- gone: after the event no step is done. Few writes come so far that the row is written again.
--
-- A text of the lead is a row of its own; who stores it writes its time to the lead. So does, for
-- calls, who handles the events below: a call does not wait for a lead that is being texted.
CREATE OR REPLACE FUNCTION leave_schedule(the_lead leads, reason text) RETURNS leads
LANGUAGE plpgsql AS $$
DECLARE
  has_left leads;
BEGIN
  IF reason IS NULL
    OR NOT the_lead.is_live
    OR the_lead.schedule_id IS NULL
    OR (the_lead.phase <> 'actions' AND reason <> 'opted_out')
    OR NOT EXISTS (
      SELECT FROM schedules s
      WHERE s.company_id = the_lead.company_id
        AND s.id = the_lead.schedule_id
        AND reason = ANY (s.exit_on)
    )
  THEN
    RETURN the_lead;
  END IF;
  UPDATE leads l
    SET
      phase = 'end',
      position = NULL,
      exit_reason = reason,
      callback_at = NULL,
      scheduled_callback_id = NULL,
      delay_reason = NULL,
      tries = 0,
      claim_id = NULL,
      is_live = reason <> 'opted_out',
      schedule_ended_at =
        CASE WHEN reason = 'opted_out' THEN l.updated_at ELSE l.schedule_ended_at END,
      next_action_at = CASE WHEN reason <> 'opted_out' THEN l.updated_at END,
      -- A lead that is stopped stays so.
      due_at = CASE WHEN reason <> 'opted_out' AND l.due_at IS NOT NULL THEN l.updated_at END,
      status = CASE
        WHEN reason <> 'opted_out' AND l.due_at IS NOT NULL AND l.status = 'waiting'
        THEN 'scheduled'
        ELSE l.status
      END
    WHERE l.company_id = the_lead.company_id AND l.id = the_lead.id
    RETURNING l.* INTO has_left;
  UPDATE scheduled_callbacks
    SET status = 'canceled'
    WHERE company_id = the_lead.company_id AND lead_id = the_lead.id AND status = 'pending';
  INSERT INTO lead_logs (company_id, created_at, lead_id, event, message)
    VALUES (the_lead.company_id, the_lead.updated_at, the_lead.id, 'left_schedule', reason);
  RETURN has_left;
END $$;
