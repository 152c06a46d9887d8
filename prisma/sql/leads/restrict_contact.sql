-- Blocks a number (`change`: block) or opts it out (opt_out) for one offer or schedule alone, and
-- stops its live leads there. A block applies to the offer, so that calls to it are refused too,
-- and to a schedule only if that has no offer. `details` are for the histories.
--
-- Locks: the contact, then leads, as change_contacts().
CREATE OR REPLACE FUNCTION restrict_contact(
  company bigint,
  change text,
  number bigint,
  uuid uuid,
  at_offer bigint,
  in_schedule bigint,
  at timestamptz,
  details json
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  blocks CONSTANT boolean := change = 'block';
  reason CONSTANT text := CASE WHEN blocks THEN 'blocked' ELSE 'opt_out' END;
  had_opted_out boolean;
  old_rows leads[];
  new_rows leads[];
BEGIN
  PERFORM lock_contacts(company, ARRAY[number], ARRAY[uuid], at);
  IF in_schedule IS NOT NULL THEN
    at_offer := CASE
      WHEN blocks THEN coalesce(
        at_offer,
        (SELECT s.offer_id FROM schedules s WHERE s.company_id = company AND s.id = in_schedule)
      )
    END;
    in_schedule := CASE WHEN at_offer IS NULL THEN in_schedule END;
  END IF;

  SELECT x.opt_out INTO had_opted_out
    FROM contact_restrictions x
    WHERE x.company_id = company
      AND x.caller_number = number
      AND (x.offer_id = at_offer OR x.schedule_id = in_schedule);
  IF FOUND THEN
    UPDATE contact_restrictions x
      SET blocked = x.blocked OR blocks, opt_out = x.opt_out OR NOT blocks, updated_at = at
      WHERE x.company_id = company
        AND x.caller_number = number
        AND (x.offer_id = at_offer OR x.schedule_id = in_schedule);
  ELSE
    INSERT INTO contact_restrictions (
      company_id, created_at, updated_at, caller_number, offer_id, schedule_id, blocked, opt_out
    )
      VALUES (company, at, at, number, at_offer, in_schedule, blocks, NOT blocks);
  END IF;

  SELECT array_agg(x.was), array_agg(x.is_now)
    INTO old_rows, new_rows
    FROM (
      SELECT l AS was, stop_lead(l, reason, at) AS is_now
      FROM leads l
      WHERE l.company_id = company
        AND l.caller_number = number
        AND (l.offer_id = at_offer OR l.schedule_id = in_schedule)
        AND l.is_live
        AND l.status <> reason
      ORDER BY l.id
      FOR UPDATE
    ) x;
  PERFORM FROM store_leads(
    old_rows,
    new_rows,
    CASE WHEN blocks THEN 'blocked' ELSE 'opted_out' END,
    'asked for by lead_token',
    details
  );
  IF NOT blocks AND had_opted_out IS NOT TRUE THEN
    PERFORM record_opt_out_of(company, number, at_offer, in_schedule);
  END IF;
END $$;
