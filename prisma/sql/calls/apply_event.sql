-- Writes what an event changes of a call: all of it, or nothing. `outcome` is 'written'; 'stale':
-- the call is not as it was read (`call_version`; null for a call that is locked already); or
-- 'paid_otherwise': payments for the caller are not what the dollars were decided by. They are
-- `buyer_paid` and `source_paid`: calls of the same caller may have been paid for meanwhile.
--
-- `progress` has new values of the call, each null or absent where nothing changes, `releases`: the
-- slots that none of `open_buyers` and `open_groups` needs any more are given back, that of the
-- source at the end. `use` is what the buyer that has the call uses and pays, or absent.
--
-- Locks: the call, all caps that change (lock_caps), the caller of the offer (was_source_paid), the
-- lead.
CREATE OR REPLACE FUNCTION apply_event(
  company bigint,
  the_call bigint,
  call_version text,
  at timestamptz,
  progress json,
  attempts json,
  events json,
  use json,
  OUT outcome text,
  OUT buyer_paid boolean,
  OUT source_paid boolean
) LANGUAGE plpgsql AS $$
DECLARE
  was calls;
  is_now calls;
  lead_was leads;
  lead_now leads;
  p record;
  u record;
  given json;
  changes json;
  seconds integer;
  answered bigint[];
  conversion bigint;
  attempt bigint;
