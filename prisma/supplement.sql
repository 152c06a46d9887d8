-- The parts of the database that the language of schema.prisma cannot express: extensions,
-- sequences without a column, storage settings, CHECK constraints and the indexes of text searches.
--
-- This file declares what the database must contain; an installation never runs it. A change here
-- needs a migration that makes the same change. `npm run check` builds one database from
-- schema.prisma, this file and functions.sql, another from the migrations, and lists every
-- difference.

-- ---------------------------------------------------------------------------------------------
-- Extensions
-- ---------------------------------------------------------------------------------------------

-- Trigram indexes, and bigint columns in GIN indexes.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- ---------------------------------------------------------------------------------------------
-- Sequences without a column
-- ---------------------------------------------------------------------------------------------

-- Ids of the token values in buyer_conversions.token_value_ids and attribution_token_value_ids.
CREATE SEQUENCE token_value_ids;

-- Values of buyer_suppression_files.queue_position: the files of a list are imported in this order.
CREATE SEQUENCE suppression_file_positions;

-- ---------------------------------------------------------------------------------------------
-- Storage
-- ---------------------------------------------------------------------------------------------

-- Rows that are updated again and again: where the updates never end (leads, caps, counts), free
-- space in each page lets the new version of a row stay in its page, without new entries in the
-- indexes whose columns did not change. A call is updated for minutes only: free space made its
-- table 1.7 times as large, for 3% more such updates.
ALTER TABLE leads SET (fillfactor = 80);
ALTER TABLE call_limits SET (fillfactor = 70);
ALTER TABLE record_counts SET (fillfactor = 50);

-- Frequent unthrottled vacuums keep these tables small.
DO $$
DECLARE
  vacuumed text;
BEGIN
  FOREACH vacuumed IN ARRAY ARRAY[
    -- Rows that are updated again and again.
    'leads', 'calls', 'call_attempts', 'call_limits', 'record_counts',
    -- Rows that come and go: what is under way, and what waits to be fanned out.
    'call_slots', 'call_holds', 'schedule_events', 'webhook_events', 'next_action_counts'
  ] LOOP
    EXECUTE format(
      'ALTER TABLE %I SET (
        autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_vacuum_cost_delay = 0
      )',
      vacuumed
    );
  END LOOP;
END $$;

-- Written often and worthless after a minute. A crash of the database empties the table, and the
-- windows start again.
ALTER TABLE rate_limits SET UNLOGGED;
ALTER TABLE rate_limits SET (fillfactor = 50);

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

-- ---------------------------------------------------------------------------------------------
-- CHECK constraints
-- ---------------------------------------------------------------------------------------------

ALTER TABLE installations ADD CONSTRAINT installations_id_check
  CHECK (id = 1);
ALTER TABLE companies ADD CONSTRAINT companies_country_check
  CHECK (country ~ '^[A-Z]{2}$');

-- The limits of a row belong to a buyer, to a group or to a traffic source.
ALTER TABLE call_limits ADD CONSTRAINT call_limits_owner_check
  CHECK (num_nonnulls(buyer_id, buyer_group_id, traffic_source_id) = 1);
-- A rule watches one thing, or all.
ALTER TABLE alert_rules ADD CONSTRAINT alert_rules_owner_check
  CHECK (num_nonnulls(buyer_id, buyer_group_id, traffic_source_id, offer_id) <= 1);
-- A token of a traffic source is for one place, and is what that place takes.
ALTER TABLE traffic_source_tokens ADD CONSTRAINT traffic_source_tokens_place_check
  CHECK (num_nonnulls(offer_id, schedule_id, inbound_webhook_id) = 1);
ALTER TABLE traffic_source_tokens ADD CONSTRAINT traffic_source_tokens_secret_check
  CHECK (
    CASE WHEN inbound_webhook_id IS NULL THEN lead_token ELSE auth_token_digest::text END
      IS NOT NULL
  );
-- An entry, as a statement, belongs to the account of one buyer or one traffic source.
ALTER TABLE account_entries ADD CONSTRAINT account_entries_owner_check
  CHECK ((buyer_id IS NULL) <> (traffic_source_id IS NULL));
ALTER TABLE account_entries ADD CONSTRAINT account_entries_kind_check
  CHECK (kind IN ('deposit', 'conversion', 'return', 'adjustment', 'payout', 'payment'));
ALTER TABLE statements ADD CONSTRAINT statements_owner_check
  CHECK ((buyer_id IS NULL) <> (traffic_source_id IS NULL));
ALTER TABLE statements ADD CONSTRAINT statements_period_check CHECK (period_from < period_to);
ALTER TABLE call_limits ADD CONSTRAINT call_limits_concurrency_check
  CHECK (concurrency_cap_used >= 0);
