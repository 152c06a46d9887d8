-- Begins calls that arrive at the same time, in their order: for each the caps of the buyers that
-- are dialed, the call, attempts, slots, decision and events. Returns a row for each call:
--   begun: its id.
--   known: it was reported before; the id of that call.
--   full: caps have no room, which `refused` describes.
--   trunk_full: trunks have no room, or are gone; `refused` has their ids.
--   hold_gone: the reservation that it would take over has expired, or another call was first.
-- Of a call that is not begun, nothing is written.
--
-- `new_calls` has an object for each call: when it begins (at), and its columns. The other lists
-- name a call by its `index`: `usages`, the argument of reserve_locked_caps(); `decisions` with the
-- `caps` that they store of a call that takes over a reservation (hold_id) and so has no usages;
-- `payments` of buyers that pay for being dialed, each with the arguments of settle_call(): an
-- error (TL002) if they assume other payments for the caller. They are lists of their own because a
-- list is read as a whole wherever a part of it is. `waits`: for another transaction that begins
-- the same call; else that is an error (unique_violation).
--
-- Locks: trunks, the ids that carriers give to calls, reservations, caps (lock_caps), then the
-- counts of calls, where nobody waits for another; callers and leads, by number, where buyers pay.
CREATE OR REPLACE FUNCTION begin_calls(
  company bigint,
  new_calls json,
  usages json,
  decisions json,
  waits boolean,
  dials json,
  slots json,
  events json,
  bases json,
  payments json
) RETURNS TABLE (index integer, outcome text, id bigint, refused json) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  wanting record;
  known_id bigint;
  ping bigint;
  left_out integer[] := '{}';
  full_trunks record;
  to_reserve json;
  limit_ids bigint[];
  latest timestamptz;
  window_began timestamptz;
  reserved record;
  reserved_indexes integer[] := '{}';
  caps_before text[] := '{}';
  pinged_indexes integer[] := '{}';
  pings bigint[] := '{}';
  indexes integer[];
  ids bigint[];
  times timestamptz[];
  begun calls;
  attempt record;
  paying record;
