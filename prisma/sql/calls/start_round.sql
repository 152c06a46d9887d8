-- Writes the next round of a known call: what has ended the round before, the caps that it gives
-- back and those that the next buyers take, and what is dialed; or why no buyer is. All of it, or
-- nothing of it: `outcome` is 'started', 'stale': the call is not as it was read (`call_version`;
-- null for a call that is locked already), 'full': the caps that `refused` describes have no room,
-- 'trunk_full': the trunks whose ids it has have no room, or are gone,
-- 'source_full': its traffic source has no room for more dollars than the call holds (`held`), or
-- 'paid_otherwise': buyers that pay for being dialed (`payments` of the round, see begin_calls)
-- assume other payments for the caller than those in `paid`. Where nothing is written, no lock is
-- kept: the body is a transaction of its own within the open one, and variables keep their values.
--
-- Locks, waiting two seconds for each at most: the call, trunks, all caps that change, in their
-- order (lock_caps); then the caller and the lead, where buyers pay.
CREATE OR REPLACE FUNCTION start_round(
  company bigint,
  the_call bigint,
  call_version text,
  at timestamptz,
  ended_attempts json,
  next_round json,
  decision text,
  usages json,
  dials json,
  events json,
  bases json,
  OUT outcome text,
  OUT refused json,
  OUT held numeric,
  OUT paid json
) LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
DECLARE
  was calls;
  is_now calls;
  round_number CONSTANT integer := next_round->>'round';
  end_at CONSTANT timestamptz := next_round->>'ended_at';
  lease_end CONSTANT timestamptz := next_round->>'lease_until';
  buyer CONSTANT bigint := next_round->>'buyer_id';
  payments CONSTANT json := next_round->'payments';
  -- The traffic source of which the call holds more dollars.
  source CONSTANT bigint := next_round->>'source_id';
  source_dollars CONSTANT numeric := next_round->>'source_dollars';
  -- The trunk of this attempt has failed.
  failed_attempt CONSTANT uuid := next_round->'trunk_fault'->>'attempt';
  given_back bigint[];
  caps json;
  attempt bigint;
  payment json;
  detail text;
