-- Changes what is paid for a call: conversions, returns, amounts that users set. All of it, or
-- nothing. `outcome` is 'written', or 'paid_otherwise' as that of apply_event().
--
-- `dollars` is decided by src/domain/money/engine/:
--   buyer_id, buyer_group_id: who pays, and whose slots give back what they held for that.
--   revenue, payout: what is added to the call and its lead; less than 0 takes off.
--   buyer_converted, source_converted: what the call is from now on; null for no change.
--   conversion: a new one (uuid, id, name, revenue). conversion_revenue, conversion_payout: what is
--     added to the one that the buyer has.
--   returned: ids of conversions that are taken back. returns_payout: what the source was paid.
--     reason: of both.
--   usages: what counts for caps from now on. taken: what is taken out of windows that count it.
--   entries: of the ledger. tokens: of the call.
--   buyer_seconds, source_seconds, buyer_paid, source_paid: payments for the caller before, as the
--     amounts assume them (find_payments_before).
--
-- Locks: the call, all caps of the call and those that change (lock_caps), the caller of the offer,
-- the lead.
CREATE OR REPLACE FUNCTION settle_call(
  company bigint,
  the_call bigint,
  at timestamptz,
  dollars json,
  events json,
  OUT outcome text,
  OUT buyer_paid boolean,
  OUT source_paid boolean
) LANGUAGE plpgsql AS $$
DECLARE
  was calls;
  is_now calls;
  d record;
  released json;
  entries json;
  changes json;
  conversion bigint;
BEGIN
  was := lock_call(company, the_call, NULL);
  SELECT * INTO d
    FROM json_to_record(dollars) AS x(
      buyer_id bigint, buyer_group_id bigint, revenue numeric, payout numeric,
      buyer_converted boolean, source_converted boolean, tokens jsonb, returned bigint[],
      returns_payout boolean, reason text, usages json, taken json, entries json,
      buyer_paid boolean, source_paid boolean
    );
  released := list_released_slots(
    company, the_call, false, false, NULL, NULL, d.buyer_id, d.buyer_group_id, false,
    d.buyer_converted, d.source_converted
  );
  -- What is returned is what the ledger has: of a call from before there is nothing.
  SELECT json_agg(e) INTO entries
    FROM (
      SELECT e.buyer_id, e.traffic_source_id, 'return' AS kind, -sum(e.amount) AS amount,
        d.reason AS note
      FROM account_entries e
      WHERE e.company_id = company AND e.call_id = the_call
        AND CASE
          WHEN e.traffic_source_id IS NOT NULL THEN d.returns_payout
          ELSE e.buyer_id IN (
            SELECT v.buyer_id
            FROM conversions v
            WHERE v.company_id = company AND v.id = ANY (d.returned)
          )
        END
      GROUP BY e.buyer_id, e.traffic_source_id
      HAVING sum(e.amount) <> 0
      UNION ALL
      SELECT x.buyer_id, x.traffic_source_id, x.kind, x.amount, x.note
      FROM json_to_recordset(d.entries) AS x(
        buyer_id bigint, traffic_source_id bigint, kind text, amount numeric, note text
      )
    ) e;
  changes := list_cap_changes(company, released, d.usages, entries);
  PERFORM lock_caps(
    company,
    ARRAY(
      SELECT s.call_limit_id
      FROM call_slots s
      WHERE s.company_id = company AND s.call_id = the_call
    )
      || ARRAY(SELECT x.limit_id FROM json_to_recordset(changes) AS x(limit_id bigint))
      || list_caps_of_owners(company, d.taken)
  );
  SELECT b.buyer_paid, b.source_paid INTO buyer_paid, source_paid
    FROM find_payments_before(was, at, dollars) b;
  IF buyer_paid <> d.buyer_paid OR source_paid <> d.source_paid THEN
    outcome := 'paid_otherwise';
    RETURN;
  END IF;

  UPDATE calls c
    SET
      updated_at = at,
      token_values = c.token_values || coalesce(d.tokens, '{}'),
      revenue = c.revenue + d.revenue,
      buyer_revenue = c.buyer_revenue + d.revenue,
      payout = c.payout + d.payout,
      buyer_converted = coalesce(d.buyer_converted, c.buyer_converted),
      traffic_source_converted = coalesce(d.source_converted, c.traffic_source_converted),
      unbilled_reason = CASE
        WHEN d.buyer_converted THEN NULL
        WHEN NOT d.buyer_converted THEN 'returned'
        WHEN c.ended_at IS NOT NULL AND NOT c.buyer_converted AND buyer_paid THEN 'duplicate'
        ELSE c.unbilled_reason
      END,
      buyer_repeat_caller = c.buyer_repeat_caller OR buyer_paid,
      traffic_source_repeat_caller = c.traffic_source_repeat_caller OR source_paid
    WHERE c.company_id = company AND c.id = the_call
    RETURNING c.* INTO is_now;
  PERFORM release_slots(company, the_call, at, released, NULL);
  IF changes IS NOT NULL THEN
    PERFORM change_caps(company, at, changes);
    PERFORM record_low_balances(company, changes);
  END IF;
  IF d.taken IS NOT NULL THEN
    PERFORM take_back_usage(company, at, d.taken);
  END IF;
  conversion := record_payments(company, at, is_now, dollars, entries, NULL);
  INSERT INTO call_events (company_id, created_at, call_id, event, message, buyer_id, details)
    SELECT company, at, the_call, x.event, x.message, x.buyer_id, x.details
    FROM json_to_recordset(events) AS x(
      event text, message text, buyer_id bigint, details jsonb
    );
  PERFORM record_call_change(was, is_now);
  IF conversion IS NOT NULL THEN
    PERFORM record_conversion_event(company, the_call, conversion);
  END IF;
  outcome := 'written';
END $$;

-- Settles a call that begins to ring, by a buyer that pays for being dialed. Raises TL002 if
-- payments for the caller are not those that the amounts assume; its detail has them and the buyer.
CREATE OR REPLACE FUNCTION pay_at_dial(
  company bigint, the_call bigint, at timestamptz, payment json
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  settled record;
BEGIN
  settled := settle_call(company, the_call, at, payment->'dollars', payment->'events');
  IF settled.outcome <> 'written' THEN
    RAISE EXCEPTION 'the caller was paid for otherwise' USING
      ERRCODE = 'TL002',
      DETAIL = json_build_object(
        'buyer_id', payment->'dollars'->'buyer_id',
        'buyer_paid', settled.buyer_paid,
        'source_paid', settled.source_paid
      );
  END IF;
END $$;

-- The rows of caps that payments at the dial change. Few calls have any.
CREATE OR REPLACE FUNCTION list_caps_of_payments(company bigint, payments json) RETURNS bigint[]
LANGUAGE plpgsql AS $$
DECLARE
  owners json;
BEGIN
  IF json_array_length(payments) = 0 THEN
    RETURN '{}';
  END IF;
  SELECT json_agg(u.usage) INTO owners
    FROM json_array_elements(payments) AS p(payment)
    CROSS JOIN json_array_elements(p.payment->'dollars'->'usages') AS u(usage);
  RETURN list_caps_of_owners(company, owners);
END $$;
