-- A call converts that had ended before. If it was in the same transaction, the state at the end
-- counts: then it is not one that did not convert.
CREATE OR REPLACE FUNCTION forget_missing_conversion(call calls) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM webhook_events e
    WHERE e.company_id = call.company_id
      AND e.transaction_id = pg_current_xact_id()::text::bigint
      AND e.record_id = call.id
      AND e.kind = 'buyer_did_not_convert';
  DELETE FROM schedule_events e
    WHERE e.company_id = call.company_id
      AND e.call_id = call.id
      AND e.kind IN ('call_missed', 'call_not_converted')
      AND e.xmin = pg_current_xact_id()::xid;
END $$;

-- Whether the update of a call that has ended is more than a part of its end, which sets updated_at
-- to ended_at: it comes later, or tells the actual end of a call that was only considered over.
CREATE OR REPLACE FUNCTION is_change_after_end(was calls, now calls) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT now.updated_at > now.ended_at
    OR now.ended_at <> was.ended_at
    OR (was.connected_at IS NULL) <> (now.connected_at IS NULL)
$$;

-- What the webhooks of a change are about.
CREATE OR REPLACE FUNCTION record_events_of_change(was calls, now calls) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  kinds text[] := '{}';
  returned bigint;
BEGIN
  IF was.status = 'sending' AND now.status <> 'sending' THEN
    kinds := kinds || 'new_call_started'::text;
  END IF;
  IF now.traffic_source_converted AND NOT was.traffic_source_converted THEN
    kinds := kinds || 'offer_converted'::text;
  END IF;
  IF was.buyer_converted AND NOT now.buyer_converted
    OR was.traffic_source_converted AND NOT now.traffic_source_converted
  THEN
    kinds := kinds || 'conversion_returned'::text;
    -- What the buyer no longer pays; none if only the payout was returned.
    SELECT max(v.id) INTO returned
      FROM conversions v
      WHERE v.company_id = now.company_id AND v.call_id = now.id
        AND was.buyer_converted AND NOT now.buyer_converted AND v.returned_at IS NOT NULL;
  END IF;
  IF was.ended_at IS NULL AND now.ended_at IS NOT NULL THEN
    kinds := kinds || kinds_of_end(now);
  ELSIF was.ended_at IS NOT NULL AND is_change_after_end(was, now) THEN
    kinds := kinds || 'call_changed'::text;
    IF was.connected_at IS NULL AND now.connected_at IS NOT NULL AND NOT now.buyer_converted THEN
      kinds := kinds || 'buyer_did_not_convert'::text;
    END IF;
  END IF;
  IF kinds <> '{}' THEN
    PERFORM record_call_events(now, kinds, returned);
  END IF;
END $$;

-- Records a change of a call.
CREATE OR REPLACE FUNCTION record_call_change(was calls, now calls) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF was.deleted_at IS DISTINCT FROM now.deleted_at
    OR was.buyer_converted <> now.buyer_converted
    OR was.traffic_source_converted <> now.traffic_source_converted
    OR (was.recording_url IS NULL) <> (now.recording_url IS NULL)
    OR (was.buyer_id IS NULL) <> (now.buyer_id IS NULL)
  THEN
    PERFORM count_call_kinds(was, now);
  END IF;
  IF was.traffic_source_id IS DISTINCT FROM now.traffic_source_id
    OR was.deleted_at IS DISTINCT FROM now.deleted_at
  THEN
    IF was.deleted_at IS NULL THEN
      PERFORM count_traffic_source_call(was.company_id, was.traffic_source_id, -1, NULL);
    END IF;
    IF now.deleted_at IS NULL THEN
      PERFORM count_traffic_source_call(now.company_id, now.traffic_source_id, 1, now.created_at);
    END IF;
  END IF;
  -- The first conditions are those that nearly every change fails: asking here saves a call.
  IF (
      was.id <> now.id
      OR was.deleted_at IS DISTINCT FROM now.deleted_at
      OR least(was.created_at, now.created_at) < clock_timestamp() - interval '10 minutes'
    )
    AND is_settled_change(was, now)
  THEN
    PERFORM record_settled_call(was.company_id, was.id);
    IF was.id / 8192 <> now.id / 8192 THEN
      PERFORM record_settled_call(now.company_id, now.id);
    END IF;
  END IF;
  IF was.ended_at IS NULL AND now.ended_at IS NOT NULL THEN
    PERFORM queue_call_cost(now);
    PERFORM record_end_of_call(now);
  END IF;
  IF now.buyer_converted AND NOT was.buyer_converted THEN
    IF was.ended_at IS NOT NULL THEN
      PERFORM forget_missing_conversion(now);
    END IF;
    PERFORM record_schedule_event(now.company_id, 'call_converted', now.lead_id, now.id, NULL);
  END IF;
  IF (was.status = 'sending' AND now.status <> 'sending')
    OR (was.ended_at IS NULL AND now.ended_at IS NOT NULL)
    OR now.traffic_source_converted <> was.traffic_source_converted
    OR (was.buyer_converted AND NOT now.buyer_converted)
    OR (
      was.ended_at IS NOT NULL
      AND is_change_after_end(was, now)
      AND (
        was.revenue, was.payout, was.buyer_converted, was.status, was.answered_duration,
        was.total_duration, was.hangup_cause, was.recording_url, was.token_values,
        was.provider_cost, was.disposition_id, was.disposition_notes,
        was.quality_assurance_name, was.agent_id
      ) IS DISTINCT FROM (
        now.revenue, now.payout, now.buyer_converted, now.status, now.answered_duration,
        now.total_duration, now.hangup_cause, now.recording_url, now.token_values,
        now.provider_cost, now.disposition_id, now.disposition_notes,
        now.quality_assurance_name, now.agent_id
      )
    )
  THEN
    PERFORM record_events_of_change(was, now);
  END IF;
  RETURN true;
END $$;

CREATE OR REPLACE FUNCTION record_deleted_call(was calls) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM count_call_kinds(was, NULL);
  IF was.deleted_at IS NULL THEN
    PERFORM count_traffic_source_call(was.company_id, was.traffic_source_id, -1, NULL);
  END IF;
  PERFORM record_settled_call(was.company_id, was.id);
  RETURN true;
END $$;
