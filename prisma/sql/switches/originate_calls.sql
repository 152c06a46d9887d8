-- Has switches place calls that were recorded in the same transaction: each call gets its command
-- once, however often its recording is repeated. `placed` names the calls by uuid. Returns the
-- commands that are to be pushed.
--
-- A switch that was deleted meanwhile gets no command: then the calls are not recorded either, and
-- the transaction that is run again picks another one.
--
-- Locks the switches, in the order of their ids, after all others.
CREATE OR REPLACE FUNCTION originate_calls(
  company bigint, placed json, at timestamptz, valid_seconds integer, channel text
) RETURNS TABLE (switch_id bigint, command_id bigint) LANGUAGE plpgsql
SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  call record;
  given record;
BEGIN
  FOR call IN
    SELECT
      c.id,
      json_build_object(
        'command', 'originate',
        'valid_seconds', valid_seconds,
        'number', '+' || c.to_number,
        'caller_id', '+' || c.from_number,
        'timeout_seconds', x.timeout_seconds,
        'detect_machine', x.detect_machine
      ) AS command
    FROM json_to_recordset(placed) AS x(uuid uuid, timeout_seconds integer, detect_machine text)
    JOIN calls c ON c.company_id = company AND c.uuid = x.uuid
    WHERE c.carrier = 'softswitch' AND c.status = 'queued'
      AND NOT EXISTS (
        SELECT
        FROM switch_commands m
        WHERE m.company_id = company AND m.call_id = c.id AND m.command = 'originate'
      )
    ORDER BY c.switch_id, c.id
  LOOP
    given := add_switch_command(company, call.id, at, call.command, channel);
    IF given.switch_id IS NULL THEN
      RAISE EXCEPTION 'the switch of call % is gone', call.id USING ERRCODE = '40001';
    END IF;
    IF given.is_pushed THEN
      switch_id := given.switch_id;
      command_id := given.command_id;
      RETURN NEXT;
    END IF;
  END LOOP;
END $$;
