-- Writes submissions to one offer, or with `in_schedule` to one schedule: each makes a lead, or
-- changes the live lead of its number. Returns the leads as they are then; a lead is new if it has
-- the uuid of its submission. None is returned for a submission that changes nothing:
--   of an owner that was deleted;
--   update_only: there is no live lead; new_only: there is one;
--   only_own_source: the live lead came from another traffic source.
--
-- `numbers` are those of the submissions, in order, none twice. Of a submission, `fields` are the
-- columns that it sets; a live lead keeps the others. `removed` are tokens that its data loses. A
-- lead starts over when that is requested (restart); it is scheduled again when it was stopped and
-- may be contacted now.
--
-- Locks: live leads in the order of their numbers, then new leads in that order, then callbacks. A
-- lead that another transaction has made meanwhile is an error (serialization_failure): the next
-- try changes it.
CREATE OR REPLACE FUNCTION submit_leads(
  company bigint, at timestamptz, at_offer bigint, in_schedule bigint, numbers bigint[],
  submissions json
) RETURNS SETOF leads LANGUAGE plpgsql AS $$
DECLARE
  zip_tokens CONSTANT text[] := ARRAY['zip', 'zip_code', 'postal_code', 'zip_postal_code'];
  stopped CONSTANT text[] := ARRAY['blocked', 'opt_out', 'disabled'];
  owner record;
  live_leads leads[];
  submission record;
  was leads;
  is_now leads;
  is_new boolean;
  starts_over boolean;
  new_leads leads[] := '{}';
  old_rows leads[] := '{}';
  new_rows leads[] := '{}';
  callbacks bigint[] := '{}';
  written leads[] := '{}';
