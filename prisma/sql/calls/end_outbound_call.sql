-- Ends an outbound call in which no buyer is dialed, and queues it for its lead. `ending` has its
-- status, event and message; hangup_cause and total_duration are null or absent where the call
-- keeps its own, and ended_at where it ends now.
-- Fallback and abandoned are those of a person for whom there was no buyer; a machine was not
-- abandoned.
--
-- Locks the call.
CREATE OR REPLACE FUNCTION end_outbound_call(
  company bigint, the_call bigint, at timestamptz, ending json
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  was calls;
  is_now calls;
  e record;
BEGIN
  was := lock_call(company, the_call, NULL);
  SELECT * INTO e
    FROM json_to_record(ending) AS x(
      status text, hangup_cause text, fallback text, abandoned boolean, total_duration integer,
      ended_at timestamptz, event text, message text, details jsonb
    );
  e.ended_at := coalesce(e.ended_at, at);
  e.total_duration := coalesce(e.total_duration, was.total_duration);
  UPDATE calls c
    SET
      status = e.status,
      ended_at = e.ended_at,
      updated_at = at,
      hangup_cause = coalesce(e.hangup_cause, c.hangup_cause),
      fallback = e.fallback,
      abandoned =
        coalesce(e.abandoned, false) AND coalesce(c.answered_by, '') NOT IN ('machine', 'fax'),
      total_duration = e.total_duration,
      service_cost = service_cost_after(was, e.total_duration, e.ended_at)
    WHERE c.company_id = company AND c.id = the_call
    RETURNING c.* INTO is_now;
  PERFORM queue_call_for_lead(is_now, at);
  INSERT INTO call_events (company_id, created_at, call_id, event, message, details)
    VALUES (company, at, the_call, e.event, e.message, e.details);
  PERFORM record_call_change(was, is_now);
END $$;
