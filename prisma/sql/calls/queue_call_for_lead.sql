-- Queues a call for its lead, if it has one (src/domain/leads/apply-calls.ts). If the lead is being
-- updated at the moment, this waits: that update may have read the call as it was before.
CREATE OR REPLACE FUNCTION queue_call_for_lead(the_call calls, at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF the_call.lead_id IS NOT NULL THEN
    INSERT INTO lead_calls (company_id, call_id, changed_at)
      VALUES (the_call.company_id, the_call.id, at)
      ON CONFLICT (company_id, call_id) DO UPDATE SET changed_at = excluded.changed_at;
  END IF;
END $$;
