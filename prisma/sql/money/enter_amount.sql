-- Enters an amount that a user has paid, and adds it to the balance of a prepaid buyer. Returns the
-- id of the entry.
--
-- Locks: the caps of the buyer, which have its balance.
CREATE OR REPLACE FUNCTION enter_amount(
  company bigint,
  at timestamptz,
  buyer bigint,
  source bigint,
  entry_kind text,
  dollars numeric,
  by_user bigint,
  entry_note text,
  external_id text
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  limit_id bigint;
  entry_id bigint;
BEGIN
  UPDATE call_limits l
    SET balance = l.balance + dollars, changed_by = pg_current_xact_id()
    WHERE l.company_id = company AND l.buyer_id = buyer
    RETURNING l.id INTO limit_id;
  INSERT INTO account_entries (
    company_id, created_at, buyer_id, traffic_source_id, kind, amount, user_id, note,
    external_record_id
  )
    VALUES (company, at, buyer, source, entry_kind, dollars, by_user, entry_note, external_id)
    RETURNING id INTO entry_id;
  PERFORM record_low_balances(
    company, json_build_array(json_build_object('limit_id', limit_id, 'charge', -dollars))
  );
  RETURN entry_id;
END $$;
