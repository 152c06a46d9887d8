-- The end of a transaction that has recorded events and has gone on: they show the rows as they
-- are now (src/data/complete-events.ts).
CREATE OR REPLACE FUNCTION complete_events(company bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE webhook_events e
    SET snapshot = x.event_rows
    FROM (
      SELECT
        o.id,
        webhook_rows(
          company,
          -- That of a call may be another one now.
          CASE WHEN NOT o.snapshot ? 'call' THEN (o.snapshot->'lead'->>'id')::bigint END,
          (o.snapshot->'call'->>'id')::bigint,
          (o.snapshot->'attempt'->>'id')::bigint,
          (o.snapshot->'conversion'->>'id')::bigint
        ) AS event_rows
      FROM webhook_events o
      WHERE o.company_id = company
        AND o.transaction_id = pg_current_xact_id()::text::bigint
        AND o.snapshot ?| ARRAY['call', 'lead']
    ) x
    WHERE e.company_id = company AND e.id = x.id
      AND x.event_rows <> '{}'
      AND e.snapshot IS DISTINCT FROM x.event_rows;
END $$;