BEGIN
  IF in_schedule IS NULL THEN
    SELECT o.id AS offer_id, o.paused INTO owner
      FROM offers o
      WHERE o.company_id = company AND o.id = at_offer AND o.deleted_at IS NULL;
  ELSE
    SELECT
        coalesce(at_offer, s.offer_id) AS offer_id,
        s.paused OR coalesce(o.paused, false) AS paused
      INTO owner
      FROM schedules s
      LEFT JOIN offers o ON o.company_id = company AND o.id = coalesce(at_offer, s.offer_id)
      WHERE s.company_id = company AND s.id = in_schedule AND s.deleted_at IS NULL;
  END IF;
  IF NOT FOUND THEN
    RETURN;
  END IF;

  -- Each is looked up by itself: for a join, PostgreSQL might read all leads.
  IF in_schedule IS NULL THEN
    live_leads := ARRAY(
      SELECT h.live_lead
      FROM unnest(numbers) n(caller_number)
      CROSS JOIN LATERAL (
        SELECT l AS live_lead
        FROM leads l
        WHERE l.company_id = company AND l.offer_id = at_offer AND l.schedule_id IS NULL
          AND l.caller_number = n.caller_number AND l.is_live
        LIMIT 1
        FOR NO KEY UPDATE
      ) h
    );
  ELSE
    live_leads := ARRAY(
      SELECT h.live_lead
      FROM unnest(numbers) n(caller_number)
      CROSS JOIN LATERAL (
        SELECT l AS live_lead
        FROM leads l
        WHERE l.company_id = company AND l.schedule_id = in_schedule
          AND l.caller_number = n.caller_number AND l.is_live
        LIMIT 1
        FOR NO KEY UPDATE
      ) h
    );
  END IF;

  FOR submission IN
    SELECT
      x.*,
      w AS live_lead,
      CASE
        WHEN k.blocked OR r.blocked THEN 'blocked'
        WHEN k.opt_out OR r.opt_out THEN 'opt_out'
        WHEN owner.paused THEN 'disabled'
        WHEN x.callback_at IS NOT NULL THEN 'waiting'
        WHEN in_schedule IS NULL THEN 'queue'
        ELSE 'scheduled'
      END AS status
    FROM json_to_recordset(submissions) AS x(
      uuid uuid, caller_number bigint, fields jsonb, data jsonb, removed text[], zones text[],
      next_action_at timestamptz, callback_at timestamptz, restart boolean, update_only boolean,
      new_only boolean, moves_source boolean, only_own_source boolean, triggered_by bigint[]
    )
    LEFT JOIN unnest(live_leads) w ON w.caller_number = x.caller_number
    LEFT JOIN contacts k ON k.company_id = company AND k.caller_number = x.caller_number
    LEFT JOIN LATERAL (
      SELECT bool_or(y.blocked) AS blocked, bool_or(y.opt_out) AS opt_out
      FROM contact_restrictions y
      WHERE y.company_id = company AND y.caller_number = x.caller_number
        AND (y.offer_id = owner.offer_id OR y.schedule_id = in_schedule)
    ) r ON true
    ORDER BY x.caller_number
  LOOP
    was := submission.live_lead;
    is_new := was.id IS NULL;
    CONTINUE WHEN is_new AND submission.update_only OR NOT is_new AND submission.new_only;
    CONTINUE WHEN NOT is_new AND submission.only_own_source
      AND was.traffic_source_id IS DISTINCT FROM (submission.fields->>'traffic_source_id')::bigint;

    is_now := jsonb_populate_record(was, submission.fields);
    -- Else whoever knows a number could make the lead its own, and read it.
    IF NOT is_new AND submission.moves_source IS NOT TRUE THEN
      is_now.traffic_source_id := was.traffic_source_id;
    END IF;
    IF is_new THEN
      is_now.company_id := company;
      is_now.uuid := submission.uuid;
      is_now.created_at := at;
      is_now.first_queued_at := at;
      is_now.schedule_id := in_schedule;
      is_now.caller_number := submission.caller_number;
      is_now.triggered_by := submission.triggered_by;
      is_now.data := '{}';
    END IF;
    is_now.updated_at := at;
    is_now.user_updated_at := at;
    is_now.offer_id := coalesce(at_offer, was.offer_id, owner.offer_id);
    is_now.data := (is_now.data - coalesce(submission.removed, '{}')) || submission.data;
    IF is_new OR submission.data ?| zip_tokens OR submission.removed && zip_tokens THEN
      is_now.zones := submission.zones;
    END IF;

    IF is_new OR submission.restart THEN
      is_now.entered_at := at;
      is_now.phase := 'actions';
      is_now.position := NULL;
      is_now.exit_reason := NULL;
      is_now.contact_attempts := 0;
      is_now.tries := 0;
      is_now.suppressed := false;
      is_now.unreachable := false;
    END IF;
    IF submission.next_action_at IS NOT NULL THEN
      is_now.next_action_at := submission.next_action_at;
    ELSIF is_new OR submission.restart THEN
      is_now.next_action_at := CASE WHEN in_schedule IS NOT NULL THEN at END;
    END IF;
    IF submission.callback_at IS NOT NULL THEN
      is_now.callback_at := submission.callback_at;
      is_now.scheduled_callback_id := nextval('scheduled_callbacks_id_seq');
      callbacks := callbacks || is_now.scheduled_callback_id;
    END IF;
    starts_over := is_new
      OR submission.restart
      OR was.status = ANY (stopped)
      OR submission.next_action_at IS NOT NULL
      OR submission.callback_at IS NOT NULL;
    IF submission.status = ANY (stopped) THEN
      is_now.status := submission.status;
      is_now.due_at := NULL;
      is_now.claim_id := NULL;
    ELSIF starts_over THEN
      is_now.status := submission.status;
      is_now.due_at := coalesce(
        submission.callback_at,
        CASE
          WHEN in_schedule IS NULL
          THEN at + (submission.fields->>'expires_in')::integer * interval '1 minute'
          ELSE coalesce(submission.next_action_at, at)
        END
      );
      is_now.claim_id := NULL;
    ELSIF submission.fields ?| ARRAY['expires_in', 'hours_to_expire', 'max_contact_attempts'] THEN
      is_now.due_at := at;
      is_now.claim_id := NULL;
    END IF;

    IF is_new THEN
      new_leads := new_leads || is_now;
    ELSE
      old_rows := old_rows || was;
      new_rows := new_rows || is_now;
    END IF;
  END LOOP;

  IF cardinality(new_leads) > 0 THEN
    written := insert_leads(new_leads);
    IF cardinality(written) IS DISTINCT FROM cardinality(new_leads) THEN
      RAISE EXCEPTION 'a lead was made meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
    -- Asked once for all: most companies have neither.
    IF has_trigger_for(company, 'lead_created')
      OR has_webhook_for(company, ARRAY['new_lead_created'])
    THEN
      FOREACH is_now IN ARRAY written LOOP
        PERFORM record_new_lead(is_now);
      END LOOP;
    END IF;
  END IF;
  IF cardinality(new_rows) > 0 THEN
    written := written || ARRAY(
      SELECT s FROM store_leads(old_rows, new_rows, NULL, NULL, NULL) s
    );
  END IF;

  IF cardinality(callbacks) > 0 THEN
    UPDATE scheduled_callbacks c
      SET status = 'replaced'
      FROM unnest(written) w
      WHERE w.scheduled_callback_id = ANY (callbacks)
        AND c.company_id = company AND c.lead_id = w.id AND c.status = 'pending';
    INSERT INTO scheduled_callbacks (company_id, id, created_at, lead_id, callback_at)
      SELECT company, w.scheduled_callback_id, at, w.id, w.callback_at
      FROM unnest(written) w
      WHERE w.scheduled_callback_id = ANY (callbacks);
  END IF;
  INSERT INTO lead_logs (company_id, created_at, lead_id, event, message, details)
    SELECT company, at, w.id, entry.event, entry.message, entry.details
    FROM unnest(written) w
    JOIN json_to_recordset(submissions) AS s(
      uuid uuid, caller_number bigint, next_action_at timestamptz, callback_at timestamptz,
      restart boolean, sender json, note text
    ) ON s.caller_number = w.caller_number
    CROSS JOIN LATERAL (VALUES
      (1, CASE WHEN w.uuid = s.uuid THEN 'created' ELSE 'updated' END, s.note, s.sender),
      (2, CASE WHEN s.restart AND w.uuid <> s.uuid THEN 'restarted' END,
        'asked for by a submission', NULL),
      (3, CASE WHEN s.next_action_at IS NOT NULL THEN 'next_action_changed' END,
        iso_local(s.next_action_at, 'UTC'), NULL),
      (4, CASE WHEN s.callback_at IS NOT NULL THEN 'callback_scheduled' END,
        iso_local(s.callback_at, 'UTC'), NULL),
      (5, CASE WHEN w.status = 'disabled' THEN 'disabled' END, 'its offer or schedule is paused',
        NULL),
      (6, CASE WHEN w.status = 'blocked' THEN 'blocked' END, 'its number is blocked', NULL),
      (7, CASE WHEN w.status = 'opt_out' THEN 'opted_out' END, 'its number has opted out', NULL)
    ) entry(n, event, message, details)
    WHERE entry.event IS NOT NULL
    ORDER BY entry.n;
  IF cardinality(new_leads) > 0 THEN
    PERFORM count_next_actions(
      company,
      '{}',
      ARRAY(
        SELECT next_action_hour(n.due_at, n.callback_at, n.next_action_at) FROM unnest(new_leads) n
      )
    );
    INSERT INTO record_counts AS k (company_id, resource, slot, n)
      VALUES (company, 'leads', pg_backend_pid() % 64, cardinality(new_leads))
      ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = k.n + excluded.n;
  END IF;
  FOREACH is_now IN ARRAY written LOOP
    RETURN NEXT is_now;
  END LOOP;
END $$;
