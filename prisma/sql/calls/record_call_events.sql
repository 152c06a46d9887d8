-- What is to be recorded of a call is recorded by the statement that writes it: `was` is the row
-- before, `now` after. What these functions read besides (leads, conversions) must be written
-- before they are called. Within a transaction of several statements, complete_events() follows at
-- the end.

-- Records events of a call. "call_changed" is about a call that has ended.
CREATE OR REPLACE FUNCTION record_call_events(call calls, kinds text[], returned bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  event_rows jsonb;
BEGIN
  IF NOT has_webhook_for(call.company_id, kinds) THEN
    RETURN;
  END IF;
  event_rows := webhook_rows(call.company_id, NULL, call.id, NULL, NULL);
  PERFORM record_webhook_event(
      call.company_id,
      k.kind,
      call.id,
      CASE k.kind
        WHEN 'conversion_returned' THEN webhook_rows(call.company_id, NULL, call.id, NULL, returned)
        ELSE event_rows
      END
    )
    FROM unnest(kinds) WITH ORDINALITY AS k (kind, n)
    ORDER BY k.n;
END $$;

-- What follows from the end of a call.
CREATE OR REPLACE FUNCTION kinds_of_end(call calls) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN CASE
    WHEN call.connected_at IS NULL OR call.buyer_converted THEN ARRAY['every_call']
    ELSE ARRAY['every_call', 'buyer_did_not_convert']
  END;
END $$;
