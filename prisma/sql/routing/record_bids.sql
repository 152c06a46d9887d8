-- Stores the bids for a caller and an offer, and which bidders failed. A valid bid is not replaced:
-- a seller may have been promised its amount. `bids` has buyer_id, amount, number, duration and
-- expires_at, and is empty for a call without caller or offer; `failures` buyer_id and uuid.
--
-- Locks: bids, in the order of their buyers.
CREATE OR REPLACE FUNCTION record_bids(
  company bigint, caller bigint, offer bigint, at timestamptz, bids json, failures json
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO bids AS k (
    company_id, caller_number, offer_id, buyer_id, created_at, amount, number, duration, expires_at
  )
    SELECT company, caller, offer, x.buyer_id, at, x.amount, x.number, x.duration, x.expires_at
    FROM json_to_recordset(bids) AS x(
      buyer_id bigint, amount numeric, number text, duration integer, expires_at timestamptz
    )
    ORDER BY x.buyer_id
    ON CONFLICT (company_id, caller_number, offer_id, buyer_id) DO UPDATE
    SET
      created_at = excluded.created_at,
      amount = excluded.amount,
      number = excluded.number,
      duration = excluded.duration,
      expires_at = excluded.expires_at
    WHERE k.expires_at <= at;

  INSERT INTO bid_failures (company_id, buyer_id, failed_at, uuid)
    SELECT company, x.buyer_id, at, x.uuid
    FROM json_to_recordset(failures) AS x(buyer_id bigint, uuid uuid);
END $$;
