-- A lead that a trigger of a schedule has started is no new one to triggers: it begins with the
-- schedules that led to it.
CREATE OR REPLACE FUNCTION record_new_lead(the_lead leads) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF the_lead.triggered_by = '{}' AND has_trigger_for(the_lead.company_id, 'lead_created') THEN
    INSERT INTO schedule_events (company_id, kind, lead_id)
      VALUES (the_lead.company_id, 'lead_created', the_lead.id);
  END IF;
  IF has_webhook_for(the_lead.company_id, ARRAY['new_lead_created']) THEN
    PERFORM record_lead_events(the_lead, ARRAY['new_lead_created']);
  END IF;
  RETURN true;
END $$;

-- A lead that comes from another service: nobody is told of it, and no schedule starts.
CREATE OR REPLACE FUNCTION record_moved_lead(the_lead leads) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN count_next_actions(
    the_lead.company_id,
    ARRAY[]::timestamptz[],
    ARRAY[next_action_hour(the_lead.due_at, the_lead.callback_at, the_lead.next_action_at)]
  );
END $$;
