-- Writes what the steps of locked leads have changed, for several companies: `batches` has an
-- object for each, its company_id and the lists below. What is absent touches no table. Returns the
-- logs that say that a webhook is queued, in their order.
--
--   abandoned: leads that gave up a step whose delivery had begun (lead_id).
--   text_messages, emails, calls: rows, under the key of their step (uuid): first as "sending",
--     then with the result.
--   logs: entries of histories; n is their order. `text_message`, `email` and `call` are uuids.
--   leads: the columns of each that steps change. attempted_call and connected_call are uuids of
--     calls, null where the lead keeps what it has.
--   contacts: how often each lead was contacted. A number may be there several times.
--   callbacks: those that have ended.
--   contact_changes: opt_out or block, by the schedule of a lead of a number.
--   moves: leads that go to another schedule, and their status if they cannot.
--   numbers: those from which leads were contacted that had another one before.
--
-- Locks: the caller has locked contacts and leads. Then, company after company, the deliveries, the
-- counts of records, the numbers.
--
-- All rows are looked up by an index. A worker plans once, perhaps when these tables are empty, and
-- a plan that reads a whole table for each row would take seconds once they have grown.
CREATE OR REPLACE FUNCTION record_steps(batches json, at timestamptz)
RETURNS TABLE (company_id bigint, lead_log_id bigint) LANGUAGE plpgsql
SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  b record;
BEGIN
  FOR b IN
    SELECT *
    FROM json_to_recordset(batches) AS x(
      company_id bigint, abandoned json, text_messages json, emails json, calls json, logs json,
      leads json, contacts json, callbacks json, contact_changes json, moves json, numbers json
    )
    ORDER BY x.company_id
  LOOP
    IF b.abandoned IS NOT NULL THEN
      PERFORM abandon_deliveries(
        b.company_id,
        ARRAY(SELECT x.lead_id FROM json_to_recordset(b.abandoned) AS x(lead_id bigint)),
        ARRAY(
          SELECT x.uuid
          FROM (VALUES (b.text_messages), (b.emails), (b.calls)) AS d(rows)
          CROSS JOIN json_to_recordset(d.rows) AS x(uuid uuid)
        ),
        at
      );
    END IF;
    PERFORM record_text_messages(b.company_id, b.text_messages, at);
    PERFORM record_emails(b.company_id, b.emails, at);
    PERFORM record_placed_calls(b.company_id, b.calls, at);
    RETURN QUERY SELECT b.company_id, l.id FROM record_step_logs(b.company_id, b.logs, at) l(id);
    PERFORM save_lead_states(b.company_id, b.leads, at);
    PERFORM count_contacts(b.company_id, b.contacts, at);
    PERFORM end_callbacks(b.company_id, b.callbacks);
    PERFORM change_contacts_of_leads(b.company_id, b.contact_changes, at);
    PERFORM move_leads(b.company_id, b.moves, at);
    IF b.calls IS NOT NULL OR b.abandoned IS NOT NULL THEN
      PERFORM complete_events(b.company_id);
    END IF;
    PERFORM mark_numbers_assigned(b.company_id, b.numbers, at);
  END LOOP;
END $$;

