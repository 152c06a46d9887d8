-- Writes what a carrier reports of a text message that was sent, if its status is not as far yet.
--
-- Locks: the lead, then the message. The report waits until the steps that have sent the message
-- are recorded.
CREATE OR REPLACE FUNCTION record_message_status(
  company bigint,
  key uuid,
  new_status text,
  code text,
  explanation text,
  carrier_id text,
  at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  changed text_messages;
BEGIN
  PERFORM
    FROM leads l
    WHERE l.company_id = company
      AND l.id = (
        SELECT t.lead_id FROM text_messages t WHERE t.company_id = company AND t.uuid = key
      )
    FOR NO KEY UPDATE;
  UPDATE text_messages t
    SET
      status = new_status,
      error_code = coalesce(code, t.error_code),
      error_message = coalesce(explanation, t.error_message),
      carrier_message_id = coalesce(t.carrier_message_id, carrier_id),
      updated_at = at,
      sent_at = CASE WHEN new_status = 'failed' THEN t.sent_at ELSE coalesce(t.sent_at, at) END,
      delivered_at = CASE WHEN new_status = 'delivered' THEN at ELSE t.delivered_at END
    WHERE t.company_id = company AND t.uuid = key AND t.direction = 'outbound'
      AND delivery_rank(t.status) < delivery_rank(new_status)
    RETURNING t.* INTO changed;
  IF changed.lead_id IS NOT NULL AND new_status IN ('delivered', 'undelivered', 'failed') THEN
    INSERT INTO lead_logs (
      company_id, created_at, lead_id, event, message, schedule_action_id, text_message_id
    )
      VALUES (
        company, at, changed.lead_id, 'sms_changed',
        concat_ws(': ', new_status, explanation), changed.schedule_action_id, changed.id
      );
  END IF;
END $$;
