-- Callers who are paid for once.
--
-- Both are volatile: each looks at what is committed when it is called, not when the statement that
-- calls it began. So a statement that has waited for a lock sees what its former holder has
-- written.

-- True if the buyer has paid for the caller within a time before an instant, or after it: a call
-- may be reported after a later one. Of two calls of one caller the second waits, if the caps of
-- the buyer are locked.
CREATE OR REPLACE FUNCTION has_buyer_paid(
  company bigint, buyer bigint, number bigint, at timestamptz, within interval
) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM conversions v
    WHERE v.company_id = company
      AND v.caller_number = number
      AND v.buyer_id = buyer
      AND v.created_at > at - within
      AND v.created_at < at + within
      AND v.returned_at IS NULL
  );
END $$;

-- True if the source of another call of this caller for this offer was paid within such a time. Of
-- two calls of one caller the second waits until the first is written. The number keeps these
-- advisory locks apart from those of other statements.
CREATE OR REPLACE FUNCTION was_source_paid(
  company bigint, offer bigint, number bigint, except_call bigint, at timestamptz, within interval
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
      AND c.created_at > at - within
      AND c.created_at < at + within
  );
END $$;

-- Payments for the caller of a call that matter to what is due for it: within `buyer_seconds` by
-- the buyer, within `source_seconds` to the source of another call. `dollars` is that of
-- settle_call().
CREATE OR REPLACE FUNCTION find_payments_before(
  the_call calls,
  at timestamptz,
  dollars json,
  OUT buyer_paid boolean,
  OUT source_paid boolean
) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  buyer_seconds CONSTANT integer := dollars->>'buyer_seconds';
  source_seconds CONSTANT integer := dollars->>'source_seconds';
BEGIN
  buyer_paid := the_call.caller_number IS NOT NULL AND buyer_seconds > 0 AND has_buyer_paid(
    the_call.company_id, (dollars->>'buyer_id')::bigint, the_call.caller_number,
    at, buyer_seconds * interval '1 second'
  );
  source_paid := the_call.caller_number IS NOT NULL AND source_seconds > 0 AND was_source_paid(
    the_call.company_id, the_call.offer_id, the_call.caller_number, the_call.id,
    at, source_seconds * interval '1 second'
  );
END $$;
