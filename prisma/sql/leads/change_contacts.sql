-- Locks the contacts of numbers, which are in order, so that two transactions never deadlock.
-- Those that do not exist are added, with `uuids`, so that there is a row to lock.
CREATE OR REPLACE FUNCTION lock_contacts(
  company bigint, numbers bigint[], uuids uuid[], at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  added integer;
BEGIN
  INSERT INTO contacts (company_id, uuid, created_at, updated_at, caller_number)
    SELECT company, x.uuid, at, at, x.number
    FROM unnest(numbers, uuids) AS x(number, uuid)
    ORDER BY x.number
    ON CONFLICT (company_id, caller_number) DO NOTHING;
  GET DIAGNOSTICS added = ROW_COUNT;
  PERFORM
    FROM contacts k
    WHERE k.company_id = company AND k.caller_number = ANY (numbers)
    ORDER BY k.caller_number
    FOR NO KEY UPDATE;
  IF added > 0 THEN
    INSERT INTO record_counts AS k (company_id, resource, slot, n)
      VALUES (company, 'contacts', pg_backend_pid() % 64, added)
      ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = k.n + excluded.n;
  END IF;
END $$;

-- Blocks or unblocks numbers, or opts them out or in (`change`: block, unblock, opt_out, opt_in),
-- for the whole company, and stops or resumes their live leads; `message` is for their histories.
-- What lifts a restriction also lifts those by lead tokens, at single offers and schedules.
-- `numbers` are in order. Returns how many of them have changed.
--
-- An opt-in never undoes an opt-out that has come after it and was written first: `at` is when
-- each arrived, and a second opt-out counts too. An opt-out from more than a minute ahead is of a
-- wrong clock, from which a person must be able to come back.
--
-- Locks: contacts, then leads. Outreach keeps that order before it sends: the change waits for a
-- message that is being sent, and none is sent after the commit.
CREATE OR REPLACE FUNCTION change_contacts(
  company bigint, change text, numbers bigint[], uuids uuid[], at timestamptz, message text
) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  still_under_way CONSTANT timestamptz := at + interval '1 minute';
  about_blocking CONSTANT boolean := change IN ('block', 'unblock');
  restricts CONSTANT boolean := change IN ('block', 'opt_out');
  reason CONSTANT text := CASE WHEN about_blocking THEN 'blocked' ELSE 'opt_out' END;
  event CONSTANT text := CASE change
    WHEN 'block' THEN 'blocked'
    WHEN 'unblock' THEN 'unblocked'
    WHEN 'opt_out' THEN 'opted_out'
    ELSE 'opted_in'
  END;
  changed bigint[];
  lifted bigint[];
  old_rows leads[];
  new_rows leads[];
BEGIN
  PERFORM lock_contacts(company, numbers, uuids, at);
  IF change = 'opt_out' THEN
    UPDATE contacts k
      SET opted_out_at = at, updated_at = at
      WHERE k.company_id = company
        AND k.caller_number = ANY (numbers)
        AND k.opt_out
        AND k.opted_out_at < at;
  ELSIF change = 'opt_in' THEN
    numbers := ARRAY(
      SELECT k.caller_number
        FROM contacts k
        WHERE k.company_id = company
          AND k.caller_number = ANY (numbers)
          AND (k.opt_out AND k.opted_out_at > at AND k.opted_out_at <= still_under_way) IS NOT TRUE
          AND NOT EXISTS (
            SELECT
              FROM contact_restrictions x
              WHERE x.company_id = company
                AND x.caller_number = k.caller_number
                AND x.opt_out
                AND x.updated_at > at
                AND x.updated_at <= still_under_way
          )
        ORDER BY k.caller_number
    );
  END IF;
  WITH written AS (
    UPDATE contacts k
      SET
        blocked = CASE WHEN about_blocking THEN restricts ELSE k.blocked END,
        blocked_at = CASE WHEN change = 'block' THEN at ELSE k.blocked_at END,
        unblocked_at = CASE WHEN change = 'unblock' THEN at ELSE k.unblocked_at END,
        opt_out = CASE WHEN about_blocking THEN k.opt_out ELSE restricts END,
        opted_out_at = CASE WHEN change = 'opt_out' THEN at ELSE k.opted_out_at END,
        opted_in_at = CASE WHEN change = 'opt_in' THEN at ELSE k.opted_in_at END,
        updated_at = at
      WHERE k.company_id = company
        AND k.caller_number = ANY (numbers)
        AND CASE WHEN about_blocking THEN k.blocked ELSE k.opt_out END <> restricts
      RETURNING k.caller_number
  )
  SELECT array_agg(w.caller_number) INTO changed FROM written w;
  IF NOT restricts THEN
    WITH written AS (
      UPDATE contact_restrictions x
        SET
          blocked = x.blocked AND NOT about_blocking,
          opt_out = x.opt_out AND about_blocking,
          updated_at = at
        WHERE x.company_id = company
          AND x.caller_number = ANY (numbers)
          AND CASE WHEN about_blocking THEN x.blocked ELSE x.opt_out END
        RETURNING x.caller_number
    )
    SELECT array_agg(w.caller_number) INTO lifted FROM written w;
  END IF;

  SELECT array_agg(x.was), array_agg(x.is_now)
    INTO old_rows, new_rows
    FROM (
      SELECT
        l AS was,
        CASE WHEN restricts THEN stop_lead(l, reason, at) ELSE resume_lead(l, at) END AS is_now
      FROM leads l
      WHERE l.company_id = company
        AND l.caller_number = ANY (numbers)
        AND l.is_live
        AND (l.status = reason) <> restricts
      ORDER BY l.id
      FOR UPDATE
    ) x;
  PERFORM FROM store_leads(old_rows, new_rows, event, message, NULL);
  IF change = 'opt_out' THEN
    PERFORM record_opt_out_of(company, x.number, NULL, NULL) FROM unnest(changed) AS x(number);
  END IF;
  RETURN (SELECT count(DISTINCT x.number) FROM unnest(changed || lifted) AS x(number));
END $$;