-- Leads give up what is still being sent to them, except the deliveries of these keys, which are
-- recorded now. Messages and calls that may have been sent (no error code) stay: the carrier will
-- report about them, and nothing about e-mails.
CREATE OR REPLACE FUNCTION abandon_deliveries(
  company bigint, lead_ids bigint[], keys uuid[], at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  was calls;
  is_now calls;
BEGIN
  UPDATE text_messages t
    SET status = 'failed', updated_at = at
    WHERE t.company_id = company AND t.lead_id = ANY (lead_ids)
      AND t.status = 'sending' AND t.error_code IS NOT NULL AND t.uuid <> ALL (keys);
  UPDATE emails t
    SET
      status = CASE WHEN t.error_code IS NULL THEN 'unknown' ELSE 'failed' END,
      error_code = coalesce(t.error_code, 'unknown'),
      updated_at = at
    WHERE t.company_id = company AND t.lead_id = ANY (lead_ids)
      AND t.status = 'sending' AND t.uuid <> ALL (keys);
  FOR was IN
    SELECT c.*
    FROM calls c
    WHERE c.company_id = company AND c.lead_id = ANY (lead_ids)
      AND c.status = 'sending' AND c.error_code IS NOT NULL AND c.uuid <> ALL (keys)
    ORDER BY c.id
    FOR NO KEY UPDATE
  LOOP
    UPDATE calls c
      SET status = 'failed', updated_at = at
      WHERE c.company_id = company AND c.id = was.id
      RETURNING c.* INTO is_now;
    PERFORM record_call_change(was, is_now);
  END LOOP;
END $$;

-- Until a carrier has accepted a message, each record writes it anew.
CREATE OR REPLACE FUNCTION record_text_messages(company bigint, messages json, at timestamptz)
RETURNS void LANGUAGE plpgsql STRICT AS $$
DECLARE
  added bigint;
BEGIN
  WITH written AS (
    INSERT INTO text_messages AS t (
      company_id, uuid, created_at, updated_at, direction, status, error_code, error_message,
      lead_id, offer_id, schedule_id, schedule_action_id, token_values, from_number, to_number,
      body, carrier, carrier_message_id, sent_at, delivered_at
    )
      SELECT
        company, x.uuid, at, at, 'outbound', x.status, x.error_code, x.error_message,
        x.lead_id, x.offer_id, x.schedule_id, x.schedule_action_id, x.token_values, x.from_number,
        x.to_number, x.body, x.carrier, x.carrier_message_id,
        CASE WHEN x.status NOT IN ('sending', 'failed', 'unknown') THEN at END,
        CASE WHEN x.status = 'delivered' THEN at END
      FROM json_populate_recordset(NULL::text_messages, messages) x
    ON CONFLICT (company_id, uuid) DO UPDATE
      SET (
        updated_at, status, error_code, error_message, offer_id, schedule_id, schedule_action_id,
        token_values, from_number, to_number, body, carrier, carrier_message_id, sent_at,
        delivered_at
      ) = (
        excluded.updated_at, excluded.status, excluded.error_code, excluded.error_message,
        excluded.offer_id, excluded.schedule_id, excluded.schedule_action_id,
        excluded.token_values, excluded.from_number, excluded.to_number, excluded.body,
        excluded.carrier, excluded.carrier_message_id, excluded.sent_at, excluded.delivered_at
      )
      WHERE t.carrier_message_id IS NULL
        AND delivery_rank(excluded.status) >= delivery_rank(t.status)
    RETURNING t.xmax = 0 AS is_new
  )
  SELECT count(*) FILTER (WHERE w.is_new) INTO added FROM written w;
  PERFORM count_records(company, 'text_messages', added);
END $$;

-- Until a mailer has accepted an e-mail, each record writes it anew.
CREATE OR REPLACE FUNCTION record_emails(company bigint, mails json, at timestamptz)
RETURNS void LANGUAGE plpgsql STRICT AS $$
DECLARE
  added bigint;
BEGIN
  WITH written AS (
    INSERT INTO emails AS t (
      company_id, uuid, created_at, updated_at, status, error_code, error_message, lead_id,
      offer_id, schedule_id, schedule_action_id, token_values, from_email, to_email, subject, body,
      html, mailer, message_id, sent_at
    )
      SELECT
        company, x.uuid, at, at, x.status, x.error_code, x.error_message, x.lead_id, x.offer_id,
        x.schedule_id, x.schedule_action_id, x.token_values, x.from_email, x.to_email, x.subject,
        x.body, x.html, x.mailer, x.message_id,
        CASE WHEN x.status NOT IN ('sending', 'failed', 'unknown') THEN at END
      FROM json_populate_recordset(NULL::emails, mails) x
    ON CONFLICT (company_id, uuid) DO UPDATE
      SET (
        updated_at, status, error_code, error_message, offer_id, schedule_id, schedule_action_id,
        token_values, from_email, to_email, subject, body, html, mailer, message_id, sent_at
      ) = (
        excluded.updated_at, excluded.status, excluded.error_code, excluded.error_message,
        excluded.offer_id, excluded.schedule_id, excluded.schedule_action_id,
        excluded.token_values, excluded.from_email, excluded.to_email, excluded.subject,
        excluded.body, excluded.html, excluded.mailer, excluded.message_id, excluded.sent_at
      )
      WHERE t.message_id IS NULL AND delivery_rank(excluded.status) >= delivery_rank(t.status)
    RETURNING t.xmax = 0 AS is_new
  )
  SELECT count(*) FILTER (WHERE w.is_new) INTO added FROM written w;
  PERFORM count_records(company, 'emails', added);
END $$;

-- Until a carrier has accepted a call, each record writes it anew. A call that is there is locked
-- first: its change is recorded.
CREATE OR REPLACE FUNCTION record_placed_calls(company bigint, placed_calls json, at timestamptz)
RETURNS void LANGUAGE plpgsql STRICT AS $$
DECLARE
  x calls;
  was calls;
  is_now calls;
  added bigint := 0;
BEGIN
  FOR x IN
    SELECT * FROM json_populate_recordset(NULL::calls, placed_calls) c ORDER BY c.uuid
  LOOP
    IF x.status IN ('in_progress', 'completed') THEN
      x.answered_at := at;
    END IF;
    IF x.status NOT IN ('sending', 'queued', 'ringing', 'in_progress') THEN
      x.ended_at := at;
    END IF;
    SELECT c.* INTO was
      FROM calls c
      WHERE c.company_id = company AND c.uuid = x.uuid
      FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      INSERT INTO calls (
        company_id, uuid, created_at, updated_at, direction, status, error_code, error_message,
        lead_id, offer_id, schedule_id, schedule_action_id, token_values, from_number, to_number,
        caller_number, connect_to, routed, machine_action, machine_message, carrier,
        carrier_call_id, switch_id, answered_at, ended_at, service_cost
      )
        VALUES (
          company, x.uuid, at, at, 'outbound', x.status, x.error_code, x.error_message,
          x.lead_id, x.offer_id, x.schedule_id, x.schedule_action_id, x.token_values,
          x.from_number, x.to_number, x.to_number, x.connect_to, x.routed, x.machine_action,
          x.machine_message, x.carrier, x.carrier_call_id, x.switch_id, x.answered_at, x.ended_at,
          service_cost_of(company, NULL, at, x.ended_at)
        )
        RETURNING * INTO is_now;
      PERFORM record_new_call(is_now);
      added := added + 1;
    ELSIF was.carrier_call_id IS NULL
      AND delivery_rank(x.status) >= delivery_rank(was.status)
    THEN
      UPDATE calls c
        SET
          updated_at = at,
          status = x.status,
          error_code = x.error_code,
          error_message = x.error_message,
          offer_id = x.offer_id,
          schedule_id = x.schedule_id,
          schedule_action_id = x.schedule_action_id,
          token_values = x.token_values,
          from_number = x.from_number,
          to_number = x.to_number,
          connect_to = x.connect_to,
          routed = x.routed,
          machine_action = x.machine_action,
          machine_message = x.machine_message,
          carrier = x.carrier,
          carrier_call_id = x.carrier_call_id,
          switch_id = x.switch_id,
          answered_at = x.answered_at,
          ended_at = x.ended_at,
          service_cost = service_cost_after(was, was.total_duration, x.ended_at)
        WHERE c.company_id = company AND c.id = was.id
        RETURNING c.* INTO is_now;
      PERFORM record_call_change(was, is_now);
    END IF;
  END LOOP;
  PERFORM count_records(company, 'calls', added);
END $$;

-- Returns the ids of the logs that say that a webhook is queued.
CREATE OR REPLACE FUNCTION record_step_logs(company bigint, logs json, at timestamptz)
RETURNS SETOF bigint LANGUAGE plpgsql STRICT AS $$
BEGIN
  RETURN QUERY
    WITH logged AS (
      INSERT INTO lead_logs (
        company_id, created_at, lead_id, event, message, schedule_action_id, call_id,
        text_message_id, email_id
      )
        SELECT
          company, at, x.lead_id, x.event, x.message, x.schedule_action_id,
          (SELECT c.id FROM calls c WHERE c.company_id = company AND c.uuid = x.call),
          (
            SELECT t.id
            FROM text_messages t
            WHERE t.company_id = company AND t.uuid = x.text_message
          ),
          (SELECT t.id FROM emails t WHERE t.company_id = company AND t.uuid = x.email)
        FROM json_to_recordset(logs) AS x(
          n integer, lead_id bigint, event text, message text, schedule_action_id bigint,
          call uuid, text_message uuid, email uuid
        )
        ORDER BY x.n
        RETURNING id, event
    )
    SELECT l.id FROM logged l WHERE l.event = 'webhook_queued' ORDER BY l.id;
END $$;

CREATE OR REPLACE FUNCTION save_lead_states(company bigint, states json, at timestamptz)
RETURNS void LANGUAGE plpgsql STRICT AS $$
DECLARE
  old_rows leads[];
  new_rows leads[];
BEGIN
  SELECT
    array_agg(l),
    array_agg(
      jsonb_populate_record(
        l,
        x.state
          || jsonb_build_object(
            'updated_at', at,
            'attempted_call_id', coalesce(
              (
                SELECT c.id
                FROM calls c
                WHERE c.company_id = company AND c.uuid = (x.state->>'attempted_call')::uuid
              ),
              l.attempted_call_id
            ),
            'connected_call_id', coalesce(
              (
                SELECT c.id
                FROM calls c
                WHERE c.company_id = company AND c.uuid = (x.state->>'connected_call')::uuid
              ),
              l.connected_call_id
            ),
            'claim_id', CASE WHEN (x.state->>'stays_claimed')::boolean THEN l.claim_id END
          )
      )
    )
  INTO old_rows, new_rows
  FROM jsonb_array_elements(states::jsonb) AS x(state)
  JOIN leads l ON l.company_id = company AND l.id = (x.state->>'id')::bigint;
  PERFORM store_leads(old_rows, new_rows, NULL, NULL, NULL);
END $$;

-- Applies opt-outs and blocks by schedules to the other leads of the numbers.
CREATE OR REPLACE FUNCTION change_contacts_of_leads(
  company bigint, contact_changes json, at timestamptz
) RETURNS void LANGUAGE plpgsql STRICT AS $$
BEGIN
  PERFORM change_contacts(
      company, x.change, ARRAY[x.caller_number], ARRAY[gen_random_uuid()], at,
      'by the schedule of a lead of this number'
    )
    FROM json_to_recordset(contact_changes) AS x(caller_number bigint, change text);
END $$;

CREATE OR REPLACE FUNCTION count_contacts(company bigint, contacted json, at timestamptz)
RETURNS void LANGUAGE plpgsql STRICT AS $$
BEGIN
  UPDATE contacts k
    SET
      calls_count = k.calls_count + x.calls,
      sms_count = k.sms_count + x.sms,
      emails_count = k.emails_count + x.emails,
      last_contacted_at = at,
      updated_at = at
    FROM (
      SELECT c.caller_number, sum(c.calls) AS calls, sum(c.sms) AS sms, sum(c.emails) AS emails
      FROM json_to_recordset(contacted) AS c(
        caller_number bigint, calls integer, sms integer, emails integer
      )
      GROUP BY c.caller_number
    ) x
    WHERE k.company_id = company AND k.caller_number = x.caller_number;
END $$;

CREATE OR REPLACE FUNCTION end_callbacks(company bigint, callbacks json) RETURNS void
LANGUAGE plpgsql STRICT AS $$
BEGIN
  UPDATE scheduled_callbacks s
    SET
      status = x.status,
      call_id = (SELECT c.id FROM calls c WHERE c.company_id = company AND c.uuid = x.call)
    FROM json_to_recordset(callbacks) AS x(id bigint, status text, call uuid)
    WHERE s.company_id = company AND s.id = x.id;
END $$;

-- Moves leads to other schedules, in the order of their ids; their contact attempts continue to
-- count, so that schedules that move leads back and forth end. A lead ends if the schedule is
-- deleted, or has another live lead of its number: as contacts are locked, only a submission can
-- add that one meanwhile, and the unique index on leads then fails the transaction.
CREATE OR REPLACE FUNCTION move_leads(company bigint, moves json, at timestamptz)
RETURNS void LANGUAGE plpgsql STRICT AS $$
DECLARE
  moving record;
  was leads;
  is_now leads;
  target schedules;
  fault text;
BEGIN
  FOR moving IN
    SELECT *
    FROM json_to_recordset(moves) AS x(lead_id bigint, schedule_id bigint, status_if_ended text)
    ORDER BY x.lead_id
  LOOP
    SELECT l.* INTO was FROM leads l WHERE l.company_id = company AND l.id = moving.lead_id;
    SELECT s.* INTO target
      FROM schedules s
      WHERE s.company_id = company AND s.id = moving.schedule_id AND s.deleted_at IS NULL;
    fault := CASE
      WHEN target.id IS NULL THEN 'the schedule it was to be moved to is gone'
      WHEN EXISTS (
        SELECT
        FROM leads o
        WHERE o.company_id = company AND o.schedule_id = target.id
          AND o.caller_number = was.caller_number AND o.is_live AND o.id <> was.id
      )
        THEN 'its number is already in the schedule it was to be moved to'
    END;
    is_now := was;
    is_now.updated_at := at;
    IF fault IS NULL THEN
      is_now.schedule_id := target.id;
      is_now.offer_id := coalesce(target.offer_id, was.offer_id);
      is_now.status := 'scheduled';
      is_now.phase := 'actions';
      is_now.position := NULL;
      is_now.exit_reason := NULL;
      is_now.entered_at := at;
      is_now.next_action_at := at;
      is_now.due_at := at;
      is_now.delay_reason := NULL;
    ELSE
      is_now.status := moving.status_if_ended;
      is_now.is_live := false;
      is_now.due_at := NULL;
      is_now.next_action_at := NULL;
      is_now.schedule_ended_at := at;
    END IF;
    PERFORM store_leads(
      ARRAY[was],
      ARRAY[is_now],
      CASE WHEN fault IS NULL THEN 'moved_to_schedule' ELSE 'ended' END,
      coalesce(moving.status_if_ended || ': ' || fault, target.name),
      NULL
    );
  END LOOP;
END $$;

-- Numbers are locked in the order of their ids, and FOR NO KEY UPDATE, which does not conflict with
-- leads that refer to them, so that two workers never wait for each other.
CREATE OR REPLACE FUNCTION mark_numbers_assigned(company bigint, assigned json, at timestamptz)
RETURNS void LANGUAGE plpgsql STRICT AS $$
DECLARE
  ids CONSTANT bigint[] := ARRAY(SELECT x.id FROM json_to_recordset(assigned) AS x(id bigint));
BEGIN
  PERFORM
    FROM numbers n
    WHERE n.company_id = company AND n.id = ANY (ids)
    ORDER BY n.id
    FOR NO KEY UPDATE;
  UPDATE numbers n
    SET last_assigned_at = at
    WHERE n.company_id = company AND n.id = ANY (ids);
END $$;