-- A limit that a caller without the right to raise it has lowered stays within what it was before.
ALTER TABLE call_limits ADD CONSTRAINT call_limits_network_check
  CHECK (
    network_limits = '{}'
    OR coalesce(concurrency_cap_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'concurrency_cap_limit')::numeric, 'Infinity')
    AND coalesce(attempt_total_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'attempt_total_limit')::numeric, 'Infinity')
    AND coalesce(attempt_monthly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'attempt_monthly_limit')::numeric, 'Infinity')
    AND coalesce(attempt_daily_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'attempt_daily_limit')::numeric, 'Infinity')
    AND coalesce(attempt_hourly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'attempt_hourly_limit')::numeric, 'Infinity')
    AND coalesce(connection_total_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'connection_total_limit')::numeric, 'Infinity')
    AND coalesce(connection_monthly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'connection_monthly_limit')::numeric, 'Infinity')
    AND coalesce(connection_daily_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'connection_daily_limit')::numeric, 'Infinity')
    AND coalesce(connection_hourly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'connection_hourly_limit')::numeric, 'Infinity')
    AND coalesce(buyer_conversion_total_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'buyer_conversion_total_limit')::numeric, 'Infinity')
    AND coalesce(buyer_conversion_monthly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'buyer_conversion_monthly_limit')::numeric, 'Infinity')
    AND coalesce(buyer_conversion_daily_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'buyer_conversion_daily_limit')::numeric, 'Infinity')
    AND coalesce(buyer_conversion_hourly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'buyer_conversion_hourly_limit')::numeric, 'Infinity')
    AND coalesce(revenue_total_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'revenue_total_limit')::numeric, 'Infinity')
    AND coalesce(revenue_monthly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'revenue_monthly_limit')::numeric, 'Infinity')
    AND coalesce(revenue_daily_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'revenue_daily_limit')::numeric, 'Infinity')
    AND coalesce(revenue_hourly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'revenue_hourly_limit')::numeric, 'Infinity')
    AND coalesce(earned_revenue_total_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'earned_revenue_total_limit')::numeric, 'Infinity')
    AND coalesce(earned_revenue_monthly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'earned_revenue_monthly_limit')::numeric, 'Infinity')
    AND coalesce(earned_revenue_daily_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'earned_revenue_daily_limit')::numeric, 'Infinity')
    AND coalesce(earned_revenue_hourly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'earned_revenue_hourly_limit')::numeric, 'Infinity')
  );

ALTER TABLE buyer_suppressions ADD CONSTRAINT buyer_suppressions_blocked_check
  CHECK (blocked >= 0);
ALTER TABLE buyer_suppression_files ADD CONSTRAINT buyer_suppression_files_status_check
  CHECK (status IN ('pending', 'running', 'succeeded', 'failed', 'stopped'));
ALTER TABLE buyer_suppression_files ADD CONSTRAINT buyer_suppression_files_apply_check
  CHECK (apply_block_or_unblock IN ('block', 'unblock'));
-- A running import has its file, its list, its position and its run.
ALTER TABLE buyer_suppression_files ADD CONSTRAINT buyer_suppression_files_running_check
  CHECK (
    status <> 'running'
    OR (
      import_file_key IS NOT NULL
      AND buyer_suppression_id IS NOT NULL
      AND queue_position IS NOT NULL
      AND run_id IS NOT NULL
    )
  );
-- An import processes no more rows than its file has.
ALTER TABLE buyer_suppression_files ADD CONSTRAINT buyer_suppression_files_count_check
  CHECK (
    import_count >= 0
    AND rejected_count >= 0
    AND import_count + rejected_count <= coalesce(total_count, 0)
  );

-- A number that forwards to a buyer has a buyer, until the number is deleted.
ALTER TABLE numbers ADD CONSTRAINT numbers_forward_type_check
  CHECK (
    forward_type = 'offer_id'
    OR (forward_type = 'buyer_id' AND (buyer_id IS NOT NULL OR deleted_at IS NOT NULL))
  );
-- A number in the lookup table is either owned or being bought.
ALTER TABLE number_lookups ADD CONSTRAINT number_lookups_owned_or_bought_check
  CHECK (
    (number_id IS NULL) = (purchase_key IS NOT NULL)
    AND (purchase_key IS NULL) = (purchase_tried_at IS NULL)
  );

-- A lead token belongs either to an offer or to a schedule.
ALTER TABLE lead_tokens ADD CONSTRAINT lead_tokens_owner_check
  CHECK ((offer_id IS NULL) <> (schedule_id IS NULL));

