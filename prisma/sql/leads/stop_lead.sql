-- A live lead as it is stopped; `status` says why.
CREATE OR REPLACE FUNCTION stop_lead(the_lead leads, status text, at timestamptz) RETURNS leads
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  the_lead.status := status;
  the_lead.due_at := NULL;
  the_lead.claim_id := NULL;
  the_lead.updated_at := at;
  RETURN the_lead;
END $$;

-- A stopped lead as it is resumed. It is due at once when its schedule, an expiry or a callback
-- gives it something to do; its own next_action_at still applies.
CREATE OR REPLACE FUNCTION resume_lead(the_lead leads, at timestamptz) RETURNS leads
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  the_lead.status := CASE WHEN the_lead.schedule_id IS NULL THEN 'queue' ELSE 'scheduled' END;
  the_lead.due_at := CASE
    WHEN the_lead.schedule_id IS NOT NULL
      OR the_lead.expires_in IS NOT NULL
      OR the_lead.callback_at IS NOT NULL
    THEN at
  END;
  the_lead.claim_id := NULL;
  the_lead.updated_at := at;
  RETURN the_lead;
END $$;
