-- Dials a buyer again, through the next trunk, as the present one has failed: all of it, or
-- nothing. `outcome` is 'changed'; 'stale': the call is not as it was read; or 'trunk_full': the
-- next trunk (`route`: its trunk_id, and the `dial` of the attempt) has no room. Where nothing is
-- written, no lock is kept: the body is a transaction of its own within the open one.
--
-- Locks, waiting two seconds for each at most: the call, then both trunks.
CREATE OR REPLACE FUNCTION change_trunk(
  company bigint,
  the_call bigint,
  call_version text,
  at timestamptz,
  the_attempt uuid,
  fault text,
  route json,
  event json,
  lease_end timestamptz,
  OUT outcome text
) LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
DECLARE
  was calls;
  is_now calls;
  next_trunk CONSTANT bigint := route->>'trunk_id';
BEGIN
  was := lock_call(company, the_call, call_version);
  IF was.id IS NULL THEN
    outcome := 'stale';
    RETURN;
  END IF;
  PERFORM record_trunk_fault(company, the_attempt, at, fault, ARRAY[next_trunk]);
  PERFORM FROM reserve_trunks(
    company, at, json_build_array(json_build_object('index', 0, 'trunk_id', next_trunk))
  );
  IF FOUND THEN
    RAISE EXCEPTION 'the trunk has no room' USING ERRCODE = 'TL001';
  END IF;
  UPDATE call_attempts a
    SET trunk_id = next_trunk, dial = (route->'dial')::jsonb
    WHERE a.company_id = company AND a.uuid = the_attempt;
  UPDATE calls c
    SET updated_at = at
    WHERE c.company_id = company AND c.id = the_call
    RETURNING c.* INTO is_now;
  UPDATE call_slots s
    SET lease_until = lease_end, seen_at = at
    WHERE s.company_id = company AND s.call_id = the_call;
  INSERT INTO call_events (company_id, created_at, call_id, event, message, buyer_id, details)
    SELECT company, at, the_call, x.event, x.message, x.buyer_id, x.details
    FROM json_to_record(event) AS x(event text, message text, buyer_id bigint, details jsonb);
  PERFORM record_call_change(was, is_now);
  outcome := 'changed';
EXCEPTION WHEN SQLSTATE 'TL001' THEN
  outcome := 'trunk_full';
END $$;