ALTER TABLE contact_restrictions ADD CONSTRAINT contact_restrictions_owner_check
  CHECK ((offer_id IS NULL) <> (schedule_id IS NULL));

ALTER TABLE leads ADD CONSTRAINT leads_owner_check
  CHECK (offer_id IS NOT NULL OR schedule_id IS NOT NULL);
-- Only a live lead has a next step, and a claimed lead is due again when the claim expires.
ALTER TABLE leads ADD CONSTRAINT leads_due_check
  CHECK (due_at IS NULL OR (is_live AND deleted_at IS NULL));
ALTER TABLE leads ADD CONSTRAINT leads_claim_check
  CHECK (claim_id IS NULL OR due_at IS NOT NULL);
ALTER TABLE leads ADD CONSTRAINT leads_deleted_check
  CHECK (deleted_at IS NULL OR NOT is_live);
-- 128 KiB.
ALTER TABLE leads ADD CONSTRAINT leads_data_check
  CHECK (octet_length(data::text) <= 131072);
ALTER TABLE leads ADD CONSTRAINT leads_phase_check
  CHECK (phase IN ('actions', 'end'));

-- The webhooks of a company have no owner_id; all others have the id of their owner.
ALTER TABLE outgoing_webhooks ADD CONSTRAINT outgoing_webhooks_owner_check
  CHECK ((owner_type = 'Company') = (owner_id IS NULL));
-- Only a limited user is a maker, and is limited to teams.
ALTER TABLE outgoing_webhooks ADD CONSTRAINT outgoing_webhooks_maker_check
  CHECK (maker_user_id IS NOT NULL OR cardinality(maker_team_ids) = 0);
ALTER TABLE inbound_webhooks ADD CONSTRAINT inbound_webhooks_maker_check
  CHECK (maker_user_id IS NOT NULL OR cardinality(maker_team_ids) = 0);
ALTER TABLE schedule_actions ADD CONSTRAINT schedule_actions_maker_check
  CHECK (maker_user_id IS NOT NULL OR cardinality(maker_team_ids) = 0);
-- Exactly the waiting deliveries are due.
ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_waiting_check
  CHECK ((status = 'waiting') = (due_at IS NOT NULL));

ALTER TABLE agents ADD CONSTRAINT agents_last_event_check
  CHECK (last_event_id >= 0);

ALTER TABLE rate_limits ADD CONSTRAINT rate_limits_used_check
  CHECK (used >= 0);

-- ---------------------------------------------------------------------------------------------
-- Indexes of text searches
-- ---------------------------------------------------------------------------------------------

