-- Gives the switch of a call a command; null where no switch has the call. The commands of a switch
-- are numbered in the order of their commits. The row of the switch is locked until then, after all
-- others. `command` has the columns of switch_commands by name, but for the leg of `attempt`, of
-- which an event of the call may have told.
CREATE OR REPLACE FUNCTION add_switch_command(
  company bigint, the_call bigint, at timestamptz, command json, channel text,
  OUT switch_id bigint, OUT command_id bigint, OUT is_pushed boolean
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  told record;
BEGIN
  UPDATE switches s
    SET last_command_id = s.last_command_id + 1
    FROM calls c
    WHERE c.company_id = company AND c.id = the_call
      AND s.company_id = company AND s.id = c.switch_id AND s.deleted_at IS NULL
    RETURNING s.id, s.last_command_id, s.webhook_url IS NOT NULL AS is_pushed INTO told;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  INSERT INTO switch_commands (
    company_id, switch_id, command_id, created_at, expires_at, call_id, command, attempt, leg_sid,
    digits, number, caller_id, timeout_seconds, detect_machine, key_press_id, check_at
  )
    SELECT
      company, told.id, told.last_command_id, at, at + x.valid_seconds * interval '1 second',
      the_call, x.command, x.attempt,
      (
        SELECT e.details->>'leg_sid'
        FROM call_events e
        WHERE e.company_id = company AND e.call_id = the_call
          AND e.details->>'attempt' = x.attempt::text AND e.details ? 'leg_sid'
        ORDER BY e.id DESC
        LIMIT 1
      ),
      x.digits, x.number, x.caller_id, x.timeout_seconds, x.detect_machine, x.key_press_id,
      CASE WHEN x.command = 'originate' THEN at + x.valid_seconds * interval '1 second' END
    FROM json_to_record(command) AS x(
      command text, valid_seconds integer, attempt uuid, digits text, number text, caller_id text,
      timeout_seconds integer, detect_machine text, key_press_id bigint
    );
  PERFORM pg_notify(channel, company || '/' || told.id);
  switch_id := told.id;
  command_id := told.last_command_id;
  is_pushed := told.is_pushed;
END $$;
