-- Counts a new call. That is all that is recorded of one that comes from another service: nobody is
-- told of it, and it costs nothing here.
CREATE OR REPLACE FUNCTION record_moved_call(now calls) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF now.buyer_id IS NULL OR now.recording_url IS NOT NULL OR now.buyer_converted
    OR now.traffic_source_converted OR now.direction = 'outbound'
  THEN
    PERFORM count_call_kinds(NULL, now);
  END IF;
  IF now.traffic_source_id IS NOT NULL AND now.deleted_at IS NULL THEN
    PERFORM count_traffic_source_call(now.company_id, now.traffic_source_id, 1, now.created_at);
  END IF;
  IF now.created_at < clock_timestamp() - interval '10 minutes' THEN
    PERFORM record_settled_call(now.company_id, now.id);
  END IF;
  RETURN true;
END $$;

-- A call of status "sending" has not started: its carrier has yet to be asked for it.
CREATE OR REPLACE FUNCTION record_new_call(now calls) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  kinds text[];
BEGIN
  PERFORM record_moved_call(now);
  IF now.direction = 'inbound' AND now.lead_id IS NOT NULL THEN
    PERFORM record_call_of_lead(now);
  END IF;
  IF now.ended_at IS NOT NULL THEN
    PERFORM queue_call_cost(now);
    PERFORM record_end_of_call(now);
  END IF;
  IF now.status <> 'sending' THEN
    kinds := ARRAY['new_call_started'];
    IF now.traffic_source_converted THEN
      kinds := kinds || 'offer_converted'::text;
    END IF;
    IF now.ended_at IS NOT NULL THEN
      kinds := kinds || kinds_of_end(now);
    END IF;
    PERFORM record_call_events(now, kinds, NULL);
  END IF;
  RETURN true;
END $$;
