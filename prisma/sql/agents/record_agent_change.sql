-- Records that an agent goes online or offline: its old and its new status differ in is_online.
-- Every statement that writes the status or the deletion of an agent calls it with the row as it
-- was, which is null for a new agent.
CREATE OR REPLACE FUNCTION record_agent_change(was agents, is_now agents) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  was_online boolean;
  status record;
BEGIN
  IF NOT has_webhook_for(is_now.company_id, ARRAY['agent_online', 'agent_offline']) THEN
    RETURN;
  END IF;
  was_online :=
    was.id IS NOT NULL
    AND was.deleted_at IS NULL
    AND (
      SELECT s.is_online
      FROM agent_statuses s
      WHERE s.company_id = was.company_id AND s.id = was.agent_status_id
    );
  SELECT s.key, s.is_online INTO status
    FROM agent_statuses s
    WHERE s.company_id = is_now.company_id AND s.id = is_now.agent_status_id;
  IF (status.is_online AND is_now.deleted_at IS NULL) IS DISTINCT FROM was_online THEN
    PERFORM record_webhook_event(
      is_now.company_id,
      CASE WHEN was_online THEN 'agent_offline' ELSE 'agent_online' END,
      is_now.id,
      jsonb_build_object(
        'agent',
        jsonb_build_object('id', is_now.id, 'user_id', is_now.user_id, 'status', status.key)
      )
    );
  END IF;
END $$;
