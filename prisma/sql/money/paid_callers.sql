-- Callers who are paid for once.
--
-- Both are volatile: each looks at what is committed when it is called, not when the statement that
-- calls it began. So a statement that has waited for a lock sees what its former holder has
-- written.

-- Whether the buyer has paid for the caller since an instant. Of two calls of one caller the second
-- waits, if whoever asks has locked the buyer's caps.
CREATE OR REPLACE FUNCTION has_buyer_paid(
  company bigint, buyer bigint, number bigint, since timestamptz
) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM conversions v
    WHERE v.company_id = company
      AND v.caller_number = number
      AND v.buyer_id = buyer
      AND v.created_at > since
      AND v.returned_at IS NULL
  );
END $$;

-- Whether the source of another call of this caller for this offer was paid since an instant. Of
-- two calls of one caller the second waits until the first is written. The number keeps these
-- advisory locks apart from those of other statements.
CREATE OR REPLACE FUNCTION was_source_paid(
  company bigint, offer bigint, number bigint, except_call bigint, since timestamptz
) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(
    hashtextextended(concat_ws('/', company, coalesce(offer::text, 'null'), number), 4108)
  );
  RETURN EXISTS (
    SELECT FROM calls c
    WHERE c.company_id = company
      AND c.caller_number = number
      AND c.offer_id = offer
      AND c.traffic_source_converted
      AND c.id <> except_call
      AND c.created_at > since
  );
END $$;
