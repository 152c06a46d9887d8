-- Webhooks are told that agents come and go, by the status they were in and the one they are in.
CREATE FUNCTION tell_of_agent() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was CONSTANT boolean := OLD.id IS NOT NULL AND OLD.deleted_at IS NULL
    AND (SELECT s.is_online FROM agent_statuses s WHERE s.company_id = OLD.company_id AND s.id = OLD.agent_status_id);
  status record;
BEGIN
  SELECT s.key, s.is_online INTO status FROM agent_statuses s WHERE s.company_id = NEW.company_id AND s.id = NEW.agent_status_id;
  IF (status.is_online AND NEW.deleted_at IS NULL) IS DISTINCT FROM was THEN
    PERFORM note_webhook_event(NEW.company_id, CASE WHEN was THEN 'agent_offline' ELSE 'agent_online' END, NEW.id,
      jsonb_build_object('agent', jsonb_build_object('id', NEW.id, 'user_id', NEW.user_id, 'status', status.key)));
  END IF;
  RETURN NULL;
END $$;

-- Of an agent who comes and goes within one transaction nothing has been seen.
CREATE CONSTRAINT TRIGGER tell_of_new_agent AFTER INSERT ON "agents" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tell_of_agent();
CREATE CONSTRAINT TRIGGER tell_of_agent AFTER UPDATE OF "agent_status_id", "deleted_at" ON "agents" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.agent_status_id <> NEW.agent_status_id OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at) EXECUTE FUNCTION tell_of_agent();
