-- An event is recorded in the transaction that causes it: once per transaction, record and kind,
-- with the rows as they are at the end. A company without a webhook for the kind pays one look at
-- an index.

-- Whether the company has an active webhook for one of the kinds.
CREATE OR REPLACE FUNCTION has_webhook_for(company bigint, kinds text[]) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM outgoing_webhooks w
    WHERE w.company_id = company
      AND w.trigger_type = ANY (kinds)
      AND w.deleted_at IS NULL
      AND NOT w.paused
  );
END $$;

-- Records an event of one kind if the company has a webhook for it.
CREATE OR REPLACE FUNCTION record_webhook_event(
  company bigint,
  event_kind text,
  record bigint,
  event_rows jsonb
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF has_webhook_for(company, ARRAY[event_kind]) THEN
    INSERT INTO webhook_events (
      company_id, kind, occurred_at, record_id, transaction_id, snapshot
    )
    VALUES (
      company, event_kind, now(), record, pg_current_xact_id()::text::bigint, event_rows
    )
    ON CONFLICT DO NOTHING;
  END IF;
END $$;
