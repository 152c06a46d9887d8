-- A call of a lead comes in.
CREATE OR REPLACE FUNCTION record_call_of_lead(call calls) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO schedule_events (company_id, kind, lead_id, call_id)
  SELECT l.company_id, 'inbound_call', l.id, call.id
  FROM leads l
  JOIN schedules s ON s.company_id = l.company_id AND s.id = l.schedule_id
  WHERE l.company_id = call.company_id AND l.id = call.lead_id AND l.is_live
    AND 'inbound_call' = ANY (s.exit_on);
END $$;

-- If the call converts in the same transaction, forget_missing_conversion() follows.
CREATE OR REPLACE FUNCTION record_end_of_call(call calls) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT call.buyer_converted
    AND (call.connected_at IS NOT NULL OR call.direction = 'inbound')
  THEN
    PERFORM record_schedule_event(
      call.company_id,
      CASE WHEN call.connected_at IS NULL THEN 'call_missed' ELSE 'call_not_converted' END,
      call.lead_id, call.id, NULL
    );
  END IF;
END $$;
