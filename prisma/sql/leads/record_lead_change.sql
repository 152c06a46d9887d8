-- A change of a lead. Of the engine's own state (next step, claim, position) only the hour of the
-- next action is of interest.
CREATE OR REPLACE FUNCTION record_lead_change(was leads, is_now leads) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  hour_was CONSTANT timestamptz :=
    next_action_hour(was.due_at, was.callback_at, was.next_action_at);
  hour_now CONSTANT timestamptz :=
    next_action_hour(is_now.due_at, is_now.callback_at, is_now.next_action_at);
  kinds text[];
BEGIN
  IF hour_was IS DISTINCT FROM hour_now THEN
    PERFORM count_next_actions(is_now.company_id, ARRAY[hour_was], ARRAY[hour_now]);
  END IF;
  IF current_setting('trunkline.lead_events', true) = pg_current_xact_id()::text THEN
    PERFORM renew_lead_events(is_now);
  END IF;
  IF was.status <> is_now.status
    OR was.buyer_converted <> is_now.buyer_converted
    OR was.offer_converted <> is_now.offer_converted
    OR was.revenue <> is_now.revenue
    OR was.payout <> is_now.payout
    OR was.deleted_at IS DISTINCT FROM is_now.deleted_at
    OR was.offer_id IS DISTINCT FROM is_now.offer_id
    OR was.schedule_id IS DISTINCT FROM is_now.schedule_id
    OR was.traffic_source_id IS DISTINCT FROM is_now.traffic_source_id
    OR was.buyer_id IS DISTINCT FROM is_now.buyer_id
    OR was.lead_priority IS DISTINCT FROM is_now.lead_priority
    OR was.expires_in IS DISTINCT FROM is_now.expires_in
    OR was.hours_to_expire IS DISTINCT FROM is_now.hours_to_expire
    OR was.max_contact_attempts IS DISTINCT FROM is_now.max_contact_attempts
    OR was.external_record_id IS DISTINCT FROM is_now.external_record_id
    OR was.callback_at IS DISTINCT FROM is_now.callback_at
    OR was.email IS DISTINCT FROM is_now.email
    OR was.contact_field_type IS DISTINCT FROM is_now.contact_field_type
    OR was.sub_id IS DISTINCT FROM is_now.sub_id
    OR was.data IS DISTINCT FROM is_now.data
  THEN
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
  RETURN true;
END $$;

-- A lead that a submission has created or changed. The statement locks the live lead first, to know
-- it as it was. One that was made meanwhile it cannot know: it begins again, and finds it.
CREATE OR REPLACE FUNCTION record_submitted_lead(was leads, is_now leads, is_new boolean)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF is_new THEN
    RETURN record_new_lead(is_now);
  END IF;
  IF was.id IS DISTINCT FROM is_now.id THEN
    RAISE EXCEPTION 'the lead was made meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN record_lead_change(was, is_now);
END $$;
