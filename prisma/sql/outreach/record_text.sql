-- Stores a text message that has come in, with the lead that it is about: a live one first, then
-- one that was texted from the number that was texted now, then the newest. `message` has its
-- columns, what the history says of it (excerpt), and reaches_schedules: it may end the schedule of
-- its lead and start others. `reply` is the text that answers it (uuid, body, status), or null.
--
-- Of a message that was stored before nothing is written, and its first reply is returned: carriers
-- repeat what was not answered.
--
-- Locks: the message, the lead, the count of text messages.
CREATE OR REPLACE FUNCTION record_text(
  company bigint,
  message json,
  reply json,
  at timestamptz,
  OUT message_id bigint,
  OUT reply_key uuid,
  OUT reply_body text
) LANGUAGE plpgsql AS $$
DECLARE
  received CONSTANT text_messages := json_populate_record(NULL::text_messages, message);
  answer CONSTANT text_messages := json_populate_record(NULL::text_messages, reply);
  the_lead leads;
  was leads;
  is_now leads;
BEGIN
  SELECT l.* INTO the_lead
    FROM leads l
    LEFT JOIN numbers n ON n.company_id = l.company_id AND n.id = l.sms_number_id
    WHERE l.company_id = company
      AND l.caller_number = received.from_number
      AND l.deleted_at IS NULL
    ORDER BY
      l.is_live DESC, n.phone_number IS NOT DISTINCT FROM received.to_number DESC, l.id DESC
    LIMIT 1;
  INSERT INTO text_messages (
    company_id, uuid, created_at, updated_at, direction, from_number, to_number, body, status,
    carrier, carrier_message_id, lead_id, offer_id, schedule_id, token_values
  )
    VALUES (
      company, received.uuid, at, at, 'inbound', received.from_number, received.to_number,
      received.body, 'received', received.carrier, received.carrier_message_id, the_lead.id,
      the_lead.offer_id, the_lead.schedule_id, received.token_values
    )
    ON CONFLICT (company_id, carrier, carrier_message_id) DO NOTHING
    RETURNING id INTO message_id;
  IF NOT FOUND THEN
    SELECT t.id, r.uuid, r.body INTO message_id, reply_key, reply_body
      FROM text_messages t
      LEFT JOIN text_messages r ON r.company_id = company AND r.in_reply_to_id = t.id
      WHERE t.company_id = company
        AND t.carrier = received.carrier
        AND t.carrier_message_id = received.carrier_message_id;
    RETURN;
  END IF;

  IF the_lead.id IS NOT NULL THEN
    INSERT INTO lead_logs (company_id, created_at, lead_id, event, message, text_message_id)
      VALUES (company, at, the_lead.id, 'sms_received', message->>'excerpt', message_id);
  END IF;
  IF (message->>'reaches_schedules')::boolean THEN
    SELECT l.* INTO was
      FROM leads l
      WHERE l.company_id = company AND l.id = the_lead.id AND l.is_live
      FOR NO KEY UPDATE;
    IF FOUND THEN
      UPDATE leads l
        SET replied_at = at, updated_at = at
        WHERE l.company_id = company AND l.id = was.id
        RETURNING l.* INTO is_now;
      PERFORM record_lead_change(was, leave_schedule(is_now, 'replied'));
    END IF;
    PERFORM record_schedule_event(company, 'text_received', the_lead.id, NULL, message_id);
  END IF;
  IF answer.uuid IS NOT NULL THEN
    INSERT INTO text_messages (
      company_id, uuid, created_at, updated_at, direction, from_number, to_number, body, status,
      carrier, lead_id, offer_id, schedule_id, sent_at, delivered_at, in_reply_to_id
    )
      VALUES (
        company, answer.uuid, at, at, 'outbound', received.to_number, received.from_number,
        answer.body, answer.status, received.carrier, the_lead.id, the_lead.offer_id,
        the_lead.schedule_id,
        CASE WHEN answer.status = 'delivered' THEN at END,
        CASE WHEN answer.status = 'delivered' THEN at END,
        message_id
      )
      RETURNING uuid, body INTO reply_key, reply_body;
  END IF;
  PERFORM count_records(company, 'text_messages', CASE WHEN answer.uuid IS NULL THEN 1 ELSE 2 END);
END $$;
