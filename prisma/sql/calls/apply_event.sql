-- Writes what an event changes of a call: all of it, or nothing. `outcome` is 'written'; 'stale':
-- the call is not as it was read (`call_version`; null for a call that is locked already); or
-- 'paid_otherwise': payments for the caller are not what the dollars were decided by. They are
-- `buyer_paid` and `source_paid`: calls of the same caller may have been paid for meanwhile.
--
-- `progress` has new values of the call, each null or absent where nothing changes. The slots that
-- none of `open_buyers` and `open_groups` needs any more are given back, that of the source at the
-- end; `tokens` are added to those of the call and its lead. `dollars` is that of settle_call():
-- what the buyer that has the call uses and pays.
--
-- `failed_attempt` is one whose trunk has failed (trunk_fault), `reached_trunk` one through which
-- the call has reached a telephone.
--
-- Locks: the call, a trunk, all caps that change (lock_caps), the caller of the offer
-- (was_source_paid), the lead.
CREATE OR REPLACE FUNCTION apply_event(
  company bigint,
  the_call bigint,
  call_version text,
  at timestamptz,
  progress json,
  attempts json,
  events json,
  dollars json,
  OUT outcome text,
  OUT buyer_paid boolean,
  OUT source_paid boolean
) LANGUAGE plpgsql AS $$
DECLARE
  was calls;
  is_now calls;
  p record;
  d record;
  released json;
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
      status text, buyer_id bigint, buyer_group_id bigint, connect_to text, has_answer boolean,
      taken_at timestamptz, ended_at timestamptz, answered_duration integer, hangup_cause text,
      recording_url text, lease_until timestamptz, open_buyers bigint[], open_groups bigint[],
      takes boolean, agent_id bigint, tokens jsonb, unbilled_reason text, ends_fallback boolean,
      failed_attempt uuid, trunk_fault text, reached_trunk bigint
    );
  SELECT * INTO d
    FROM json_to_record(dollars) AS x(
      buyer_id bigint, buyer_group_id bigint, revenue numeric, payout numeric,
      buyer_converted boolean, source_converted boolean, tokens jsonb, buyer_paid boolean,
      source_paid boolean, usages json, entries json
    );

  IF p.failed_attempt IS NOT NULL THEN
    PERFORM record_trunk_fault(company, p.failed_attempt, at, p.trunk_fault);
  END IF;
  IF p.reached_trunk IS NOT NULL THEN
    PERFORM clear_trunk_faults(company, p.reached_trunk);
  END IF;

  released := list_released_slots(
    company, the_call, true, p.ended_at IS NOT NULL, p.open_buyers, p.open_groups, d.buyer_id,
    d.buyer_group_id, p.takes, d.buyer_converted, d.source_converted
  );
  changes := list_cap_changes(company, released, d.usages, d.entries);
  IF changes IS NOT NULL THEN
    PERFORM lock_caps(
      company, ARRAY(SELECT x.limit_id FROM json_to_recordset(changes) AS x(limit_id bigint))
    );
  END IF;
  SELECT b.buyer_paid, b.source_paid INTO buyer_paid, source_paid
    FROM find_payments_before(was, at, dollars) b;
  IF buyer_paid <> d.buyer_paid OR source_paid <> d.source_paid THEN
    outcome := 'paid_otherwise';
    RETURN;
  END IF;

  seconds := CASE
    WHEN p.ended_at IS NULL THEN was.total_duration
    -- A call of the sandbox is played in no time.
    WHEN was.carrier = 'sandbox' THEN
      greatest(extract(epoch FROM p.ended_at - was.created_at)::integer, p.answered_duration)
    ELSE extract(epoch FROM p.ended_at - was.created_at)::integer
  END;
  UPDATE calls c
    SET
      status = coalesce(p.status, c.status),
      updated_at = at,
      buyer_id = coalesce(p.buyer_id, c.buyer_id),
      buyer_group_id = CASE
        WHEN p.buyer_id IS NULL THEN c.buyer_group_id
        ELSE p.buyer_group_id
      END,
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
      fallback_ended_at = CASE WHEN p.ends_fallback THEN at ELSE c.fallback_ended_at END,
      recording_url = coalesce(p.recording_url, c.recording_url),
      agent_id = CASE
        WHEN p.agent_id IS NOT NULL THEN p.agent_id
        WHEN p.takes AND c.agent_id IS NULL THEN find_agent_of_buyer(company, d.buyer_id)
        ELSE c.agent_id
      END,
      token_values =
        c.token_values || coalesce(p.tokens, '{}') || coalesce(d.tokens, '{}'),
      revenue = c.revenue + d.revenue,
      buyer_revenue = c.buyer_revenue + d.revenue,
      payout = c.payout + d.payout,
      buyer_converted = coalesce(d.buyer_converted, c.buyer_converted),
      traffic_source_converted = coalesce(d.source_converted, c.traffic_source_converted),
      unbilled_reason = CASE
        WHEN NOT coalesce(d.buyer_converted, c.buyer_converted)
          THEN coalesce(p.unbilled_reason, c.unbilled_reason)
      END,
      buyer_repeat_caller = c.buyer_repeat_caller OR buyer_paid,
      traffic_source_repeat_caller = c.traffic_source_repeat_caller OR source_paid
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

  PERFORM release_slots(company, the_call, at, released, p.lease_until);
  IF changes IS NOT NULL THEN
    PERFORM change_caps(company, at, changes);
    PERFORM record_low_balances(company, changes);
  END IF;
  IF num_nonnulls(d.buyer_converted, d.source_converted, p.tokens) > 0 THEN
    conversion := record_payments(company, at, is_now, dollars, d.entries, p.tokens);
  END IF;
  INSERT INTO call_events (company_id, created_at, call_id, event, message, buyer_id, details)
    SELECT company, at, the_call, x.event, x.message, x.buyer_id, x.details
    FROM json_to_recordset(events) AS x(
      event text, message text, buyer_id bigint, details jsonb
    );
  PERFORM record_call_change(was, is_now);
  FOREACH attempt IN ARRAY coalesce(answered, '{}') LOOP
    PERFORM record_attempt_event(company, 'buyer_answered', the_call, attempt);
  END LOOP;
  IF conversion IS NOT NULL THEN
    PERFORM record_conversion_event(company, the_call, conversion);
  END IF;
  IF p.buyer_id IS NOT NULL OR was.direction = 'outbound' AND p.ended_at IS NOT NULL THEN
    PERFORM queue_call_for_lead(is_now, at);
  END IF;
  outcome := 'written';
END $$;