BEGIN
  SELECT max(x.at) INTO latest FROM json_to_recordset(new_calls) AS x(at timestamptz);
  FOR full_trunks IN SELECT * FROM reserve_trunks(company, latest, dials) LOOP
    left_out := left_out || full_trunks.index;
    RETURN QUERY
      SELECT full_trunks.index, 'trunk_full', NULL::bigint, to_json(full_trunks.full_trunk_ids);
  END LOOP;
  FOR wanting IN
    SELECT *
    FROM json_to_recordset(new_calls) AS x(
      index integer, at timestamptz, carrier text, carrier_call_id text, hold_id bigint
    )
    WHERE (x.carrier_call_id IS NOT NULL OR x.hold_id IS NOT NULL)
      AND x.index <> ALL (left_out)
    ORDER BY x.hold_id
  LOOP
    IF wanting.carrier_call_id IS NOT NULL THEN
      PERFORM claim_call_sid(company, wanting.carrier, wanting.carrier_call_id, waits);
      SELECT c.id INTO known_id
        FROM calls c
        WHERE c.company_id = company
          AND c.carrier = wanting.carrier
          AND c.carrier_call_id = wanting.carrier_call_id;
      IF FOUND THEN
        left_out := left_out || wanting.index;
        RETURN QUERY SELECT wanting.index, 'known', known_id, NULL::json;
        CONTINUE;
      END IF;
    END IF;
    IF wanting.hold_id IS NOT NULL THEN
      DELETE FROM call_holds h
        WHERE h.company_id = company
          AND h.id = wanting.hold_id
          AND h.ping_id IS NOT NULL
          AND h.expires_at > wanting.at
        RETURNING h.ping_id INTO ping;
      IF NOT FOUND THEN
        left_out := left_out || wanting.index;
        RETURN QUERY SELECT wanting.index, 'hold_gone', NULL::bigint, NULL::json;
        CONTINUE;
      END IF;
      pinged_indexes := pinged_indexes || wanting.index;
      pings := pings || ping;
    END IF;
  END LOOP;

  to_reserve := CASE
    WHEN left_out = '{}' THEN usages
    ELSE pick_usages(
      usages,
      ARRAY(
        SELECT x.index
        FROM json_to_recordset(new_calls) AS x(index integer)
        WHERE x.index <> ALL (left_out)
      )
    )
  END;
  limit_ids := ARRAY(SELECT u.limit_id FROM json_to_recordset(to_reserve) AS u(limit_id bigint));
  PERFORM lock_caps(company, limit_ids || list_caps_of_payments(company, payments));
  -- Another process may have begun a call in the next hour already, and ended the windows of this
  -- one, and calls of a batch may be of both: those that come a little late are of the next hour.
  -- In every zone, windows end at a quarter of an hour.
  window_began := date_bin('15 minutes', latest, 'epoch');
  SELECT greatest(window_began, max(l.hourly_resets_at) - interval '1 hour') INTO window_began
    FROM call_limits l
    WHERE l.company_id = company AND l.id = ANY (limit_ids);
  FOR reserved IN
    SELECT *
    FROM reserve_locked_caps(company, to_window(latest, window_began), to_reserve)
  LOOP
    IF reserved.refused IS NULL THEN
      reserved_indexes := reserved_indexes || reserved.index;
      caps_before := caps_before || reserved.caps::text;
    ELSE
      left_out := left_out || reserved.index;
      RETURN QUERY SELECT reserved.index, 'full', NULL::bigint, reserved.refused;
    END IF;
  END LOOP;
  SELECT array_agg(b.index), array_agg(nextval('calls_id_seq')), array_agg(b.at)
    INTO indexes, ids, times
    FROM (
      SELECT x.index, to_window(x.at, window_began) AS at
      FROM json_to_recordset(new_calls) AS x(index integer, at timestamptz)
      WHERE x.index <> ALL (left_out)
      ORDER BY x.index
    ) b;
  IF ids IS NULL THEN
    RETURN;
  END IF;

  INSERT INTO decision_bases (company_id, hash, basis)
    SELECT company, x.hash, x.basis
    FROM json_to_recordset(bases) AS x(hash text, basis json)
    ON CONFLICT (company_id, hash) DO NOTHING;

  INSERT INTO calls (
    id, company_id, uuid, created_at, updated_at, direction, status, carrier, carrier_call_id,
    from_number, caller_number, caller_country, caller_city, caller_state, caller_zip, to_number,
    number_id, offer_id, lead_id, schedule_id, traffic_source_id, sub_id, contact_field_type,
    token_values, round, fallback, hangup_cause, ended_at, buyer_id, buyer_group_id, connect_to,
    switch_id, service_cost
  )
    SELECT
      b.id, company, x.uuid, b.at, b.at, 'inbound', x.status, x.carrier, x.carrier_call_id,
      x.caller_number, x.caller_number, x.caller_country, x.caller_city, x.caller_state,
      x.caller_zip, x.number_called, x.number_id, x.offer_id, x.lead_id, x.schedule_id,
      x.traffic_source_id, x.sub_id, x.contact_field_type, x.token_values, 1, x.fallback,
      x.hangup_cause, x.ended_at, x.buyer_id, x.buyer_group_id, x.connect_to, x.switch_id,
      service_cost_of(company, NULL, b.at, x.ended_at)
    FROM unnest(indexes, ids, times) AS b(index, id, at)
    JOIN json_to_recordset(new_calls) AS x(
      index integer, uuid uuid, status text, carrier text, carrier_call_id text,
      caller_number bigint, caller_country text, caller_city text, caller_state text,
      caller_zip text, number_called bigint, number_id bigint, offer_id bigint, lead_id bigint,
      schedule_id bigint, traffic_source_id bigint, sub_id text, contact_field_type text,
      token_values jsonb, fallback text, hangup_cause text, ended_at timestamptz, buyer_id bigint,
      buyer_group_id bigint, connect_to text, switch_id bigint
    ) ON x.index = b.index
    ORDER BY b.id;

  INSERT INTO call_attempts (
    company_id, uuid, created_at, call_id, round, buyer_id, buyer_group_id, connect_to, status,
    timeout_seconds, press_one_to_accept, dial, bid, bid_duration, trunk_id, routes, ring_until
  )
    SELECT
      company, x.attempt, b.at, b.id, 1, x.buyer_id, x.buyer_group_id, x.number, 'ringing',
      x.timeout_seconds, x.press_one_to_accept, x.dial, x.bid, x.bid_duration,
      x.trunk_id, x.routes,
      CASE WHEN x.stops_early THEN b.at + x.timeout_seconds * interval '1 second' END
    FROM unnest(indexes, ids, times) AS b(index, id, at)
    JOIN json_to_recordset(dials) AS x(
      index integer, n integer, attempt uuid, buyer_id bigint, buyer_group_id bigint, number text,
      timeout_seconds integer, press_one_to_accept boolean, dial jsonb, bid numeric,
      bid_duration integer, trunk_id bigint, routes jsonb, stops_early boolean
    ) ON x.index = b.index
    ORDER BY b.id, x.n;

  INSERT INTO call_slots (
    company_id, call_id, call_limit_id, connections, conversions, revenue, lease_until, seen_at
  )
    SELECT
      company, b.id, x.call_limit_id, x.connections, x.conversions, x.revenue, x.lease_until, b.at
    FROM unnest(indexes, ids, times) AS b(index, id, at)
    JOIN json_to_recordset(slots) AS x(
      index integer, call_limit_id bigint, connections integer, conversions integer,
      revenue numeric, lease_until timestamptz
    ) ON x.index = b.index;

  INSERT INTO call_decisions (company_id, call_id, round, created_at, decision)
    SELECT company, b.id, 1, b.at, (x.decision || coalesce(r.caps, x.caps) || '}')::json
    FROM unnest(indexes, ids, times) AS b(index, id, at)
    JOIN json_to_recordset(decisions) AS x(index integer, decision text, caps text)
      ON x.index = b.index
    LEFT JOIN unnest(reserved_indexes, caps_before) AS r(index, caps) ON r.index = b.index;

  INSERT INTO call_events (company_id, created_at, call_id, event, message, buyer_id, details)
    SELECT company, b.at, b.id, x.event, x.message, x.buyer_id, x.details
    FROM unnest(indexes, ids, times) AS b(index, id, at)
    JOIN json_to_recordset(events) AS x(
      index integer, n integer, event text, message text, buyer_id bigint, details jsonb
    ) ON x.index = b.index
    ORDER BY b.id, x.n;

  IF cardinality(pings) > 0 THEN
    UPDATE pings p
      SET call_id = b.id
      FROM unnest(pinged_indexes, pings) AS t(index, ping_id)
      JOIN unnest(indexes, ids) AS b(index, id) ON b.index = t.index
      WHERE p.company_id = company AND p.id = t.ping_id;
  END IF;

  FOR begun IN
    SELECT c.* FROM calls c WHERE c.company_id = company AND c.id = ANY (ids) ORDER BY c.id
  LOOP
    IF begun.buyer_id IS NOT NULL THEN
      PERFORM queue_call_for_lead(begun, begun.created_at);
    END IF;
    PERFORM record_new_call(begun);
  END LOOP;
  FOR attempt IN
    SELECT a.id, a.call_id
    FROM call_attempts a
    WHERE a.company_id = company AND a.call_id = ANY (ids)
    ORDER BY a.id
  LOOP
    PERFORM record_attempt_event(company, 'buyer_dialled', attempt.call_id, attempt.id);
  END LOOP;
  INSERT INTO record_counts AS k (company_id, resource, slot, n)
    VALUES (company, 'calls', pg_backend_pid() % 64, cardinality(ids))
    ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = k.n + excluded.n;
  FOR paying IN
    SELECT b.id, b.at, p.payment
    FROM json_array_elements(payments) WITH ORDINALITY AS p(payment, n)
    JOIN unnest(indexes, ids, times) AS b(index, id, at)
      ON b.index = (p.payment->>'index')::integer
    ORDER BY (p.payment->>'caller_number')::bigint, b.id, p.n
  LOOP
    PERFORM pay_at_dial(company, paying.id, paying.at, paying.payment);
  END LOOP;

  RETURN QUERY SELECT b.index, 'begun', b.id, NULL::json FROM unnest(indexes, ids) AS b(index, id);
