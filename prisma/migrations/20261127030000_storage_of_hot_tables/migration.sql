-- How the tables that are written most are stored. What they hold already stays as it is until it
-- is written again.
ALTER TABLE calls SET (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE call_attempts SET (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE call_limits SET (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE record_counts SET (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);

-- Rows that come and go: what is under way, and what waits to be fanned out.
ALTER TABLE call_slots SET (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE call_holds SET (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE schedule_events SET (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
ALTER TABLE webhook_events SET (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);

-- Values of kilobytes are compressed by lz4, which takes a fraction of the time of pglz, wherever
-- the server was built with it. Elsewhere they keep pglz, which is slower but no different to read.
DO $$
DECLARE
  stored text;
BEGIN
  IF NOT EXISTS (
    SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)
  ) THEN
    RAISE NOTICE 'This server was built without lz4: large values are compressed by pglz.';
    RETURN;
  END IF;
  FOREACH stored IN ARRAY ARRAY[
    'leads.data', 'lead_logs.details',
    'calls.token_values', 'call_decisions.decision', 'call_events.details',
    'pings.token_values', 'pings.answer',
    'text_messages.token_values', 'emails.body', 'emails.token_values',
    'change_logs.changes', 'change_logs.changes_shown',
    'webhook_events.snapshot',
    'webhook_deliveries.request_headers', 'webhook_deliveries.request_body',
    'webhook_logs.request_headers', 'webhook_logs.request_body',
    'webhook_logs.response_headers', 'webhook_logs.response_body'
  ] LOOP
    EXECUTE format(
      'ALTER TABLE %I ALTER COLUMN %I SET COMPRESSION lz4',
      split_part(stored, '.', 1), split_part(stored, '.', 2)
    );
  END LOOP;
END $$;
