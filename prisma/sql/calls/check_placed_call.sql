-- Looks at a call that a switch is to place, when its command says so (check_at). Ends one that its
-- switch has not taken in time, that was neither answered nor ended by the end of its ringing, or
-- whose end was not reported after the longest talk. A call whose buyers were dialed is watched by
-- its slots. True if it ended the call.
--
-- Locks: the call, the command.
CREATE OR REPLACE FUNCTION check_placed_call(
  company bigint, the_call bigint, at timestamptz, ring_grace interval, longest_talk interval
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  call calls;
  given switch_commands;
  due timestamptz;
  ending json;
BEGIN
  call := lock_call(company, the_call, NULL);
  SELECT m.* INTO given
    FROM switch_commands m
    WHERE m.company_id = company AND m.call_id = the_call AND m.command = 'originate'
      AND m.check_at <= at
    FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF call.ended_at IS NULL AND call.round = 0 THEN
    IF call.answered_at IS NOT NULL THEN
      due := call.answered_at + longest_talk;
      ending := json_build_object(
        'status', 'completed', 'hangup_cause', 'lost', 'event', 'lost',
        'ended_at', call.updated_at, 'message', 'its end was not reported'
      );
    ELSIF call.status = 'queued' AND given.result IS NULL THEN
      ending := json_build_object(
        'status', 'failed', 'hangup_cause', 'originate_expired', 'event', 'failed',
        'total_duration', 0, 'message', 'its switch did not place it in time'
      );
    ELSE
      due := given.expires_at + given.timeout_seconds * interval '1 second' + ring_grace;
      ending := json_build_object(
        'status', 'failed', 'hangup_cause', 'lost', 'event', 'lost',
        'total_duration', 0, 'message', 'no answer and no end was reported'
      );
    END IF;
    IF due > at THEN
      ending := NULL;
    ELSE
      due := NULL;
    END IF;
  END IF;
  UPDATE switch_commands m
    SET check_at = due
    WHERE m.company_id = company AND m.id = given.id;
  IF ending IS NOT NULL THEN
    PERFORM end_outbound_call(company, the_call, at, ending);
  END IF;
  RETURN ending IS NOT NULL;
END $$;