END $$;

-- The time of a call of a batch whose windows began at a time: not before them, if it is only a
-- little late.
CREATE OR REPLACE FUNCTION to_window(at timestamptz, window_began timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN window_began BETWEEN at AND at + interval '1 minute' THEN window_began
    ELSE at
  END
$$;

-- Begins one call in an open transaction. If it is not begun, no lock is kept: the block is a
-- transaction of its own within the open one, and variables keep their values when it fails. Of a
-- call that buyers pay for, `outcome` may be 'paid_otherwise', with the payments in `paid`. It
-- waits two seconds for a lock (lock_not_available): a caller who hears nothing hangs up.
CREATE OR REPLACE FUNCTION try_begin_call(
  company bigint,
  new_calls json,
  usages json,
  decisions json,
  dials json,
  slots json,
  events json,
  bases json,
  payments json,
  OUT index integer,
  OUT outcome text,
  OUT id bigint,
  OUT refused json,
  OUT paid json
) LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
DECLARE
  detail text;
BEGIN
  SELECT r.index, r.outcome, r.id, r.refused INTO index, outcome, id, refused
    FROM begin_calls(
      company, new_calls, usages, decisions, true, dials, slots, events, bases, payments
    ) r;
  IF outcome <> 'begun' THEN
    RAISE EXCEPTION 'the call is not begun' USING ERRCODE = 'TL001';
  END IF;
EXCEPTION
  WHEN SQLSTATE 'TL001' THEN
    RETURN;
  WHEN SQLSTATE 'TL002' THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    outcome := 'paid_otherwise';
    paid := detail;
END $$;
