-- A number can opt out without a live lead: the event is then about its last lead, at the offer or
-- schedule where it opted out. An opt-out of a live lead is recorded with the change of the lead,
-- and whoever opts a number out stops its leads before it calls this.
CREATE OR REPLACE FUNCTION record_opt_out_of(
  company bigint, number bigint, at_offer bigint, in_schedule bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF has_webhook_for(company, ARRAY['lead_opted_out']) THEN
    PERFORM record_webhook_event(
        l.company_id,
        'lead_opted_out',
        l.id,
        webhook_rows(l.company_id, l.id, NULL, NULL, NULL)
      )
      FROM (
        SELECT *
        FROM leads
        WHERE company_id = company
          AND caller_number = number
          AND (offer_id = at_offer OR schedule_id = in_schedule
            OR at_offer IS NULL AND in_schedule IS NULL)
          AND deleted_at IS NULL
        ORDER BY id DESC
        LIMIT 1
      ) l
      WHERE NOT EXISTS (
        SELECT FROM leads o
        WHERE o.company_id = company
          AND o.caller_number = number
          AND (o.offer_id = at_offer OR o.schedule_id = in_schedule
            OR at_offer IS NULL AND in_schedule IS NULL)
          AND o.is_live
      );
  END IF;
  RETURN true;
END $$;
