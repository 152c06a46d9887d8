-- Records prepaid buyers whose balance has just fallen below the limit at which it is low, by
-- changes of caps that are made.
CREATE OR REPLACE FUNCTION record_low_balances(company bigint, changes json) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM record_webhook_event(
      company,
      'balance_low',
      l.buyer_id,
      jsonb_build_object(
        'account',
        jsonb_build_object(
          'buyer_id', l.buyer_id,
          'balance', l.balance,
          'credit_limit', l.credit_limit,
          'balance_low_limit', l.balance_low_limit
        )
      )
    )
    FROM (
      SELECT c.limit_id, sum(c.charge) AS charge
      FROM json_to_recordset(changes) AS c(limit_id bigint, charge numeric)
      GROUP BY c.limit_id
    ) x
    JOIN call_limits l ON l.company_id = company AND l.id = x.limit_id
    WHERE x.charge > 0
      AND l.balance < l.balance_low_limit
      AND l.balance + x.charge >= l.balance_low_limit;
END $$;