BEGIN
  was := lock_call(company, the_call, call_version);
  IF was.id IS NULL THEN
    outcome := 'stale';
    RETURN;
  END IF;
  SELECT * INTO p
    FROM json_to_record(progress) AS x(
      status text, buyer_id bigint, connect_to text, has_answer boolean, taken_at timestamptz,
      ended_at timestamptz, answered_duration integer, hangup_cause text, recording_url text,
      lease_until timestamptz, releases boolean, open_buyers bigint[], open_groups bigint[]
    );
  SELECT * INTO u
    FROM json_to_record(use) AS x(
      owner_id bigint, owner_group_id bigint, has_use boolean, connection integer, revenue numeric,
      payout numeric, pays_source boolean, buyer_seconds integer, source_seconds integer,
      buyer_paid boolean, source_paid boolean, tokens jsonb, lead_tokens jsonb,
      takes_agent boolean, agent_id bigint, conversion_uuid uuid, conversion_id bigint,
      conversion_name text, conversion_revenue numeric
    );

  -- What each slot gives back: everything if no open buyer needs it, else what the call has used
  -- now, of the buyer that has it, of its group and of the source. For the caps of a source, a call
  -- converts when the source is paid for it.
  SELECT coalesce(json_agg(g), '[]') INTO given
    FROM (
      SELECT
        s.call_limit_id AS limit_id,
        is_released,
        CASE WHEN is_released OR u.connection > 0 AND (is_source OR has_call)
          THEN s.connections ELSE 0
        END AS connections,
        CASE
          WHEN is_released
            OR is_source AND u.pays_source
            OR NOT is_source AND has_call AND converts
            THEN s.conversions
          ELSE 0
        END AS conversions,
        CASE WHEN is_released OR converts AND (is_source OR has_call)
          THEN s.revenue ELSE 0
        END AS revenue
      FROM call_slots s
      JOIN call_limits l ON l.company_id = s.company_id AND l.id = s.call_limit_id
      CROSS JOIN LATERAL (
        SELECT
          u.conversion_uuid IS NOT NULL AS converts,
          l.traffic_source_id IS NOT NULL AS is_source,
          coalesce(l.buyer_id = u.owner_id OR l.buyer_group_id = u.owner_group_id, false)
            AS has_call,
          p.releases
            AND coalesce(l.buyer_id <> ALL (p.open_buyers), true)
            AND coalesce(l.buyer_group_id <> ALL (p.open_groups), true)
            AND (l.traffic_source_id IS NULL OR p.ended_at IS NOT NULL) AS is_released
      ) own
      WHERE s.company_id = company AND s.call_id = the_call
    ) g;
  SELECT
    json_agg(
      json_build_object(
        'limit_id', l.id,
        'connection', CASE WHEN has_call THEN u.connection END,
        -- Of a source, a call converts that it is paid for.
        'buyer_conversion', CASE
          WHEN l.traffic_source_id IS NOT NULL THEN u.pays_source::integer
          WHEN has_call AND u.conversion_uuid IS NOT NULL THEN 1
        END,
        'revenue', CASE WHEN has_call THEN u.revenue END,
        'earned_revenue', CASE WHEN has_call THEN u.revenue - u.payout END,
        'held_connections', -g.connections,
        'held_conversions', -g.conversions,
        'held_revenue', -g.revenue,
        'slots', -g.is_released::integer
      )
    )
  INTO changes
  FROM call_limits l
  LEFT JOIN json_to_recordset(given) AS g(
    limit_id bigint, is_released boolean, connections integer, conversions integer, revenue numeric
  ) ON g.limit_id = l.id
  CROSS JOIN LATERAL (
    SELECT
      l.traffic_source_id IS NOT NULL
        OR coalesce(l.buyer_id = u.owner_id OR l.buyer_group_id = u.owner_group_id, false)
        AS has_call
  ) own
  WHERE l.company_id = company
    AND l.id IN (
      SELECT x.limit_id
      FROM json_to_recordset(given) AS x(
        limit_id bigint, is_released boolean, connections integer, conversions integer,
        revenue numeric
      )
      WHERE x.is_released OR x.connections <> 0 OR x.conversions <> 0 OR x.revenue <> 0
      UNION ALL
      SELECT o.id
      FROM call_limits o
      WHERE u.has_use AND o.company_id = company AND o.buyer_id = u.owner_id
      UNION ALL
      SELECT o.id
      FROM call_limits o
      WHERE u.has_use AND o.company_id = company AND o.buyer_group_id = u.owner_group_id
      UNION ALL
      SELECT o.id
      FROM call_limits o
      WHERE u.has_use
        AND o.company_id = company
        AND o.traffic_source_id = was.traffic_source_id
        AND has_limit(o)
    );

  IF changes IS NOT NULL THEN
    PERFORM lock_caps(
      company, ARRAY(SELECT x.limit_id FROM json_to_recordset(changes) AS x(limit_id bigint))
    );
  END IF;
  IF was.caller_number IS NOT NULL THEN
    buyer_paid := u.buyer_seconds > 0 AND has_buyer_paid(
      company, u.owner_id, was.caller_number, at - u.buyer_seconds * interval '1 second'
    );
    source_paid := u.source_seconds > 0 AND was_source_paid(
      company, was.offer_id, was.caller_number, the_call,
      at - u.source_seconds * interval '1 second'
    );
  ELSE
    buyer_paid := false;
    source_paid := false;
  END IF;
  IF buyer_paid <> u.buyer_paid OR source_paid <> u.source_paid THEN
    outcome := 'paid_otherwise';
    RETURN;
  END IF;

  seconds := CASE
    WHEN p.ended_at IS NULL THEN was.total_duration
    ELSE extract(epoch FROM p.ended_at - was.created_at)::integer
  END;
  UPDATE calls c
    SET
      status = coalesce(p.status, c.status),
      updated_at = at,
      buyer_id = coalesce(p.buyer_id, c.buyer_id),
      connect_to = coalesce(p.connect_to, c.connect_to),
      answered_at = CASE
        WHEN p.has_answer THEN coalesce(c.answered_at, p.taken_at)
        ELSE c.answered_at
      END,
      connected_at = CASE
        WHEN p.buyer_id IS NULL THEN c.connected_at
        ELSE coalesce(c.connected_at, p.taken_at)
      END,
      ended_at = coalesce(p.ended_at, c.ended_at),
      answered_duration = coalesce(p.answered_duration, c.answered_duration),
      total_duration = seconds,
      service_cost = service_cost_after(was, seconds, p.ended_at),
      hangup_cause = coalesce(p.hangup_cause, c.hangup_cause),
      recording_url = coalesce(p.recording_url, c.recording_url),
      agent_id = CASE
        WHEN u.agent_id IS NOT NULL THEN u.agent_id
        WHEN u.takes_agent AND c.agent_id IS NULL THEN find_agent_of_buyer(company, u.owner_id)
        ELSE c.agent_id
      END,
      token_values = c.token_values || coalesce(u.tokens, '{}'),
      revenue = c.revenue + u.revenue,
      buyer_revenue = c.buyer_revenue + u.revenue,
      payout = c.payout + u.payout,
      buyer_converted = c.buyer_converted OR u.conversion_uuid IS NOT NULL,
      traffic_source_converted = c.traffic_source_converted OR u.pays_source,
      buyer_repeat_caller = c.buyer_repeat_caller OR u.buyer_paid,
      traffic_source_repeat_caller = c.traffic_source_repeat_caller OR u.source_paid
    WHERE c.company_id = company AND c.id = the_call
    RETURNING c.* INTO is_now;

  -- A CTE, because the statement returns what was before and what is now.
  WITH changed AS (
    UPDATE call_attempts a
      SET
        status = x.status,
        answered_at = CASE
          WHEN x.status = 'answered' OR x.takes THEN coalesce(a.answered_at, p.taken_at)
          ELSE a.answered_at
        END,
        connected_at = CASE WHEN x.takes THEN p.taken_at ELSE a.connected_at END,
        ended_at = CASE WHEN x.status NOT IN ('ringing', 'answered', 'connected') THEN at END
      FROM json_to_recordset(attempts) AS x(uuid uuid, status text, takes boolean)
      JOIN call_attempts b ON b.company_id = company AND b.uuid = x.uuid
      WHERE a.company_id = company AND a.id = b.id
      RETURNING a.id, b.answered_at IS NULL AND a.answered_at IS NOT NULL AS is_answered
  )
  SELECT array_agg(changed.id ORDER BY changed.id) FILTER (WHERE changed.is_answered)
    INTO answered
    FROM changed;

  DELETE FROM call_slots s
    USING json_to_recordset(given) AS g(limit_id bigint, is_released boolean)
    WHERE s.company_id = company AND s.call_id = the_call AND s.call_limit_id = g.limit_id
      AND g.is_released;
  UPDATE call_slots s
    SET
      lease_until = coalesce(p.lease_until, s.lease_until),
      connections = s.connections - g.connections,
      conversions = s.conversions - g.conversions,
      revenue = s.revenue - g.revenue
    FROM json_to_recordset(given) AS g(
      limit_id bigint, connections integer, conversions integer, revenue numeric
    )
    WHERE s.company_id = company AND s.call_id = the_call AND s.call_limit_id = g.limit_id;
  IF changes IS NOT NULL THEN
    PERFORM change_caps(company, at, changes);
  END IF;

  IF u.revenue <> 0 AND u.owner_id IS NOT NULL THEN
    INSERT INTO account_entries (company_id, created_at, buyer_id, kind, amount, call_id)
      VALUES (company, at, u.owner_id, 'conversion', -u.revenue, the_call);
  END IF;
  IF u.payout <> 0 AND was.traffic_source_id IS NOT NULL THEN
    INSERT INTO account_entries (company_id, created_at, traffic_source_id, kind, amount, call_id)
      VALUES (company, at, was.traffic_source_id, 'payout', u.payout, the_call);
  END IF;
  IF u.conversion_uuid IS NOT NULL THEN
    -- A payout that belongs to no conversion of the call yet becomes part of this one.
    INSERT INTO conversions (
      company_id, uuid, created_at, call_id, buyer_id, buyer_conversion_id, name, caller_number,
      revenue, payout
    )
      VALUES (
        company, u.conversion_uuid, at, the_call, u.owner_id, u.conversion_id, u.conversion_name,
        was.caller_number, u.conversion_revenue,
        is_now.payout - coalesce(
          (
            SELECT sum(other.payout)
            FROM conversions other
            WHERE other.company_id = company
              AND other.call_id = the_call
              AND other.returned_at IS NULL
          ),
          0
        )
      )
      RETURNING id INTO conversion;
  ELSIF u.payout <> 0 THEN
    UPDATE conversions v
      SET payout = v.payout + u.payout
      WHERE v.company_id = company
        AND v.call_id = the_call
        AND v.buyer_id = u.owner_id
        AND v.returned_at IS NULL;
  END IF;

  IF was.lead_id IS NOT NULL
    AND (u.pays_source OR conversion IS NOT NULL OR u.lead_tokens IS NOT NULL)
  THEN
    SELECT l.* INTO lead_was
      FROM leads l
      WHERE l.company_id = company AND l.id = was.lead_id
      FOR NO KEY UPDATE;
    UPDATE leads l
      SET
        revenue = l.revenue + u.revenue,
        payout = l.payout + u.payout,
        offer_converted = l.offer_converted OR u.pays_source,
        buyer_converted = l.buyer_converted OR conversion IS NOT NULL,
        buyer_id = CASE WHEN conversion IS NULL THEN l.buyer_id ELSE u.owner_id END,
        data = CASE
          -- A lead that would exceed its limit of 128 kB keeps the tokens that it has.
          WHEN octet_length((l.data || u.lead_tokens)::text) <= 131072
            THEN l.data || u.lead_tokens
          ELSE l.data
        END,
        updated_at = at
      WHERE l.company_id = company
        AND l.id = was.lead_id
        AND (
          u.pays_source
          OR conversion IS NOT NULL
          OR octet_length((l.data || u.lead_tokens)::text) <= 131072
        )
      RETURNING l.* INTO lead_now;
    IF lead_now.id IS NOT NULL THEN
      IF conversion IS NOT NULL THEN
        lead_now := leave_schedule(lead_now, 'converted');
      END IF;
      PERFORM record_lead_change(lead_was, lead_now);
    END IF;
  END IF;

  INSERT INTO call_events (company_id, created_at, call_id, event, message, buyer_id, details)
    SELECT company, at, the_call, x.event, x.message, x.buyer_id, x.details
    FROM json_to_recordset(events) AS x(
      event text, message text, buyer_id bigint, details jsonb
    );
  IF u.revenue <> 0 THEN
    PERFORM record_low_balance(
      company, l.buyer_id, l.balance, l.credit_limit, l.balance_low_limit
    )
      FROM call_limits l
      WHERE l.company_id = company
        AND l.buyer_id = u.owner_id
        AND l.balance < l.balance_low_limit
        AND l.balance + u.revenue >= l.balance_low_limit;
  END IF;
  PERFORM record_call_change(was, is_now);
  FOREACH attempt IN ARRAY coalesce(answered, '{}') LOOP
    PERFORM record_attempt_event(company, 'buyer_answered', the_call, attempt);
  END LOOP;
  IF conversion IS NOT NULL THEN
    PERFORM record_conversion_event(company, the_call, conversion);
  END IF;
  -- Queues the call for its lead (src/domain/leads/apply-calls.ts). If the lead is being updated at
  -- the moment, this waits: that update may have read the call as it was before.
  IF was.lead_id IS NOT NULL
    AND (p.buyer_id IS NOT NULL OR was.direction = 'outbound' AND p.ended_at IS NOT NULL)
  THEN
    INSERT INTO lead_calls (company_id, call_id, changed_at)
      VALUES (company, the_call, at)
      ON CONFLICT (company_id, call_id) DO UPDATE SET changed_at = excluded.changed_at;
  END IF;
  outcome := 'written';
END $$;