BEGIN
  was := lock_call(company, the_call, call_version);
  IF was.id IS NULL THEN
    outcome := 'stale';
    RETURN;
  END IF;

  IF failed_attempt IS NOT NULL THEN
    PERFORM record_trunk_fault(
      company, failed_attempt, at, next_round->'trunk_fault'->>'fault',
      ARRAY(SELECT x.trunk_id FROM json_to_recordset(dials) AS x(trunk_id bigint))
    );
  END IF;
  SELECT to_json(r.full_trunk_ids) INTO refused FROM reserve_trunks(company, at, dials) r;
  IF refused IS NOT NULL THEN
    outcome := 'trunk_full';
    RAISE EXCEPTION 'trunks have no room' USING ERRCODE = 'TL001';
  END IF;

  -- The slot of its source is the call's until it ends.
  given_back := ARRAY(
    SELECT s.call_limit_id
    FROM call_slots s
    JOIN call_limits l ON l.company_id = s.company_id AND l.id = s.call_limit_id
    WHERE s.company_id = company AND s.call_id = the_call
      AND (l.traffic_source_id IS NULL OR end_at IS NOT NULL)
  );
  PERFORM lock_caps(
    company,
    given_back
      || ARRAY(SELECT x.limit_id FROM json_to_recordset(usages) AS x(limit_id bigint))
      || ARRAY(
        SELECT l.id
        FROM call_limits l
        WHERE l.company_id = company AND l.traffic_source_id = source
      )
      || list_caps_of_payments(company, payments)
  );
  PERFORM release_caps(company, the_call, given_back);
  SELECT r.refused, r.caps INTO refused, caps
    FROM reserve_locked_caps(company, at, usages) r;
  IF refused IS NULL AND source_dollars IS NOT NULL THEN
    SELECT h.held, h.refused INTO held, refused
      FROM hold_more_of_source(company, at, source, the_call, source_dollars) h;
  END IF;
  IF refused IS NOT NULL THEN
    RAISE EXCEPTION 'caps have no room' USING ERRCODE = 'TL001';
  END IF;

  UPDATE call_attempts a
    SET status = x.status, ended_at = at
    FROM json_to_recordset(ended_attempts) AS x(uuid uuid, status text)
    WHERE a.company_id = company AND a.uuid = x.uuid;

  UPDATE calls c
    SET
      status = next_round->>'status',
      fallback = next_round->>'fallback',
      hangup_cause = next_round->>'hangup_cause',
      ended_at = end_at,
      round = round_number,
      abandoned = c.abandoned OR (
        (next_round->>'abandoned')::boolean
        AND coalesce(c.answered_by, '') NOT IN ('machine', 'fax')
      ),
      updated_at = at,
      buyer_id = coalesce(buyer, c.buyer_id),
      buyer_group_id = CASE
        WHEN buyer IS NULL THEN c.buyer_group_id
        ELSE (next_round->>'buyer_group_id')::bigint
      END,
      connect_to = coalesce(next_round->>'connect_to', c.connect_to),
      recording_url = coalesce(next_round->>'recording_url', c.recording_url),
      total_duration = coalesce(
        extract(epoch FROM end_at - c.created_at)::integer, c.total_duration
      ),
      service_cost = service_cost_after(
        was,
        coalesce(
          extract(epoch FROM end_at - c.created_at)::integer, c.total_duration
        ),
        end_at
      )
    WHERE c.company_id = company AND c.id = the_call
    RETURNING c.* INTO is_now;

  INSERT INTO call_slots (
    company_id, call_id, call_limit_id, connections, conversions, revenue, lease_until, seen_at
  )
    SELECT
      company, the_call, x.limit_id, x.held_connections, x.held_conversions, x.held_revenue,
      lease_end, at
    FROM json_to_recordset(usages) AS x(
      limit_id bigint, slots integer, held_connections integer, held_conversions integer,
      held_revenue numeric
    )
    WHERE x.slots > 0;
  UPDATE call_slots s
    SET lease_until = lease_end, seen_at = at
    WHERE s.company_id = company AND s.call_id = the_call
      AND (s.lease_until <> lease_end OR s.seen_at <> at);

  INSERT INTO decision_bases (company_id, hash, basis)
    SELECT company, x.hash, x.basis
    FROM json_to_recordset(bases) AS x(hash text, basis json)
    ON CONFLICT (company_id, hash) DO NOTHING;
  INSERT INTO call_decisions (company_id, call_id, round, created_at, decision)
    VALUES (company, the_call, round_number, at, (decision || coalesce(caps, '[]') || '}')::json);
  INSERT INTO call_events (company_id, created_at, call_id, event, message, buyer_id, details)
    SELECT company, at, the_call, x.event, x.message, x.buyer_id, x.details
    FROM json_to_recordset(events) AS x(
      n integer, event text, message text, buyer_id bigint, details jsonb
    )
    ORDER BY x.n;

  IF buyer IS NOT NULL OR was.direction = 'outbound' AND end_at IS NOT NULL THEN
    PERFORM queue_call_for_lead(is_now, at);
  END IF;
  PERFORM record_call_change(was, is_now);

  FOR attempt IN
    INSERT INTO call_attempts (
      company_id, uuid, created_at, call_id, round, buyer_id, buyer_group_id, connect_to, status,
      timeout_seconds, press_one_to_accept, dial, bid, bid_duration, trunk_id, routes, ring_until
    )
      SELECT
        company, x.attempt, at, the_call, round_number, x.buyer_id, x.buyer_group_id, x.number,
        'ringing', x.timeout_seconds, x.press_one_to_accept, x.dial, x.bid, x.bid_duration,
        x.trunk_id, x.routes,
        CASE WHEN x.stops_early THEN at + x.timeout_seconds * interval '1 second' END
      FROM json_to_recordset(dials) AS x(
        n integer, attempt uuid, buyer_id bigint, buyer_group_id bigint, number text,
        timeout_seconds integer, press_one_to_accept boolean, dial jsonb, bid numeric,
        bid_duration integer, trunk_id bigint, routes jsonb, stops_early boolean
      )
      ORDER BY x.n
      RETURNING id
  LOOP
    PERFORM record_attempt_event(company, 'buyer_dialled', the_call, attempt);
  END LOOP;
  FOR payment IN SELECT p.payment FROM json_array_elements(payments) AS p(payment) LOOP
    PERFORM pay_at_dial(company, the_call, at, payment);
  END LOOP;
  outcome := 'started';
EXCEPTION
  -- What was given back is held again.
  WHEN SQLSTATE 'TL001' THEN
    outcome := coalesce(outcome, CASE WHEN held IS NULL THEN 'full' ELSE 'source_full' END);
  WHEN SQLSTATE 'TL002' THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    outcome := 'paid_otherwise';
    paid := detail;
END $$;