-- The `fulltext` filter of each list searches exactly the expression of its index: the projection
-- of the resource in src/ must have the same text, or PostgreSQL reads the whole table.
CREATE INDEX access_tokens_fulltext_idx ON access_tokens USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(public_key, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX users_fulltext_idx ON users USING gin (
  company_id,
  (lower(
    coalesce(email, '')
    || E'\n' || coalesce(name, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX access_control_lists_fulltext_idx ON access_control_lists USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX buyers_fulltext_idx ON buyers USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(number, '')
    || E'\n' || coalesce(user_buyer_id, '')
    || E'\n' || coalesce(email, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX buyer_groups_fulltext_idx ON buyer_groups USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX buyer_fleets_fulltext_idx ON buyer_fleets USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(user_fleet_id, '')
    || E'\n' || coalesce(description, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX value_lists_fulltext_idx ON value_lists USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(description, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX buyer_suppressions_fulltext_idx ON buyer_suppressions USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX buyer_suppression_files_fulltext_idx ON buyer_suppression_files USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX numbers_fulltext_idx ON numbers USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(phone_number::text, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX offers_fulltext_idx ON offers USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(user_offer_id, '')
    || E'\n' || coalesce(description, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX traffic_sources_fulltext_idx ON traffic_sources USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(user_traffic_source_id, '')
    || E'\n' || coalesce(email, '')
    || E'\n' || coalesce(external_record_id, '')
    || E'\n' || coalesce(first_name, '')
    || E'\n' || coalesce(last_name, '')
    || E'\n' || coalesce(company_name, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX leads_fulltext_idx ON leads USING gin (
  company_id,
  (lower(
    coalesce(caller_number::text, '')
    || E'\n' || coalesce(email, '')
    || E'\n' || coalesce(
      data->>'full_name',
      data->>'name',
      coalesce(data->>'first_name', '') || ' ' || coalesce(data->>'last_name', '')
    )
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX schedules_fulltext_idx ON schedules USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(user_schedule_id, '')
    || E'\n' || coalesce(description, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX schedule_actions_fulltext_idx ON schedule_actions USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(subject, '')
    || E'\n' || coalesce(body, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX calls_fulltext_idx ON calls USING gin (
  company_id,
  (lower(
    coalesce(from_number::text, '')
    || E'\n' || coalesce(to_number::text, '')
    || E'\n' || coalesce(connect_to, '')
    || E'\n' || coalesce(sub_id, '')
    || E'\n' || coalesce(carrier_call_id, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX inbound_webhooks_fulltext_idx ON inbound_webhooks USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(vanity_uri, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX outgoing_webhooks_fulltext_idx ON outgoing_webhooks USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(url, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX webhook_manual_fires_fulltext_idx ON webhook_manual_fires USING gin (
  company_id,
  (lower(coalesce(name, ''))) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX call_centers_fulltext_idx ON call_centers USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(user_call_center_id, '')
    || E'\n' || coalesce(description, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX dispositions_fulltext_idx ON dispositions USING gin (
  company_id,
  (lower(
    coalesce(key, '')
    || E'\n' || coalesce(name, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX agent_statuses_fulltext_idx ON agent_statuses USING gin (
  company_id,
  (lower(
    coalesce(key, '')
    || E'\n' || coalesce(name, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX agent_status_timestamps_fulltext_idx ON agent_status_timestamps USING gin (
  company_id,
  (lower(coalesce(key, ''))) gin_trgm_ops
);
CREATE INDEX agent_messages_fulltext_idx ON agent_messages USING gin (
  company_id,
  (lower(
    coalesce(content, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE INDEX contacts_fulltext_idx ON contacts USING gin (
  company_id,
  (lower(
    caller_number::text
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX text_messages_fulltext_idx ON text_messages USING gin (
  company_id,
  (lower(
    coalesce(from_number::text, '')
    || E'\n' || coalesce(to_number::text, '')
    || E'\n' || coalesce(body, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX emails_fulltext_idx ON emails USING gin (
  company_id,
  (lower(
    coalesce(from_email, '')
    || E'\n' || coalesce(to_email, '')
    || E'\n' || coalesce(subject, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX lead_logs_fulltext_idx ON lead_logs USING gin (
  company_id,
  (lower(message)) gin_trgm_ops
) WHERE message IS NOT NULL;
CREATE INDEX webhook_logs_fulltext_idx ON webhook_logs USING gin (
  company_id,
  (lower(
    coalesce(trigger_type, '')
    || E'\n' || coalesce(notes, '')
    || E'\n' || left(coalesce(response_body, ''), 500)
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX change_logs_fulltext_idx ON change_logs USING gin (
  company_id,
  (lower(
    coalesce(record_type, '')
    || E'\n' || coalesce(operation, '')
    || E'\n' || coalesce(user_email, '')
    || E'\n' || coalesce(credentials, '')
  )) gin_trgm_ops
);

-- Calls are filtered by the values of their tokens with the operator @>.
CREATE INDEX calls_token_values_idx
  ON calls USING gin (company_id, token_values jsonb_path_ops) WHERE deleted_at IS NULL;

-- Which chunks of calls were written since a snapshot.
CREATE INDEX call_changes_company_id_xid_idx ON call_changes (company_id, xid);

-- Grouped reports read the calls of a time in this alone (docs/decisions/027-reports-from-an-index.md).
-- It has the id because PostgreSQL asks for what would join the attempts, also where it leaves them
-- out.
CREATE INDEX calls_reported_idx ON calls (company_id, created_at, id) INCLUDE (
  offer_id, buyer_id, traffic_source_id, schedule_id, direction, from_number, to_number, sub_id,
  caller_state, connected_at, ended_at, total_duration, buyer_converted, traffic_source_converted,
  revenue, payout
) WHERE deleted_at IS NULL;

-- When the next action of leads is due (NEXT_ACTION_AT of leads/columns.ts). With the columns that
-- it is made of, leads are counted in the index alone.
CREATE INDEX leads_next_action_idx ON leads (
  company_id, (CASE WHEN due_at IS NOT NULL THEN coalesce(callback_at, next_action_at) END), id
) INCLUDE (due_at, callback_at, next_action_at) WHERE deleted_at IS NULL;

-- How many chunks there are: without it, the planner takes each call for a chunk of its own, and
-- does not count in parallel.
CREATE STATISTICS calls_chunks ON (id / 8192) FROM calls;

-- How many leads have a next action: the planner does not know it from the index alone.
CREATE STATISTICS leads_next_action ON (
  CASE WHEN due_at IS NOT NULL THEN coalesce(callback_at, next_action_at) END
) FROM leads;
