-- Saves the result of a command: the first one counts, and only in time. A call that its switch
-- could not place ends at once.
--
-- Locks: the call, the command.
CREATE OR REPLACE FUNCTION save_command_result(
  company bigint, the_switch bigint, the_command bigint, at timestamptz, the_result text,
  why text
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  given switch_commands;
  call calls;
BEGIN
  SELECT m.* INTO given
    FROM switch_commands m
    WHERE m.company_id = company AND m.switch_id = the_switch AND m.command_id = the_command;
  IF given.command = 'originate' AND the_result = 'failed' THEN
    call := lock_call(company, given.call_id, NULL);
  END IF;
  UPDATE switch_commands m
    SET result = the_result, reason = why, answered_at = at
    WHERE m.company_id = company AND m.id = given.id
      AND m.result IS NULL AND m.expires_at > at;
  IF FOUND AND call.ended_at IS NULL AND call.answered_at IS NULL AND call.id IS NOT NULL THEN
    PERFORM end_outbound_call(
      company, call.id, at,
      json_build_object(
        'status', 'failed', 'hangup_cause', 'originate_failed', 'event', 'failed',
        'total_duration', 0, 'message', why
      )
    );
  END IF;
END $$;
