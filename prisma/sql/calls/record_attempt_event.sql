-- An attempt of a call was made (buyer_dialled), or was answered (buyer_answered).
CREATE OR REPLACE FUNCTION record_attempt_event(
  company bigint, event_kind text, the_call bigint, the_attempt bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF has_webhook_for(company, ARRAY[event_kind]) THEN
    PERFORM record_webhook_event(
      company,
      event_kind,
      the_attempt,
      webhook_rows(company, NULL, the_call, the_attempt, NULL)
    );
  END IF;
  RETURN true;
END $$;

CREATE OR REPLACE FUNCTION record_conversion_event(
  company bigint, the_call bigint, the_conversion bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF has_webhook_for(company, ARRAY['buyer_converted']) THEN
    PERFORM record_webhook_event(
      company,
      'buyer_converted',
      the_conversion,
      webhook_rows(company, NULL, the_call, NULL, the_conversion)
    );
  END IF;
  RETURN true;
END $$;
