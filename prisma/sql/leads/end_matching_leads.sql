-- Ends the leads of a number at an offer, or with `in_schedule` in a schedule, for a submission
-- that then makes a new one: deletes all of them (`deletes`), or expires the live one.
--
-- Locks: the number there (an advisory lock, which 4114 separates from others), so that no other
-- submission ends its leads before the transaction is over; then leads, each before its callbacks.
CREATE OR REPLACE FUNCTION end_matching_leads(
  company bigint,
  at_offer bigint,
  in_schedule bigint,
  number bigint,
  deletes boolean,
  at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  was leads;
  is_now leads;
  old_rows leads[];
  new_rows leads[];
BEGIN
  PERFORM pg_advisory_xact_lock(
    hashtextextended(
      concat_ws(
        '/', 'ends leads', company, in_schedule IS NULL, coalesce(in_schedule, at_offer), number
      ),
      4114
    )
  );
  FOR was IN
    SELECT l.*
    FROM leads l
    WHERE l.company_id = company
      AND l.caller_number = number
      AND l.schedule_id IS NOT DISTINCT FROM in_schedule
      AND (in_schedule IS NOT NULL OR l.offer_id = at_offer)
      AND CASE WHEN deletes THEN l.deleted_at IS NULL ELSE l.is_live END
    ORDER BY l.id
    FOR UPDATE
  LOOP
    is_now := was;
    is_now.is_live := false;
    is_now.due_at := NULL;
    is_now.claim_id := NULL;
    is_now.updated_at := at;
    IF deletes THEN
      is_now.deleted_at := at;
    ELSE
      is_now.status := 'expired';
      is_now.schedule_ended_at := at;
    END IF;
    old_rows := old_rows || was;
    new_rows := new_rows || is_now;
  END LOOP;
  PERFORM FROM store_leads(
    old_rows,
    new_rows,
    CASE WHEN deletes THEN 'deleted' ELSE 'expired' END,
    'asked for by a submission',
    NULL
  );
  UPDATE scheduled_callbacks c
    SET status = 'canceled'
    FROM unnest(new_rows) n
    WHERE c.company_id = company AND c.lead_id = n.id AND c.status = 'pending';
  IF deletes AND new_rows IS NOT NULL THEN
    INSERT INTO record_counts AS k (company_id, resource, slot, n)
      VALUES (company, 'leads', pg_backend_pid() % 64, -cardinality(new_rows))
      ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = k.n + excluded.n;
  END IF;
END $$;
