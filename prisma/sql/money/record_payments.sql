-- Writes what a change of a call does to the ledger, to its conversions and to its lead; the call
-- and its caps are written already. Returns the conversion that is new, if there is one. `dollars`
-- is that of settle_call().
--
-- Locks: the lead.
CREATE OR REPLACE FUNCTION record_payments(
  company bigint, at timestamptz, is_now calls, dollars json, entries json, lead_tokens jsonb
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  d record;
  conversion bigint;
  lead_was leads;
  lead_now leads;
BEGIN
  SELECT * INTO d
    FROM json_to_record(dollars) AS x(
      buyer_id bigint, revenue numeric, payout numeric, buyer_converted boolean,
      source_converted boolean, conversion json, conversion_revenue numeric,
      conversion_payout numeric, returned bigint[], returns_payout boolean, reason text
    );
  INSERT INTO account_entries (
    company_id, created_at, buyer_id, traffic_source_id, kind, amount, call_id, note
  )
    SELECT
      company, entry_time(company, at, x.buyer_id, x.traffic_source_id), x.buyer_id,
      x.traffic_source_id, x.kind, x.amount, is_now.id, x.note
    FROM json_to_recordset(entries) AS x(
      buyer_id bigint, traffic_source_id bigint, kind text, amount numeric, note text
    );
  IF cardinality(d.returned) > 0 THEN
    UPDATE conversions v
      SET returned_at = at, return_reason = d.reason
      WHERE v.company_id = company AND v.id = ANY (d.returned);
  END IF;
  IF d.returns_payout THEN
    UPDATE conversions v
      SET payout = 0
      WHERE v.company_id = company AND v.call_id = is_now.id AND v.returned_at IS NULL;
  END IF;
  IF d.conversion IS NOT NULL THEN
    -- A payout that belongs to no conversion of the call yet becomes part of this one.
    INSERT INTO conversions (
      company_id, uuid, created_at, call_id, buyer_id, buyer_conversion_id, name, caller_number,
      revenue, payout
    )
      SELECT
        company, x.uuid, at, is_now.id, d.buyer_id, x.id, x.name, is_now.caller_number, x.revenue,
        is_now.payout - coalesce(
          (
            SELECT sum(other.payout)
            FROM conversions other
            WHERE other.company_id = company
              AND other.call_id = is_now.id
              AND other.returned_at IS NULL
          ),
          0
        )
      FROM json_to_record(d.conversion) AS x(uuid uuid, id bigint, name text, revenue numeric)
      RETURNING id INTO conversion;
  ELSIF d.conversion_revenue <> 0 OR d.conversion_payout <> 0 THEN
    UPDATE conversions v
      SET revenue = v.revenue + d.conversion_revenue, payout = v.payout + d.conversion_payout
      WHERE v.company_id = company
        AND v.call_id = is_now.id
        AND v.buyer_id = d.buyer_id
        AND v.returned_at IS NULL;
  END IF;

  IF is_now.lead_id IS NULL OR num_nonnulls(
    nullif(d.revenue, 0), nullif(d.payout, 0), d.buyer_converted, d.source_converted, lead_tokens
  ) = 0 THEN
    RETURN conversion;
  END IF;
  SELECT l.* INTO lead_was
    FROM leads l
    WHERE l.company_id = company AND l.id = is_now.lead_id
    FOR NO KEY UPDATE;
  lead_now := lead_was;
  lead_now.revenue := lead_was.revenue + d.revenue;
  lead_now.payout := lead_was.payout + d.payout;
  -- It stays converted while another of its calls is.
  lead_now.buyer_converted := CASE d.buyer_converted
    WHEN false THEN lead_was.buyer_converted AND EXISTS (
      SELECT
      FROM calls other
      WHERE other.company_id = company
        AND other.lead_id = lead_was.id
        AND other.id <> is_now.id
        AND other.buyer_converted
    )
    ELSE coalesce(d.buyer_converted, lead_was.buyer_converted)
  END;
  lead_now.offer_converted := CASE d.source_converted
    WHEN false THEN EXISTS (
      SELECT
      FROM calls other
      WHERE other.company_id = company
        AND other.lead_id = lead_was.id
        AND other.id <> is_now.id
        AND other.traffic_source_converted
    )
    ELSE coalesce(d.source_converted, lead_was.offer_converted)
  END;
  -- A lead that would exceed its limit of 128 kB keeps the tokens that it has.
  IF octet_length((lead_was.data || lead_tokens)::text) <= 131072 THEN
    lead_now.data := lead_was.data || lead_tokens;
  END IF;
  IF conversion IS NOT NULL THEN
    lead_now.buyer_id := d.buyer_id;
  END IF;
  IF lead_now IS DISTINCT FROM lead_was THEN
    lead_now.updated_at := at;
    UPDATE leads l
      SET
        revenue = lead_now.revenue,
        payout = lead_now.payout,
        buyer_converted = lead_now.buyer_converted,
        offer_converted = lead_now.offer_converted,
        data = lead_now.data,
        buyer_id = lead_now.buyer_id,
        updated_at = at
      WHERE l.company_id = company AND l.id = lead_was.id;
    IF conversion IS NOT NULL THEN
      lead_now := leave_schedule(lead_now, 'converted');
    END IF;
    PERFORM record_lead_change(lead_was, lead_now);
  END IF;
  RETURN conversion;
END $$;

-- When an amount of a call is entered: at its own time, unless a statement of that time is drawn up
-- already, which never changes. Then the next statement has it.
CREATE OR REPLACE FUNCTION entry_time(
  company bigint, at timestamptz, buyer bigint, source bigint
) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN greatest(
    at,
    CASE
      WHEN buyer IS NULL THEN (
        SELECT max(s.period_to)
        FROM statements s
        WHERE s.company_id = company AND s.traffic_source_id = source
      )
      ELSE (
        SELECT max(s.period_to)
        FROM statements s
        WHERE s.company_id = company AND s.buyer_id = buyer
      )
    END
  );
END $$;
