-- The balance of a prepaid buyer has just fallen below the limit at which it is low.
CREATE OR REPLACE FUNCTION record_low_balance(
  company bigint,
  buyer bigint,
  balance numeric,
  credit_limit numeric,
  low_limit numeric
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM record_webhook_event(
    company,
    'balance_low',
    buyer,
    jsonb_build_object(
      'account',
      jsonb_build_object(
        'buyer_id', buyer,
        'balance', balance,
        'credit_limit', credit_limit,
        'balance_low_limit', low_limit
      )
    )
  );
END $$;
