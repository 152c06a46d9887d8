-- Tells webhooks of a change of a lead. Of the engine's own state (next step, claim, position)
-- nothing is told.
CREATE OR REPLACE FUNCTION announce_lead_change(was leads, is_now leads) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  kinds text[];
BEGIN
  IF current_setting('trunkline.lead_events', true) = pg_current_xact_id()::text THEN
    PERFORM renew_lead_events(is_now);
  END IF;
  IF differs_for_users(was, is_now) THEN
    kinds := ARRAY['lead_changed'];
    IF was.data IS DISTINCT FROM is_now.data OR was.email IS DISTINCT FROM is_now.email THEN
      kinds := kinds || 'contact_fields_changed'::text;
    END IF;
    IF is_now.status = 'opt_out' AND was.status <> 'opt_out' THEN
      kinds := kinds || 'lead_opted_out'::text;
    END IF;
    IF has_webhook_for(is_now.company_id, kinds) THEN
      PERFORM record_lead_events(is_now, kinds);
    END IF;
  END IF;
END $$;

-- A change of a lead: the hour of its next action, and what webhooks are told.
CREATE OR REPLACE FUNCTION record_lead_change(was leads, is_now leads) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  hour_was CONSTANT timestamptz :=
    next_action_hour(was.due_at, was.callback_at, was.next_action_at);
  hour_now CONSTANT timestamptz :=
    next_action_hour(is_now.due_at, is_now.callback_at, is_now.next_action_at);
BEGIN
  IF hour_was IS DISTINCT FROM hour_now THEN
    PERFORM count_next_actions(is_now.company_id, ARRAY[hour_was], ARRAY[hour_now]);
  END IF;
  PERFORM announce_lead_change(was, is_now);
  RETURN true;
END $$;
