-- Whether a schedule of the company starts by events of a kind.
CREATE OR REPLACE FUNCTION has_trigger_for(company bigint, event_kind text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM schedules s
    WHERE s.company_id = company
      AND s.deleted_at IS NULL
      AND s.triggers <> '[]'
      AND s.triggers @> jsonb_build_array(jsonb_build_object('on', event_kind))
  );
END $$;

-- Records that something has happened, if a schedule of the company starts by it. A row lives until
-- the transaction that starts the schedules deletes it (src/domain/leads/start-triggered.ts): each
-- event counts once.
CREATE OR REPLACE FUNCTION record_schedule_event(
  company bigint, event_kind text, the_lead bigint, the_call bigint, the_message bigint
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF has_trigger_for(company, event_kind) THEN
    INSERT INTO schedule_events (company_id, kind, lead_id, call_id, text_message_id)
      VALUES (company, event_kind, the_lead, the_call, the_message);
  END IF;
END $$;
