-- The database, room by room. What each column means is explained in schema.prisma. Functions and
-- procedures are in prisma/sql/, and are applied again after every change of theirs.
--
-- What the language of schema.prisma cannot express is declared here alone: extensions, sequences
-- without a column, storage settings, CHECK constraints, statistics and indexes of text searches.

-- Trigram indexes, and bigint columns in GIN indexes.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- ---------------------------------------------------------------------------------------------
-- Installation
-- ---------------------------------------------------------------------------------------------

CREATE TABLE installations (
  id integer NOT NULL DEFAULT 1,
  pepper_check bytea NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  storage_id uuid,
  settings json,
  CONSTRAINT installations_pkey PRIMARY KEY (id),
  CONSTRAINT installations_id_check CHECK (id = 1)
);

CREATE TABLE processes (
  id uuid NOT NULL,
  kind text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  started_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  seen_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT processes_pkey PRIMARY KEY (id)
);

-- What the background could not do, until it can again: /readyz and doctor show it.
CREATE TABLE loop_faults (
  name text NOT NULL,
  first_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  last_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- unless it fails again before, it counts as over then
  ends_at timestamptz(3) NOT NULL,
  CONSTRAINT loop_faults_pkey PRIMARY KEY (name)
);

-- ---------------------------------------------------------------------------------------------
-- Companies and credentials
-- ---------------------------------------------------------------------------------------------

CREATE TABLE companies (
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  name text NOT NULL,
  country text NOT NULL DEFAULT 'US',
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  demo boolean NOT NULL DEFAULT false,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  contact_countries text[],
  contact_prefixes text[] DEFAULT ARRAY[]::text[],
  lead_token_powers text[],
  keyword_replies boolean NOT NULL DEFAULT true,
  help_text text,
  opt_out_text text,
  opt_in_text text,
  service_cost_per_minute numeric(10, 4) NOT NULL DEFAULT 0,
  sip_hosts text[] DEFAULT ARRAY[]::text[],
  removed_at timestamptz(3),
  CONSTRAINT companies_pkey PRIMARY KEY (id),
  CONSTRAINT companies_country_check CHECK (country ~ '^[A-Z]{2}$')
);
CREATE UNIQUE INDEX companies_uuid_key ON companies (uuid);

CREATE TABLE access_tokens (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text NOT NULL,
  kind text NOT NULL,
  public_key text NOT NULL,
  secret_digest bytea NOT NULL,
  permissions text[] DEFAULT ARRAY[]::text[],
  superuser boolean NOT NULL DEFAULT false,
  user_id bigint,
  expires_at timestamptz(3),
  CONSTRAINT access_tokens_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX access_tokens_company_id_uuid_key ON access_tokens (company_id, uuid);
CREATE INDEX access_tokens_fulltext_idx ON access_tokens USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(public_key, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE credential_lookups (
  public_key text NOT NULL,
  company_id bigint NOT NULL,
  access_token_id bigint NOT NULL,
  CONSTRAINT credential_lookups_pkey PRIMARY KEY (public_key)
);

-- ---------------------------------------------------------------------------------------------
-- Requests: repeated requests, rate limits, counts of records
-- ---------------------------------------------------------------------------------------------

CREATE TABLE idempotency_keys (
  company_id bigint NOT NULL,
  key text NOT NULL,
  operation_id text NOT NULL,
  request_digest bytea NOT NULL,
  status integer NOT NULL,
  answer bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  credential text NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (company_id, credential, key)
);
CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys (created_at);

-- Written often and worthless after a minute. A crash of the database empties the table, and the
-- windows start again.
CREATE UNLOGGED TABLE rate_limits (
  company_id bigint NOT NULL,
  subject text NOT NULL,
  window_starts_at timestamptz(3) NOT NULL,
  used integer NOT NULL,
  granted integer NOT NULL,
  CONSTRAINT rate_limits_pkey PRIMARY KEY (company_id, subject),
  CONSTRAINT rate_limits_used_check CHECK (used >= 0)
) WITH (fillfactor = 50);

CREATE TABLE record_counts (
  company_id bigint NOT NULL,
  resource text NOT NULL,
  slot integer NOT NULL,
  n bigint NOT NULL,
  CONSTRAINT record_counts_pkey PRIMARY KEY (company_id, resource, slot)
) WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);

CREATE TABLE call_changes (
  company_id bigint NOT NULL,
  chunk bigint NOT NULL,
  slot integer NOT NULL,
  xid xid8 NOT NULL,
  CONSTRAINT call_changes_pkey PRIMARY KEY (company_id, chunk, slot)
);
-- Which chunks of calls were written since a snapshot.
CREATE INDEX call_changes_company_id_xid_idx ON call_changes (company_id, xid);

CREATE TABLE next_action_counts (
  company_id bigint NOT NULL,
  hour timestamptz(3) NOT NULL,
  id bigserial NOT NULL,
  n bigint NOT NULL,
  CONSTRAINT next_action_counts_pkey PRIMARY KEY (company_id, hour, id)
) WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);

-- What processes have counted of calls (src/data/counts/settled-counts.ts), so that a new one need
-- not begin from nothing.
CREATE TABLE saved_counts (
  company_id bigint NOT NULL,
  key text NOT NULL,
  cluster text NOT NULL,
  counted json NOT NULL,
  used_at timestamptz(3) NOT NULL,
  CONSTRAINT saved_counts_pkey PRIMARY KEY (company_id, key)
);

-- ---------------------------------------------------------------------------------------------
-- People
-- ---------------------------------------------------------------------------------------------

CREATE TABLE users (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  invitation_number integer NOT NULL DEFAULT 0,
  invitation_open boolean NOT NULL DEFAULT false,
  invited_at timestamptz(3),
  joined_at timestamptz(3),
  email text NOT NULL,
  name text,
  CONSTRAINT users_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX users_company_id_uuid_key ON users (company_id, uuid);
CREATE UNIQUE INDEX users_company_id_email_key
  ON users (company_id, email) WHERE deleted_at IS NULL;
CREATE INDEX users_fulltext_idx ON users USING gin (
  company_id,
  (lower(
    coalesce(email, '')
    || E'\n' || coalesce(name, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

-- Addresses that a company names, and what shows that those who have them want its mails.
CREATE TABLE mail_addresses (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  -- in lowercase
  email text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- number of the last confirmation that was asked for; the links of earlier ones are void
  confirmation_number integer NOT NULL DEFAULT 0,
  confirmation_sent_at timestamptz(3),
  confirmed_at timestamptz(3),
  -- the last invitation, of whichever user
  invited_at timestamptz(3),
  CONSTRAINT mail_addresses_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX mail_addresses_company_id_email_key ON mail_addresses (company_id, email);

-- Mails of a day, in UTC.
CREATE TABLE mail_counts (
  company_id bigint NOT NULL,
  day date NOT NULL,
  -- an address without what follows a plus; empty for all of the company
  mailbox text NOT NULL,
  used integer NOT NULL,
  refused integer NOT NULL DEFAULT 0,
  CONSTRAINT mail_counts_pkey PRIMARY KEY (company_id, day, mailbox)
);
CREATE INDEX mail_counts_day_idx ON mail_counts (day);

CREATE TABLE access_control_lists (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text NOT NULL,
  permissions text[] DEFAULT ARRAY[]::text[],
  superuser boolean NOT NULL DEFAULT false,
  all_offers boolean NOT NULL DEFAULT true,
  generated_for_buyer_id bigint,
  generated_for_buyer_group_id bigint,
  generated_for_traffic_source_id bigint,
  CONSTRAINT access_control_lists_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX access_control_lists_company_id_uuid_key
  ON access_control_lists (company_id, uuid);
CREATE UNIQUE INDEX access_control_lists_company_id_generated_for_buyer_id_key
  ON access_control_lists (company_id, generated_for_buyer_id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX access_control_lists_company_id_generated_for_buyer_group_i_key
  ON access_control_lists (company_id, generated_for_buyer_group_id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX access_control_lists_company_id_generated_for_traffic_sourc_key
  ON access_control_lists (company_id, generated_for_traffic_source_id) WHERE deleted_at IS NULL;
CREATE INDEX access_control_lists_fulltext_idx ON access_control_lists USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE access_control_list_users (
  company_id bigint NOT NULL,
  access_control_list_id bigint NOT NULL,
  user_id bigint NOT NULL,
  CONSTRAINT access_control_list_users_pkey
    PRIMARY KEY (company_id, access_control_list_id, user_id)
);
CREATE INDEX access_control_list_users_company_id_user_id_idx
  ON access_control_list_users (company_id, user_id);

CREATE TABLE access_control_list_buyers (
  company_id bigint NOT NULL,
  access_control_list_id bigint NOT NULL,
  buyer_id bigint NOT NULL,
  CONSTRAINT access_control_list_buyers_pkey
    PRIMARY KEY (company_id, access_control_list_id, buyer_id)
);
CREATE INDEX access_control_list_buyers_company_id_buyer_id_idx
  ON access_control_list_buyers (company_id, buyer_id);

CREATE TABLE access_control_list_buyer_groups (
  company_id bigint NOT NULL,
  access_control_list_id bigint NOT NULL,
  buyer_group_id bigint NOT NULL,
  CONSTRAINT access_control_list_buyer_groups_pkey
    PRIMARY KEY (company_id, access_control_list_id, buyer_group_id)
);
CREATE INDEX access_control_list_buyer_groups_company_id_buyer_group_id_idx
  ON access_control_list_buyer_groups (company_id, buyer_group_id);

CREATE TABLE access_control_list_offers (
  company_id bigint NOT NULL,
  access_control_list_id bigint NOT NULL,
  offer_id bigint NOT NULL,
  CONSTRAINT access_control_list_offers_pkey
    PRIMARY KEY (company_id, access_control_list_id, offer_id)
);
CREATE INDEX access_control_list_offers_company_id_offer_id_idx
  ON access_control_list_offers (company_id, offer_id);

-- Traffic sources are granted to teams, as buyers are.
CREATE TABLE access_control_list_traffic_sources (
  company_id bigint NOT NULL,
  access_control_list_id bigint NOT NULL,
  traffic_source_id bigint NOT NULL,
  CONSTRAINT access_control_list_traffic_sources_pkey
    PRIMARY KEY (company_id, access_control_list_id, traffic_source_id)
);
CREATE INDEX access_control_list_traffic_sources_company_id_traffic_sour_idx
  ON access_control_list_traffic_sources (company_id, traffic_source_id);

-- ---------------------------------------------------------------------------------------------
-- Value lists
-- ---------------------------------------------------------------------------------------------

CREATE TABLE value_lists (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text NOT NULL,
  key text NOT NULL,
  description text,
  values_count bigint NOT NULL DEFAULT 0,
  kind text NOT NULL DEFAULT 'values',
  CONSTRAINT value_lists_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX value_lists_company_id_uuid_key ON value_lists (company_id, uuid);
CREATE UNIQUE INDEX value_lists_company_id_key_key
  ON value_lists (company_id, key) WHERE deleted_at IS NULL;
CREATE INDEX value_lists_company_id_name_id_idx
  ON value_lists (company_id, name, id) WHERE deleted_at IS NULL;
CREATE INDEX value_lists_company_id_created_at_id_idx
  ON value_lists (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX value_lists_fulltext_idx ON value_lists USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(description, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE list_values (
  company_id bigint NOT NULL,
  value_list_id bigint NOT NULL,
  value text NOT NULL,
  id bigserial NOT NULL,
  CONSTRAINT list_values_pkey PRIMARY KEY (company_id, value_list_id, value)
);
CREATE UNIQUE INDEX list_values_company_id_value_list_id_id_key
  ON list_values (company_id, value_list_id, id);

-- ---------------------------------------------------------------------------------------------
-- Buyers
-- ---------------------------------------------------------------------------------------------

-- Ids of the token values in buyer_conversions.token_value_ids and attribution_token_value_ids.
CREATE SEQUENCE token_value_ids;

CREATE TABLE buyers (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text,
  number text,
  user_buyer_id text,
  email text,
  buyer_type text NOT NULL,
  time_zone text NOT NULL,
  paused boolean NOT NULL DEFAULT false,
  paused_at timestamptz(3),
  unpaused_at timestamptz(3),
  paused_by_user_id bigint,
  timeout_seconds integer NOT NULL,
  dtmf_tones text,
  sip_headers jsonb,
  record_calls boolean NOT NULL,
  press_one_to_accept boolean NOT NULL,
  ping_timeout_seconds integer,
  route_by_type text NOT NULL,
  tier double precision NOT NULL,
  weight double precision NOT NULL,
  epc_timeframe integer,
  epc_assumed_amount numeric(14, 2),
  epc_assumed_calls_count integer,
  display_caller_id_type text NOT NULL,
  display_service_number_id bigint,
  buyer_fleet_id bigint,
  record_token_filter_data text[] DEFAULT ARRAY[]::text[],
  record_token_additional_data text[] DEFAULT ARRAY[]::text[],
  outgoing_webhooks_count integer NOT NULL DEFAULT 0,
  ping_timeout_ms integer,
  bid_request jsonb,
  bid_response jsonb,
  bid_secret_version integer NOT NULL DEFAULT 1,
  bid_secret_rotated_at timestamptz(3),
  states text[] DEFAULT ARRAY[]::text[],
  area_codes text[] DEFAULT ARRAY[]::text[],
  zip_list_id bigint,
  CONSTRAINT buyers_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX buyers_company_id_name_id_idx
  ON buyers (company_id, name, id) WHERE deleted_at IS NULL;
CREATE INDEX buyers_company_id_number_id_idx
  ON buyers (company_id, number, id) WHERE deleted_at IS NULL;
CREATE INDEX buyers_company_id_created_at_id_idx
  ON buyers (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX buyers_company_id_buyer_fleet_id_idx ON buyers (company_id, buyer_fleet_id);
CREATE UNIQUE INDEX buyers_company_id_uuid_key ON buyers (company_id, uuid);
CREATE UNIQUE INDEX buyers_company_id_user_buyer_id_key
  ON buyers (company_id, user_buyer_id) WHERE deleted_at IS NULL;
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
CREATE INDEX buyers_company_id_zip_list_id_idx ON buyers (company_id, zip_list_id);

CREATE TABLE buyer_business_hours (
  company_id bigint NOT NULL,
  buyer_id bigint NOT NULL,
  position integer NOT NULL,
  schedule jsonb NOT NULL,
  open_minutes integer[] DEFAULT ARRAY[]::integer[],
  attempt_hourly_limit integer,
  connection_hourly_limit integer,
  buyer_conversion_hourly_limit integer,
  revenue_hourly_limit numeric(14, 2),
  earned_revenue_hourly_limit numeric(14, 2),
  CONSTRAINT buyer_business_hours_pkey PRIMARY KEY (company_id, buyer_id, position)
);

CREATE TABLE buyer_conversions (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  buyer_id bigint NOT NULL,
  time_frame integer NOT NULL,
  position integer NOT NULL,
  schedule jsonb NOT NULL,
  open_minutes integer[] DEFAULT ARRAY[]::integer[],
  name text,
  conversion_type text NOT NULL,
  duration integer NOT NULL,
  revenue numeric(14, 2) NOT NULL,
  revenue_min numeric(14, 2),
  revenue_max numeric(14, 2),
  revenue_increment numeric(14, 2),
  duplicate_timeframe integer NOT NULL,
  token_values text[] DEFAULT ARRAY[]::text[],
  token_value_ids bigint[] DEFAULT ARRAY[]::bigint[],
  attribution_token_values text[] DEFAULT ARRAY[]::text[],
  attribution_token_value_ids bigint[] DEFAULT ARRAY[]::bigint[],
  CONSTRAINT buyer_conversions_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX buyer_conversions_company_id_uuid_key ON buyer_conversions (company_id, uuid);
CREATE UNIQUE INDEX buyer_conversions_company_id_buyer_id_time_frame_position_key
  ON buyer_conversions (company_id, buyer_id, time_frame, position);

CREATE TABLE buyer_groups (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text,
  time_zone text NOT NULL,
  paused boolean NOT NULL DEFAULT false,
  paused_at timestamptz(3),
  unpaused_at timestamptz(3),
  paused_by_user_id bigint,
  tier double precision NOT NULL,
  weight double precision NOT NULL,
  dial_buyers_type text NOT NULL,
  CONSTRAINT buyer_groups_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX buyer_groups_company_id_name_id_idx
  ON buyer_groups (company_id, name, id) WHERE deleted_at IS NULL;
CREATE INDEX buyer_groups_company_id_created_at_id_idx
  ON buyer_groups (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX buyer_groups_company_id_uuid_key ON buyer_groups (company_id, uuid);
CREATE INDEX buyer_groups_fulltext_idx ON buyer_groups USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE buyer_group_members (
  company_id bigint NOT NULL,
  buyer_group_id bigint NOT NULL,
  buyer_id bigint NOT NULL,
  CONSTRAINT buyer_group_members_pkey PRIMARY KEY (company_id, buyer_group_id, buyer_id)
);
CREATE INDEX buyer_group_members_company_id_buyer_id_idx
  ON buyer_group_members (company_id, buyer_id);

CREATE TABLE buyer_fleets (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text NOT NULL,
  description text,
  user_fleet_id text NOT NULL,
  CONSTRAINT buyer_fleets_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX buyer_fleets_company_id_name_id_idx
  ON buyer_fleets (company_id, name, id) WHERE deleted_at IS NULL;
CREATE INDEX buyer_fleets_company_id_created_at_id_idx
  ON buyer_fleets (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX buyer_fleets_company_id_uuid_key ON buyer_fleets (company_id, uuid);
CREATE UNIQUE INDEX buyer_fleets_company_id_user_fleet_id_key
  ON buyer_fleets (company_id, user_fleet_id) WHERE deleted_at IS NULL;
CREATE INDEX buyer_fleets_fulltext_idx ON buyer_fleets USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(user_fleet_id, '')
    || E'\n' || coalesce(description, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

-- Its body is in prisma/sql/caps/keeps_network_limits.sql: the constraint needs its name.
CREATE FUNCTION keeps_network_limits(ceilings jsonb, calls integer[], dollars numeric[])
RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN false; END $$;

CREATE TABLE call_limits (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  buyer_id bigint,
  buyer_group_id bigint,
  zone text NOT NULL,
  concurrency_cap_limit integer,
  concurrency_cap_used integer NOT NULL DEFAULT 0,
  pending_connections integer NOT NULL DEFAULT 0,
  pending_conversions integer NOT NULL DEFAULT 0,
  pending_revenue numeric(14, 2) NOT NULL DEFAULT 0,
  hourly_resets_at timestamptz(3),
  daily_resets_at timestamptz(3),
  monthly_resets_at timestamptz(3),
  attempt_total_used integer NOT NULL DEFAULT 0,
  attempt_monthly_used integer NOT NULL DEFAULT 0,
  attempt_daily_used integer NOT NULL DEFAULT 0,
  attempt_hourly_used integer NOT NULL DEFAULT 0,
  connection_total_used integer NOT NULL DEFAULT 0,
  connection_monthly_used integer NOT NULL DEFAULT 0,
  connection_daily_used integer NOT NULL DEFAULT 0,
  connection_hourly_used integer NOT NULL DEFAULT 0,
  buyer_conversion_total_used integer NOT NULL DEFAULT 0,
  buyer_conversion_monthly_used integer NOT NULL DEFAULT 0,
  buyer_conversion_daily_used integer NOT NULL DEFAULT 0,
  buyer_conversion_hourly_used integer NOT NULL DEFAULT 0,
  revenue_total_used numeric(14, 2) NOT NULL DEFAULT 0,
  revenue_monthly_used numeric(14, 2) NOT NULL DEFAULT 0,
  revenue_daily_used numeric(14, 2) NOT NULL DEFAULT 0,
  revenue_hourly_used numeric(14, 2) NOT NULL DEFAULT 0,
  earned_revenue_total_used numeric(14, 2) NOT NULL DEFAULT 0,
  earned_revenue_monthly_used numeric(14, 2) NOT NULL DEFAULT 0,
  earned_revenue_daily_used numeric(14, 2) NOT NULL DEFAULT 0,
  earned_revenue_hourly_used numeric(14, 2) NOT NULL DEFAULT 0,
  attempt_total_limit integer,
  attempt_monthly_limit integer,
  attempt_daily_limit integer,
  attempt_hourly_limit integer,
  connection_total_limit integer,
  connection_monthly_limit integer,
  connection_daily_limit integer,
  connection_hourly_limit integer,
  buyer_conversion_total_limit integer,
  buyer_conversion_monthly_limit integer,
  buyer_conversion_daily_limit integer,
  buyer_conversion_hourly_limit integer,
  revenue_total_limit numeric(14, 2),
  revenue_monthly_limit numeric(14, 2),
  revenue_daily_limit numeric(14, 2),
  revenue_hourly_limit numeric(14, 2),
  earned_revenue_total_limit numeric(14, 2),
  earned_revenue_monthly_limit numeric(14, 2),
  earned_revenue_daily_limit numeric(14, 2),
  earned_revenue_hourly_limit numeric(14, 2),
  calls_count integer NOT NULL DEFAULT 0,
  last_call_at timestamptz(3),
  totals_reset_at timestamptz(3),
  network_limits jsonb NOT NULL DEFAULT '{}',
  changed_by xid8 NOT NULL DEFAULT pg_current_xact_id(),
  balance numeric(14, 2),
  credit_limit numeric(14, 2) NOT NULL DEFAULT 0,
  balance_low_limit numeric(14, 2),
  traffic_source_id bigint,
  CONSTRAINT call_limits_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT call_limits_concurrency_check CHECK (concurrency_cap_used >= 0),
  -- A limit that a caller without the right to raise it has lowered stays within what it was. By a
  -- function, because PostgreSQL reads the text of a constraint anew for every statement that
  -- changes a row: written out, this one took more than half of the time of counting a call.
  CONSTRAINT call_limits_network_check CHECK (
    network_limits = '{}'
    OR keeps_network_limits(
      network_limits,
      ARRAY[
        concurrency_cap_limit, attempt_total_limit, attempt_monthly_limit, attempt_daily_limit,
        attempt_hourly_limit, connection_total_limit, connection_monthly_limit,
        connection_daily_limit, connection_hourly_limit, buyer_conversion_total_limit,
        buyer_conversion_monthly_limit, buyer_conversion_daily_limit, buyer_conversion_hourly_limit
      ],
      ARRAY[
        revenue_total_limit, revenue_monthly_limit, revenue_daily_limit, revenue_hourly_limit,
        earned_revenue_total_limit, earned_revenue_monthly_limit, earned_revenue_daily_limit,
        earned_revenue_hourly_limit
      ]
    )
  ),
  -- The limits of a row belong to a buyer, to a group or to a traffic source.
  CONSTRAINT call_limits_owner_check
    CHECK (num_nonnulls(buyer_id, buyer_group_id, traffic_source_id) = 1)
) WITH (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
CREATE UNIQUE INDEX call_limits_company_id_buyer_id_key ON call_limits (company_id, buyer_id);
CREATE UNIQUE INDEX call_limits_company_id_buyer_group_id_key
  ON call_limits (company_id, buyer_group_id);
CREATE INDEX call_limits_company_id_changed_by_idx ON call_limits (company_id, changed_by);
CREATE UNIQUE INDEX call_limits_company_id_traffic_source_id_key
  ON call_limits (company_id, traffic_source_id);

-- ---------------------------------------------------------------------------------------------
-- Suppression
-- ---------------------------------------------------------------------------------------------

-- Values of buyer_suppression_files.queue_position: the files of a list are imported in this order.
CREATE SEQUENCE suppression_file_positions;

CREATE TABLE buyer_suppressions (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text NOT NULL,
  caller_id_column_name text,
  headers text[] DEFAULT ARRAY[]::text[],
  blocked bigint NOT NULL DEFAULT 0,
  CONSTRAINT buyer_suppressions_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT buyer_suppressions_blocked_check CHECK (blocked >= 0)
);
CREATE INDEX buyer_suppressions_company_id_created_at_id_idx
  ON buyer_suppressions (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX buyer_suppressions_company_id_uuid_key ON buyer_suppressions (company_id, uuid);
CREATE INDEX buyer_suppressions_fulltext_idx ON buyer_suppressions USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE buyer_suppression_buyers (
  company_id bigint NOT NULL,
  buyer_suppression_id bigint NOT NULL,
  buyer_id bigint NOT NULL,
  CONSTRAINT buyer_suppression_buyers_pkey PRIMARY KEY (company_id, buyer_suppression_id, buyer_id)
);
CREATE INDEX buyer_suppression_buyers_company_id_buyer_id_buyer_suppress_idx
  ON buyer_suppression_buyers (company_id, buyer_id, buyer_suppression_id);

CREATE TABLE buyer_suppression_offers (
  company_id bigint NOT NULL,
  buyer_suppression_id bigint NOT NULL,
  offer_id bigint NOT NULL,
  CONSTRAINT buyer_suppression_offers_pkey PRIMARY KEY (company_id, buyer_suppression_id, offer_id)
);
CREATE INDEX buyer_suppression_offers_company_id_offer_id_buyer_suppress_idx
  ON buyer_suppression_offers (company_id, offer_id, buyer_suppression_id);

CREATE TABLE buyer_suppression_schedules (
  company_id bigint NOT NULL,
  buyer_suppression_id bigint NOT NULL,
  schedule_id bigint NOT NULL,
  CONSTRAINT buyer_suppression_schedules_pkey
    PRIMARY KEY (company_id, buyer_suppression_id, schedule_id)
);
CREATE INDEX buyer_suppression_schedules_company_id_schedule_id_buyer_su_idx
  ON buyer_suppression_schedules (company_id, schedule_id, buyer_suppression_id);

CREATE TABLE buyer_suppression_numbers (
  company_id bigint NOT NULL,
  buyer_suppression_id bigint NOT NULL,
  number bigint NOT NULL,
  CONSTRAINT buyer_suppression_numbers_pkey PRIMARY KEY (company_id, buyer_suppression_id, number)
);

CREATE TABLE buyer_suppression_files (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text,
  buyer_suppression_id bigint,
  apply_block_or_unblock text NOT NULL,
  user_id bigint,
  status text NOT NULL,
  caller_id_column_name text,
  headers text[] DEFAULT ARRAY[]::text[],
  found_column_name text,
  found_headers text[] DEFAULT ARRAY[]::text[],
  error_message text,
  import_file_key text,
  import_file_name text,
  import_file_bytes bigint,
  total_count bigint,
  import_count bigint NOT NULL DEFAULT 0,
  rejected_count bigint NOT NULL DEFAULT 0,
  added_count bigint NOT NULL DEFAULT 0,
  removed_count bigint NOT NULL DEFAULT 0,
  queue_position bigint,
  job_id uuid,
  run_id uuid,
  attempts integer NOT NULL DEFAULT 0,
  started_at timestamptz(3),
  stopped_at timestamptz(3),
  failed_at timestamptz(3),
  succeeded_at timestamptz(3),
  CONSTRAINT buyer_suppression_files_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT buyer_suppression_files_status_check
    CHECK (status IN ('pending', 'running', 'succeeded', 'failed', 'stopped')),
  CONSTRAINT buyer_suppression_files_apply_check
    CHECK (apply_block_or_unblock IN ('block', 'unblock')),
  -- A running import has its file, its list, its position and its run.
  CONSTRAINT buyer_suppression_files_running_check CHECK (
    status <> 'running'
    OR (
      import_file_key IS NOT NULL
      AND buyer_suppression_id IS NOT NULL
      AND queue_position IS NOT NULL
      AND run_id IS NOT NULL
    )
  ),
  -- An import processes no more rows than its file has.
  CONSTRAINT buyer_suppression_files_count_check CHECK (
    import_count >= 0
    AND rejected_count >= 0
    AND import_count + rejected_count <= coalesce(total_count, 0)
  )
);
CREATE INDEX buyer_suppression_files_company_id_buyer_suppression_id_que_idx
  ON buyer_suppression_files (company_id, buyer_suppression_id, queue_position);
CREATE INDEX buyer_suppression_files_company_id_created_at_id_idx
  ON buyer_suppression_files (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX buyer_suppression_files_company_id_uuid_key
  ON buyer_suppression_files (company_id, uuid);
CREATE INDEX buyer_suppression_files_fulltext_idx ON buyer_suppression_files USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE rejected_rows (
  company_id bigint NOT NULL,
  buyer_suppression_file_id bigint NOT NULL,
  line bigint NOT NULL,
  caller_id text NOT NULL,
  reason text NOT NULL,
  CONSTRAINT rejected_rows_pkey PRIMARY KEY (company_id, buyer_suppression_file_id, line)
);

-- ---------------------------------------------------------------------------------------------
-- Numbers
-- ---------------------------------------------------------------------------------------------

CREATE TABLE numbers (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text,
  phone_number bigint NOT NULL,
  country text NOT NULL,
  toll_free boolean NOT NULL DEFAULT false,
  carrier text NOT NULL,
  carrier_number_id text,
  offer_id bigint,
  traffic_source_id bigint,
  forward_type text NOT NULL DEFAULT 'offer_id',
  buyer_id bigint,
  last_assigned_at timestamptz(3),
  CONSTRAINT numbers_pkey PRIMARY KEY (company_id, id),
  -- A number that forwards to a buyer has a buyer, until the number is deleted.
  CONSTRAINT numbers_forward_type_check CHECK (
    forward_type = 'offer_id'
    OR (forward_type = 'buyer_id' AND (buyer_id IS NOT NULL OR deleted_at IS NOT NULL))
  )
);
CREATE INDEX numbers_company_id_created_at_id_idx
  ON numbers (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX numbers_company_id_name_id_idx
  ON numbers (company_id, name, id) WHERE deleted_at IS NULL;
CREATE INDEX numbers_company_id_offer_id_id_idx
  ON numbers (company_id, offer_id, id) WHERE deleted_at IS NULL AND offer_id IS NOT NULL;
CREATE INDEX numbers_company_id_buyer_id_id_idx
  ON numbers (company_id, buyer_id, id) WHERE deleted_at IS NULL AND buyer_id IS NOT NULL;
CREATE INDEX numbers_company_id_traffic_source_id_id_idx
  ON numbers (company_id, traffic_source_id, id)
  WHERE deleted_at IS NULL AND traffic_source_id IS NOT NULL;
CREATE UNIQUE INDEX numbers_company_id_uuid_key ON numbers (company_id, uuid);
CREATE UNIQUE INDEX numbers_company_id_phone_number_key
  ON numbers (company_id, phone_number) WHERE deleted_at IS NULL;
CREATE INDEX numbers_fulltext_idx ON numbers USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(phone_number::text, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE number_lookups (
  phone_number bigint NOT NULL,
  company_id bigint NOT NULL,
  number_id bigint,
  purchase_key uuid,
  purchase_tried_at timestamptz(3),
  CONSTRAINT number_lookups_pkey PRIMARY KEY (phone_number),
  -- A number in the lookup table is either owned or being bought.
  CONSTRAINT number_lookups_owned_or_bought_check CHECK (
    (number_id IS NULL) = (purchase_key IS NOT NULL)
    AND (purchase_key IS NULL) = (purchase_tried_at IS NULL)
  )
);
CREATE INDEX number_lookups_unfinished_idx
  ON number_lookups (company_id, phone_number) WHERE number_id IS NULL;

-- ---------------------------------------------------------------------------------------------
-- Offers
-- ---------------------------------------------------------------------------------------------

CREATE TABLE offers (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text NOT NULL,
  user_offer_id text,
  description text,
  time_zone text NOT NULL,
  paused boolean NOT NULL DEFAULT false,
  paused_at timestamptz(3),
  unpaused_at timestamptz(3),
  paused_by_user_id bigint,
  lead_token text NOT NULL,
  greeting_message text,
  fallback_type text NOT NULL DEFAULT 'hang_up',
  fallback_message text,
  fallback_number text,
  callback_behavior text NOT NULL DEFAULT 'route_as_new',
  skip_duplicates boolean NOT NULL DEFAULT false,
  spacing_seconds integer NOT NULL DEFAULT 0,
  payouts jsonb NOT NULL DEFAULT '[]',
  lead_token_powers text[],
  abandoned_message text,
  CONSTRAINT offers_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX offers_company_id_name_id_idx
  ON offers (company_id, name, id) WHERE deleted_at IS NULL;
CREATE INDEX offers_company_id_created_at_id_idx
  ON offers (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX offers_company_id_uuid_key ON offers (company_id, uuid);
CREATE UNIQUE INDEX offers_company_id_user_offer_id_key
  ON offers (company_id, user_offer_id) WHERE deleted_at IS NULL;
CREATE INDEX offers_fulltext_idx ON offers USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(user_offer_id, '')
    || E'\n' || coalesce(description, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE offer_buyers (
  company_id bigint NOT NULL,
  offer_id bigint NOT NULL,
  buyer_id bigint NOT NULL,
  CONSTRAINT offer_buyers_pkey PRIMARY KEY (company_id, offer_id, buyer_id)
);
CREATE INDEX offer_buyers_company_id_buyer_id_idx ON offer_buyers (company_id, buyer_id);

CREATE TABLE offer_buyer_groups (
  company_id bigint NOT NULL,
  offer_id bigint NOT NULL,
  buyer_group_id bigint NOT NULL,
  CONSTRAINT offer_buyer_groups_pkey PRIMARY KEY (company_id, offer_id, buyer_group_id)
);
CREATE INDEX offer_buyer_groups_company_id_buyer_group_id_idx
  ON offer_buyer_groups (company_id, buyer_group_id);

CREATE TABLE traffic_sources (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text NOT NULL,
  user_traffic_source_id text,
  email text,
  description text,
  first_name text,
  last_name text,
  company_name text,
  paused boolean NOT NULL DEFAULT false,
  time_zone text NOT NULL DEFAULT 'Eastern Time (US & Canada)',
  blocked_buyer_ids bigint[] DEFAULT ARRAY[]::bigint[],
  allowed_buyer_ids bigint[] DEFAULT ARRAY[]::bigint[],
  payouts jsonb NOT NULL DEFAULT '[]',
  CONSTRAINT traffic_sources_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX traffic_sources_company_id_name_id_idx
  ON traffic_sources (company_id, name, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX traffic_sources_company_id_uuid_key ON traffic_sources (company_id, uuid);
CREATE UNIQUE INDEX traffic_sources_company_id_user_traffic_source_id_key
  ON traffic_sources (company_id, user_traffic_source_id) WHERE deleted_at IS NULL;
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

CREATE TABLE traffic_source_call_counts (
  company_id bigint NOT NULL,
  traffic_source_id bigint NOT NULL,
  slot integer NOT NULL,
  n bigint NOT NULL,
  last_call_at timestamptz(3),
  CONSTRAINT traffic_source_call_counts_pkey PRIMARY KEY (company_id, traffic_source_id, slot)
);

CREATE TABLE lead_tokens (
  token text NOT NULL,
  company_id bigint NOT NULL,
  offer_id bigint,
  schedule_id bigint,
  traffic_source_id bigint,
  CONSTRAINT lead_tokens_pkey PRIMARY KEY (token),
  -- A lead token belongs either to an offer or to a schedule.
  CONSTRAINT lead_tokens_owner_check CHECK ((offer_id IS NULL) <> (schedule_id IS NULL))
);

-- Tokens with which a traffic source submits leads to an offer or a schedule, or calls to an
-- endpoint for sellers: what comes with one is of that source.
CREATE TABLE traffic_source_tokens (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL DEFAULT gen_random_uuid(),
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text,
  traffic_source_id bigint NOT NULL,
  offer_id bigint,
  schedule_id bigint,
  inbound_webhook_id bigint,
  lead_token text,
  auth_token_digest bytea,
  CONSTRAINT traffic_source_tokens_pkey PRIMARY KEY (company_id, id),
  -- A token of a traffic source is for one place, and is what that place takes.
  CONSTRAINT traffic_source_tokens_place_check
    CHECK (num_nonnulls(offer_id, schedule_id, inbound_webhook_id) = 1),
  CONSTRAINT traffic_source_tokens_secret_check CHECK (
    CASE WHEN inbound_webhook_id IS NULL THEN lead_token ELSE auth_token_digest::text END
      IS NOT NULL
  )
);
CREATE UNIQUE INDEX traffic_source_tokens_company_id_uuid_key
  ON traffic_source_tokens (company_id, uuid);
CREATE INDEX traffic_source_tokens_company_id_traffic_source_id_id_idx
  ON traffic_source_tokens (company_id, traffic_source_id, id) WHERE deleted_at IS NULL;
CREATE INDEX traffic_source_tokens_company_id_inbound_webhook_id_idx
  ON traffic_source_tokens (company_id, inbound_webhook_id)
  WHERE deleted_at IS NULL AND inbound_webhook_id IS NOT NULL;

-- ---------------------------------------------------------------------------------------------
-- Leads
-- ---------------------------------------------------------------------------------------------

CREATE TABLE contacts (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  caller_number bigint NOT NULL,
  blocked boolean NOT NULL DEFAULT false,
  blocked_at timestamptz(3),
  unblocked_at timestamptz(3),
  opt_out boolean NOT NULL DEFAULT false,
  opted_out_at timestamptz(3),
  opted_in_at timestamptz(3),
  calls_count integer NOT NULL DEFAULT 0,
  sms_count integer NOT NULL DEFAULT 0,
  emails_count integer NOT NULL DEFAULT 0,
  last_contacted_at timestamptz(3),
  CONSTRAINT contacts_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX contacts_blocked_idx ON contacts (company_id, id) WHERE blocked;
CREATE INDEX contacts_opt_out_idx ON contacts (company_id, id) WHERE opt_out;
CREATE UNIQUE INDEX contacts_company_id_uuid_key ON contacts (company_id, uuid);
CREATE UNIQUE INDEX contacts_company_id_caller_number_key ON contacts (company_id, caller_number);
CREATE INDEX contacts_company_id_created_at_id_idx
  ON contacts (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX contacts_fulltext_idx ON contacts USING gin (
  company_id,
  (lower(
    caller_number::text
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE contact_restrictions (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  caller_number bigint NOT NULL,
  offer_id bigint,
  schedule_id bigint,
  blocked boolean NOT NULL DEFAULT false,
  opt_out boolean NOT NULL DEFAULT false,
  CONSTRAINT contact_restrictions_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT contact_restrictions_owner_check CHECK ((offer_id IS NULL) <> (schedule_id IS NULL))
);
CREATE UNIQUE INDEX contact_restrictions_company_id_offer_id_caller_number_key
  ON contact_restrictions (company_id, offer_id, caller_number);
CREATE UNIQUE INDEX contact_restrictions_company_id_schedule_id_caller_number_key
  ON contact_restrictions (company_id, schedule_id, caller_number);
CREATE INDEX contact_restrictions_company_id_caller_number_idx
  ON contact_restrictions (company_id, caller_number);

-- Updated at every step of their schedule: free space in each page lets the new version of a row
-- stay in its page, and frequent unthrottled vacuums keep the table small.
CREATE TABLE leads (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  caller_number bigint NOT NULL,
  email text,
  contact_field_type text,
  expires_in integer,
  zones text[] DEFAULT ARRAY[]::text[],
  sub_id text,
  offer_id bigint,
  schedule_id bigint,
  status text NOT NULL,
  is_live boolean NOT NULL DEFAULT true,
  traffic_source_id bigint,
  buyer_id bigint,
  remote_ip text,
  attempted_call_id bigint,
  connected_call_id bigint,
  scheduled_callback_id bigint,
  sms_number_id bigint,
  dial_number_id bigint,
  lead_priority numeric(14, 4),
  hours_to_expire integer,
  max_contact_attempts integer,
  revenue numeric(14, 2) NOT NULL DEFAULT 0,
  payout numeric(14, 2) NOT NULL DEFAULT 0,
  offer_converted boolean NOT NULL DEFAULT false,
  buyer_converted boolean NOT NULL DEFAULT false,
  data jsonb NOT NULL DEFAULT '{}',
  first_queued_at timestamptz(3),
  first_action_at timestamptz(3),
  last_action_at timestamptz(3),
  last_call_at timestamptz(3),
  schedule_ended_at timestamptz(3),
  next_action_at timestamptz(3),
  callback_at timestamptz(3),
  entered_at timestamptz(3) NOT NULL,
  phase text NOT NULL DEFAULT 'actions',
  position double precision,
  exit_reason text,
  contact_attempts integer NOT NULL DEFAULT 0,
  delay_reason text,
  suppressed boolean NOT NULL DEFAULT false,
  unreachable boolean NOT NULL DEFAULT false,
  due_at timestamptz(3),
  claim_id uuid,
  step integer NOT NULL DEFAULT 0,
  tries integer NOT NULL DEFAULT 0,
  called_at timestamptz(3),
  replied_at timestamptz(3),
  triggered_by bigint[] DEFAULT ARRAY[]::bigint[],
  CONSTRAINT leads_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT leads_owner_check CHECK (offer_id IS NOT NULL OR schedule_id IS NOT NULL),
  -- Only a live lead has a next step, and a claimed lead is due again when the claim expires.
  CONSTRAINT leads_due_check CHECK (due_at IS NULL OR (is_live AND deleted_at IS NULL)),
  CONSTRAINT leads_claim_check CHECK (claim_id IS NULL OR due_at IS NOT NULL),
  CONSTRAINT leads_deleted_check CHECK (deleted_at IS NULL OR NOT is_live),
  -- 128 KiB.
  CONSTRAINT leads_data_check CHECK (octet_length(data::text) <= 131072),
  CONSTRAINT leads_phase_check CHECK (phase IN ('actions', 'end'))
) WITH (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX leads_company_id_caller_number_id_idx ON leads (company_id, caller_number, id);
CREATE INDEX leads_company_id_created_at_id_idx
  ON leads (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX leads_company_id_schedule_id_id_idx
  ON leads (company_id, schedule_id, id) WHERE deleted_at IS NULL;
CREATE INDEX leads_company_id_offer_id_id_idx
  ON leads (company_id, offer_id, id) WHERE deleted_at IS NULL;
CREATE INDEX leads_company_id_status_id_idx
  ON leads (company_id, status, id) WHERE deleted_at IS NULL;
CREATE INDEX leads_company_id_buyer_id_id_idx
  ON leads (company_id, buyer_id, id) WHERE deleted_at IS NULL AND buyer_id IS NOT NULL;
CREATE INDEX leads_company_id_traffic_source_id_id_idx
  ON leads (company_id, traffic_source_id, id)
  WHERE deleted_at IS NULL AND traffic_source_id IS NOT NULL;
CREATE INDEX leads_buyer_converted_idx
  ON leads (company_id, id) WHERE deleted_at IS NULL AND buyer_converted;
CREATE INDEX leads_due_idx ON leads (due_at) WHERE due_at IS NOT NULL AND lead_priority IS NULL;
CREATE INDEX leads_due_by_priority_idx
  ON leads (due_at, lead_priority) WHERE due_at IS NOT NULL AND lead_priority IS NOT NULL;
CREATE UNIQUE INDEX leads_company_id_uuid_key ON leads (company_id, uuid);
CREATE UNIQUE INDEX leads_live_in_schedule_key
  ON leads (company_id, schedule_id, caller_number) WHERE is_live AND schedule_id IS NOT NULL;
CREATE UNIQUE INDEX leads_live_in_offer_key
  ON leads (company_id, offer_id, caller_number) WHERE is_live AND schedule_id IS NULL;
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
-- Every order of leads, whether the sort key can be null or not.
CREATE INDEX leads_company_id_updated_at_id_idx ON leads (company_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX leads_company_id_lead_priority_id_idx ON leads (company_id, lead_priority, id)
  WHERE deleted_at IS NULL;
CREATE INDEX leads_company_id_last_action_at_id_idx ON leads (company_id, last_action_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX leads_company_id_email_id_idx ON leads (company_id, email, id)
  WHERE deleted_at IS NULL;
-- When the next action of leads is due (NEXT_ACTION_AT of src/domain/leads/columns.ts). With the
-- columns that it is made of, leads are counted in the index alone.
CREATE INDEX leads_next_action_idx ON leads (
  company_id, (CASE WHEN due_at IS NOT NULL THEN coalesce(callback_at, next_action_at) END), id
) INCLUDE (due_at, callback_at, next_action_at) WHERE deleted_at IS NULL;
-- Leads that were deleted are removed for good when LEAD_DAYS have passed.
CREATE INDEX leads_deleted_idx ON leads (company_id, deleted_at, id) WHERE deleted_at IS NOT NULL;
-- How many leads have a next action: the planner does not know it from the index alone.
CREATE STATISTICS leads_next_action ON (
  CASE WHEN due_at IS NOT NULL THEN coalesce(callback_at, next_action_at) END
) FROM leads;

CREATE TABLE scheduled_callbacks (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  lead_id bigint NOT NULL,
  callback_at timestamptz(3) NOT NULL,
  status text NOT NULL DEFAULT 'pending',
  call_id bigint,
  CONSTRAINT scheduled_callbacks_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX scheduled_callbacks_company_id_lead_id_id_idx
  ON scheduled_callbacks (company_id, lead_id, id);

CREATE TABLE lead_logs (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  lead_id bigint NOT NULL,
  event text NOT NULL,
  message text,
  schedule_action_id bigint,
  call_id bigint,
  text_message_id bigint,
  email_id bigint,
  details jsonb,
  CONSTRAINT lead_logs_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX lead_logs_company_id_lead_id_id_idx ON lead_logs (company_id, lead_id, id);
CREATE INDEX lead_logs_company_id_created_at_id_idx
  ON lead_logs (company_id, created_at, id);
CREATE INDEX lead_logs_fulltext_idx ON lead_logs USING gin (
  company_id,
  (lower(message)) gin_trgm_ops
) WHERE message IS NOT NULL;

-- ---------------------------------------------------------------------------------------------
-- Schedules
-- ---------------------------------------------------------------------------------------------

CREATE TABLE schedules (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text NOT NULL,
  user_schedule_id text,
  description text,
  offer_id bigint,
  time_zone text NOT NULL,
  daylight_hours text NOT NULL,
  business_hours jsonb NOT NULL,
  hours_to_expire integer,
  max_contact_attempts integer,
  from_email text,
  paused boolean NOT NULL DEFAULT false,
  paused_at timestamptz(3),
  unpaused_at timestamptz(3),
  paused_by_user_id bigint,
  lead_token text NOT NULL,
  exit_on text[] DEFAULT ARRAY['converted', 'opted_out']::text[],
  triggers jsonb NOT NULL DEFAULT '[]',
  CONSTRAINT schedules_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX schedules_company_id_name_id_idx
  ON schedules (company_id, name, id) WHERE deleted_at IS NULL;
CREATE INDEX schedules_company_id_offer_id_idx ON schedules (company_id, offer_id);
CREATE UNIQUE INDEX schedules_company_id_uuid_key ON schedules (company_id, uuid);
CREATE UNIQUE INDEX schedules_company_id_user_schedule_id_key
  ON schedules (company_id, user_schedule_id) WHERE deleted_at IS NULL;
CREATE INDEX schedules_fulltext_idx ON schedules USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(user_schedule_id, '')
    || E'\n' || coalesce(description, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX schedules_triggers_idx ON schedules (company_id)
  WHERE triggers <> '[]' AND deleted_at IS NULL;

CREATE TABLE schedule_actions (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  schedule_id bigint NOT NULL,
  name text,
  action_type text NOT NULL,
  end_of_schedule boolean NOT NULL DEFAULT false,
  position double precision NOT NULL,
  token_filters text[] DEFAULT ARRAY[]::text[],
  wait_amount integer,
  wait_unit text,
  wait_until text,
  connect_to text,
  timeout_seconds integer,
  body text,
  subject text,
  html boolean,
  from_email text,
  url text,
  method text,
  headers jsonb,
  to_schedule_id bigint,
  maker_user_id bigint,
  maker_team_ids bigint[] DEFAULT ARRAY[]::bigint[],
  only_when_buyer_available boolean,
  machine_action text,
  machine_message text,
  CONSTRAINT schedule_actions_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT schedule_actions_maker_check
    CHECK (maker_user_id IS NOT NULL OR cardinality(maker_team_ids) = 0)
);
CREATE INDEX schedule_actions_company_id_to_schedule_id_idx
  ON schedule_actions (company_id, to_schedule_id);
CREATE UNIQUE INDEX schedule_actions_company_id_uuid_key ON schedule_actions (company_id, uuid);
CREATE UNIQUE INDEX schedule_actions_company_id_position_key
  ON schedule_actions (company_id, schedule_id, end_of_schedule, position) WHERE deleted_at IS NULL;
CREATE INDEX schedule_actions_fulltext_idx ON schedule_actions USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(subject, '')
    || E'\n' || coalesce(body, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE schedule_events (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  kind text NOT NULL,
  lead_id bigint,
  call_id bigint,
  text_message_id bigint,
  CONSTRAINT schedule_events_pkey PRIMARY KEY (company_id, id)
) WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX schedule_events_id_idx ON schedule_events (id);

-- ---------------------------------------------------------------------------------------------
-- Outreach
-- ---------------------------------------------------------------------------------------------

CREATE TABLE text_messages (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  direction text NOT NULL,
  from_number bigint,
  to_number bigint NOT NULL,
  body text NOT NULL,
  status text NOT NULL,
  error_code text,
  error_message text,
  carrier text NOT NULL,
  carrier_message_id text,
  lead_id bigint,
  offer_id bigint,
  schedule_id bigint,
  schedule_action_id bigint,
  token_values jsonb NOT NULL DEFAULT '{}',
  sent_at timestamptz(3),
  delivered_at timestamptz(3),
  in_reply_to_id bigint,
  CONSTRAINT text_messages_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX text_messages_company_id_lead_id_id_idx ON text_messages (company_id, lead_id, id);
CREATE UNIQUE INDEX text_messages_company_id_uuid_key ON text_messages (company_id, uuid);
CREATE UNIQUE INDEX text_messages_company_id_carrier_carrier_message_id_key
  ON text_messages (company_id, carrier, carrier_message_id);
CREATE INDEX text_messages_company_id_created_at_id_idx
  ON text_messages (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX text_messages_fulltext_idx ON text_messages USING gin (
  company_id,
  (lower(
    coalesce(from_number::text, '')
    || E'\n' || coalesce(to_number::text, '')
    || E'\n' || coalesce(body, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX text_messages_company_id_in_reply_to_id_key
  ON text_messages (company_id, in_reply_to_id);

CREATE TABLE emails (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  from_email text NOT NULL,
  to_email text NOT NULL,
  subject text NOT NULL,
  body text NOT NULL,
  html boolean NOT NULL,
  status text NOT NULL,
  error_code text,
  error_message text,
  mailer text NOT NULL,
  message_id text,
  lead_id bigint,
  offer_id bigint,
  schedule_id bigint,
  schedule_action_id bigint,
  token_values jsonb NOT NULL DEFAULT '{}',
  sent_at timestamptz(3),
  CONSTRAINT emails_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX emails_company_id_lead_id_id_idx ON emails (company_id, lead_id, id);
CREATE UNIQUE INDEX emails_company_id_uuid_key ON emails (company_id, uuid);
CREATE INDEX emails_company_id_created_at_id_idx
  ON emails (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX emails_fulltext_idx ON emails USING gin (
  company_id,
  (lower(
    coalesce(from_email, '')
    || E'\n' || coalesce(to_email, '')
    || E'\n' || coalesce(subject, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

-- ---------------------------------------------------------------------------------------------
-- Routing and calls
-- ---------------------------------------------------------------------------------------------

CREATE TABLE switches (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text NOT NULL,
  webhook_url text,
  places_calls boolean NOT NULL DEFAULT true,
  secret_version integer NOT NULL DEFAULT 1,
  secret_rotated_at timestamptz(3),
  boot_id text,
  synced_at timestamptz(3),
  asked_at timestamptz(3),
  last_command_id bigint NOT NULL DEFAULT 0,
  CONSTRAINT switches_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX switches_company_id_uuid_key ON switches (company_id, uuid);
CREATE UNIQUE INDEX switches_company_id_name_key
  ON switches (company_id, name) WHERE deleted_at IS NULL;
CREATE INDEX switches_fulltext_idx ON switches USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

-- Lines of softswitches to the telephone network. `calls_in_second` counts those that began in the
-- second `counted_second`; faults are those since a call through it last reached a telephone.
CREATE TABLE trunks (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text NOT NULL,
  switch_id bigint,
  host text NOT NULL,
  position integer NOT NULL DEFAULT 0,
  prefixes text[] DEFAULT ARRAY[]::text[],
  countries text[] DEFAULT ARRAY[]::text[],
  dial_prefix text NOT NULL DEFAULT '+',
  caller_id_rule text NOT NULL DEFAULT 'pass',
  caller_id text,
  headers jsonb,
  max_calls integer,
  max_calls_per_second integer,
  paused boolean NOT NULL DEFAULT false,
  counted_second timestamptz(3),
  calls_in_second integer NOT NULL DEFAULT 0,
  faults integer NOT NULL DEFAULT 0,
  down_until timestamptz(3),
  last_fault text,
  CONSTRAINT trunks_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX trunks_company_id_uuid_key ON trunks (company_id, uuid);
CREATE UNIQUE INDEX trunks_company_id_name_key
  ON trunks (company_id, name) WHERE deleted_at IS NULL;
CREATE INDEX trunks_fulltext_idx ON trunks USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(host, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

-- What a switch is to do. The numbers of its commands have no gaps: its row is locked for each.
CREATE TABLE switch_commands (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  switch_id bigint NOT NULL,
  command_id bigint NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at timestamptz(3) NOT NULL,
  call_id bigint NOT NULL,
  command text NOT NULL,
  attempt uuid,
  leg_sid text,
  digits text,
  number text,
  caller_id text,
  timeout_seconds integer,
  detect_machine text,
  key_press_id bigint,
  result text,
  reason text,
  answered_at timestamptz(3),
  check_at timestamptz(3),
  CONSTRAINT switch_commands_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX switch_commands_company_id_switch_id_command_id_key
  ON switch_commands (company_id, switch_id, command_id);
CREATE INDEX switch_commands_open_idx
  ON switch_commands (company_id, switch_id, command_id) WHERE result IS NULL;
CREATE INDEX switch_commands_company_id_call_id_idx ON switch_commands (company_id, call_id);
CREATE UNIQUE INDEX switch_commands_originate_key
  ON switch_commands (company_id, call_id) WHERE command = 'originate';
CREATE INDEX switch_commands_check_at_idx ON switch_commands (check_at) WHERE check_at IS NOT NULL;

CREATE TABLE dispositions (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  key text NOT NULL,
  name text NOT NULL,
  position integer NOT NULL DEFAULT 0,
  CONSTRAINT dispositions_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX dispositions_company_id_uuid_key ON dispositions (company_id, uuid);
CREATE UNIQUE INDEX dispositions_company_id_key_key
  ON dispositions (company_id, key) WHERE deleted_at IS NULL;
CREATE INDEX dispositions_fulltext_idx ON dispositions USING gin (
  company_id,
  (lower(
    coalesce(key, '')
    || E'\n' || coalesce(name, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE calls (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  direction text NOT NULL,
  from_number bigint,
  to_number bigint,
  caller_number bigint,
  caller_city text,
  caller_country text,
  connect_to text,
  status text NOT NULL,
  error_code text,
  error_message text,
  hangup_cause text,
  carrier text NOT NULL,
  carrier_call_id text,
  number_id bigint,
  lead_id bigint,
  offer_id bigint,
  traffic_source_id bigint,
  sub_id text,
  contact_field_type text,
  schedule_id bigint,
  schedule_action_id bigint,
  buyer_id bigint,
  buyer_group_id bigint,
  round integer NOT NULL DEFAULT 0,
  fallback text,
  token_values jsonb NOT NULL DEFAULT '{}',
  recording_url text,
  revenue numeric(14, 2) NOT NULL DEFAULT 0,
  buyer_revenue numeric(14, 2) NOT NULL DEFAULT 0,
  payout numeric(14, 2) NOT NULL DEFAULT 0,
  provider_cost numeric(14, 4),
  buyer_converted boolean NOT NULL DEFAULT false,
  buyer_repeat_caller boolean NOT NULL DEFAULT false,
  traffic_source_converted boolean NOT NULL DEFAULT false,
  traffic_source_repeat_caller boolean NOT NULL DEFAULT false,
  answered_at timestamptz(3),
  connected_at timestamptz(3),
  ended_at timestamptz(3),
  total_duration integer,
  answered_duration integer,
  caller_state text,
  caller_zip text,
  agent_id bigint,
  quality_assurance_id bigint,
  quality_assurance_name text,
  disposition_id bigint,
  disposition_notes text,
  service_cost numeric(14, 4) NOT NULL DEFAULT 0,
  conferences integer NOT NULL DEFAULT 0,
  routed boolean NOT NULL DEFAULT false,
  answered_by text,
  machine_action text,
  machine_message text,
  abandoned boolean NOT NULL DEFAULT false,
  unbilled_reason text,
  fallback_ended_at timestamptz(3),
  switch_id bigint,
  CONSTRAINT calls_pkey PRIMARY KEY (company_id, id)
) WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX calls_company_id_lead_id_id_idx ON calls (company_id, lead_id, id);
CREATE INDEX calls_company_id_caller_number_id_idx ON calls (company_id, caller_number, id);
CREATE INDEX calls_company_id_created_at_id_idx
  ON calls (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX calls_company_id_ended_at_id_idx
  ON calls (company_id, ended_at, id) WHERE deleted_at IS NULL;
CREATE INDEX calls_live_idx ON calls (company_id, switch_id)
  WHERE ended_at IS NULL AND switch_id IS NOT NULL;
CREATE INDEX calls_company_id_status_id_idx
  ON calls (company_id, status, id) WHERE deleted_at IS NULL;
CREATE INDEX calls_company_id_offer_id_id_idx
  ON calls (company_id, offer_id, id) WHERE deleted_at IS NULL;
CREATE INDEX calls_company_id_buyer_id_id_idx
  ON calls (company_id, buyer_id, id) WHERE deleted_at IS NULL;
CREATE INDEX calls_company_id_traffic_source_id_id_idx
  ON calls (company_id, traffic_source_id, id)
  WHERE deleted_at IS NULL AND traffic_source_id IS NOT NULL;
CREATE INDEX calls_company_id_schedule_id_id_idx
  ON calls (company_id, schedule_id, id) WHERE deleted_at IS NULL AND schedule_id IS NOT NULL;
CREATE INDEX calls_company_id_number_id_id_idx
  ON calls (company_id, number_id, id) WHERE deleted_at IS NULL AND number_id IS NOT NULL;
CREATE INDEX calls_in_progress_idx
  ON calls (company_id, id) WHERE deleted_at IS NULL AND ended_at IS NULL;
CREATE INDEX calls_recorded_idx
  ON calls (company_id, id) WHERE deleted_at IS NULL AND recording_url IS NOT NULL;
CREATE INDEX calls_either_converted_idx
  ON calls (company_id, id)
  WHERE deleted_at IS NULL AND (buyer_converted OR traffic_source_converted);
CREATE INDEX calls_no_buyer_idx
  ON calls (company_id, id) WHERE deleted_at IS NULL AND buyer_id IS NULL;
CREATE INDEX calls_outbound_idx
  ON calls (company_id, id) WHERE deleted_at IS NULL AND direction = 'outbound';
CREATE UNIQUE INDEX calls_company_id_uuid_key ON calls (company_id, uuid);
CREATE UNIQUE INDEX calls_company_id_carrier_carrier_call_id_key
  ON calls (company_id, carrier, carrier_call_id);
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
-- Calls are filtered by the values of their tokens with the operator @>.
CREATE INDEX calls_token_values_idx
  ON calls USING gin (company_id, token_values jsonb_path_ops) WHERE deleted_at IS NULL;
-- Grouped reports read the calls of a time in this alone (decision 026).
CREATE INDEX calls_reported_idx ON calls (company_id, created_at) INCLUDE (
  offer_id, buyer_id, buyer_group_id, traffic_source_id, schedule_id, direction, from_number,
  to_number, sub_id, caller_state, connected_at, ended_at, total_duration, buyer_converted,
  traffic_source_converted, revenue, payout
) WHERE deleted_at IS NULL;
CREATE INDEX calls_sandbox_idx ON calls (company_id, created_at)
  WHERE deleted_at IS NULL AND carrier = 'sandbox';
-- How many chunks there are: without it, the planner takes each call for a chunk of its own, and
-- does not count in parallel.
CREATE STATISTICS calls_chunks ON (id / 8192) FROM calls;

CREATE TABLE call_attempts (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  call_id bigint NOT NULL,
  round integer NOT NULL,
  buyer_id bigint NOT NULL,
  buyer_group_id bigint,
  connect_to text NOT NULL,
  status text NOT NULL,
  timeout_seconds integer NOT NULL,
  press_one_to_accept boolean NOT NULL,
  dial jsonb NOT NULL,
  answered_at timestamptz(3),
  connected_at timestamptz(3),
  ended_at timestamptz(3),
  leg_sid text,
  ring_until timestamptz(3),
  recorded_at timestamptz(3),
  bid numeric(14, 2),
  bid_duration integer,
  trunk_id bigint,
  failed_trunk_ids bigint[] DEFAULT ARRAY[]::bigint[],
  routes jsonb,
  CONSTRAINT call_attempts_pkey PRIMARY KEY (company_id, id)
) WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX call_attempts_company_id_buyer_id_created_at_idx
  ON call_attempts (company_id, buyer_id, created_at);
CREATE UNIQUE INDEX call_attempts_company_id_uuid_key ON call_attempts (company_id, uuid);
CREATE UNIQUE INDEX call_attempts_company_id_call_id_buyer_id_key
  ON call_attempts (company_id, call_id, buyer_id);
CREATE INDEX call_attempts_trunk_idx ON call_attempts (company_id, trunk_id)
  WHERE trunk_id IS NOT NULL AND status IN ('ringing', 'answered', 'connected');
CREATE INDEX call_attempts_ring_until_idx
  ON call_attempts (ring_until) WHERE status = 'ringing' AND ring_until IS NOT NULL;

-- Bids that are kept for a caller and an offer until they expire.
CREATE TABLE bids (
  company_id bigint NOT NULL,
  caller_number bigint NOT NULL,
  offer_id bigint NOT NULL,
  buyer_id bigint NOT NULL,
  created_at timestamptz(3) NOT NULL,
  amount numeric(14, 2) NOT NULL,
  number text,
  duration integer NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  CONSTRAINT bids_pkey PRIMARY KEY (company_id, caller_number, offer_id, buyer_id)
);
CREATE INDEX bids_expires_at_idx ON bids (expires_at);

-- Questions that a bidder did not answer, or not as agreed. Several within a minute suspend it.
CREATE TABLE bid_failures (
  company_id bigint NOT NULL,
  buyer_id bigint NOT NULL,
  failed_at timestamptz(3) NOT NULL,
  uuid uuid NOT NULL,
  CONSTRAINT bid_failures_pkey PRIMARY KEY (company_id, buyer_id, failed_at, uuid)
);
CREATE INDEX bid_failures_failed_at_idx ON bid_failures (failed_at);

CREATE TABLE call_slots (
  company_id bigint NOT NULL,
  call_id bigint NOT NULL,
  call_limit_id bigint NOT NULL,
  connections integer NOT NULL DEFAULT 0,
  conversions integer NOT NULL DEFAULT 0,
  revenue numeric(14, 2) NOT NULL DEFAULT 0,
  lease_until timestamptz(3) NOT NULL,
  seen_at timestamptz(3) NOT NULL,
  CONSTRAINT call_slots_pkey PRIMARY KEY (company_id, call_id, call_limit_id)
) WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX call_slots_lease_until_idx ON call_slots (lease_until);

CREATE TABLE call_decisions (
  company_id bigint NOT NULL,
  call_id bigint NOT NULL,
  round integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  decision json NOT NULL,
  CONSTRAINT call_decisions_pkey PRIMARY KEY (company_id, call_id, round)
);

-- What the decisions about an offer have in common is stored once.
CREATE TABLE decision_bases (
  company_id bigint NOT NULL,
  hash text NOT NULL,
  basis json NOT NULL,
  CONSTRAINT decision_bases_pkey PRIMARY KEY (company_id, hash)
);

CREATE TABLE call_recordings (
  company_id bigint NOT NULL,
  call_id bigint NOT NULL,
  created_at timestamptz(3) NOT NULL,
  file_key text NOT NULL,
  media_type text NOT NULL,
  sha256 text NOT NULL,
  CONSTRAINT call_recordings_pkey PRIMARY KEY (company_id, call_id)
);
-- Which of many files are in use.
CREATE INDEX call_recordings_file_key_idx ON call_recordings (file_key);

CREATE TABLE call_events (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  call_id bigint NOT NULL,
  event text NOT NULL,
  message text,
  buyer_id bigint,
  details jsonb,
  CONSTRAINT call_events_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX call_events_company_id_call_id_id_idx ON call_events (company_id, call_id, id);

CREATE TABLE conversions (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  call_id bigint NOT NULL,
  buyer_id bigint NOT NULL,
  buyer_conversion_id bigint,
  name text,
  caller_number bigint,
  revenue numeric(14, 2) NOT NULL,
  payout numeric(14, 2) NOT NULL DEFAULT 0,
  returned_at timestamptz(3),
  return_reason text,
  CONSTRAINT conversions_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX conversions_company_id_caller_number_buyer_id_created_at_idx
  ON conversions (company_id, caller_number, buyer_id, created_at);
CREATE UNIQUE INDEX conversions_company_id_uuid_key ON conversions (company_id, uuid);
CREATE UNIQUE INDEX conversions_company_id_call_id_buyer_id_key
  ON conversions (company_id, call_id, buyer_id)
  WHERE returned_at IS NULL;
CREATE INDEX conversions_company_id_call_id_idx ON conversions (company_id, call_id);

CREATE TABLE lead_calls (
  company_id bigint NOT NULL,
  call_id bigint NOT NULL,
  changed_at timestamptz(3) NOT NULL,
  CONSTRAINT lead_calls_pkey PRIMARY KEY (company_id, call_id)
);

CREATE TABLE routing_changes (
  company_id bigint NOT NULL,
  slot integer NOT NULL,
  n bigint NOT NULL,
  CONSTRAINT routing_changes_pkey PRIMARY KEY (company_id, slot)
);

CREATE TABLE call_leg_prices (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  call_id bigint NOT NULL,
  carrier_call_id text NOT NULL,
  price numeric(18, 10) NOT NULL,
  currency text NOT NULL,
  CONSTRAINT call_leg_prices_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX call_leg_prices_company_id_call_id_carrier_call_id_key
  ON call_leg_prices (company_id, call_id, carrier_call_id);

CREATE TABLE call_cost_looks (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  call_id bigint NOT NULL,
  due_at timestamptz(3) NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  CONSTRAINT call_cost_looks_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX call_cost_looks_company_id_call_id_key
  ON call_cost_looks (company_id, call_id);
CREATE INDEX call_cost_looks_due_at_idx ON call_cost_looks (due_at);

-- ---------------------------------------------------------------------------------------------
-- Accounts
-- ---------------------------------------------------------------------------------------------

CREATE TABLE account_entries (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL DEFAULT gen_random_uuid(),
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  external_record_id text,
  buyer_id bigint,
  traffic_source_id bigint,
  kind text NOT NULL,
  amount numeric(14, 2) NOT NULL,
  call_id bigint,
  user_id bigint,
  note text,
  CONSTRAINT account_entries_pkey PRIMARY KEY (company_id, id),
  -- An entry, as a statement, belongs to the account of one buyer or one traffic source.
  CONSTRAINT account_entries_owner_check CHECK ((buyer_id IS NULL) <> (traffic_source_id IS NULL)),
  CONSTRAINT account_entries_kind_check
    CHECK (kind IN ('deposit', 'conversion', 'return', 'adjustment', 'payout', 'payment'))
);
CREATE UNIQUE INDEX account_entries_company_id_uuid_key ON account_entries (company_id, uuid);
CREATE INDEX account_entries_company_id_created_at_id_idx
  ON account_entries (company_id, created_at, id);
CREATE INDEX account_entries_company_id_buyer_id_created_at_id_idx
  ON account_entries (company_id, buyer_id, created_at, id) WHERE buyer_id IS NOT NULL;
CREATE INDEX account_entries_company_id_traffic_source_id_created_at_id_idx
  ON account_entries (company_id, traffic_source_id, created_at, id)
  WHERE traffic_source_id IS NOT NULL;
CREATE INDEX account_entries_company_id_call_id_idx
  ON account_entries (company_id, call_id) WHERE call_id IS NOT NULL;

CREATE TABLE statements (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL DEFAULT gen_random_uuid(),
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  external_record_id text,
  buyer_id bigint,
  traffic_source_id bigint,
  period_from timestamptz(3) NOT NULL,
  period_to timestamptz(3) NOT NULL,
  time_zone text NOT NULL,
  opening_balance numeric(14, 2) NOT NULL,
  closing_balance numeric(14, 2) NOT NULL,
  entries_count bigint NOT NULL,
  totals jsonb NOT NULL,
  CONSTRAINT statements_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT statements_owner_check CHECK ((buyer_id IS NULL) <> (traffic_source_id IS NULL)),
  CONSTRAINT statements_period_check CHECK (period_from < period_to)
);
CREATE UNIQUE INDEX statements_company_id_uuid_key ON statements (company_id, uuid);
-- Until when the account of an owner is drawn up.
CREATE INDEX statements_company_id_buyer_id_period_to_idx
  ON statements (company_id, buyer_id, period_to) WHERE buyer_id IS NOT NULL;
CREATE INDEX statements_company_id_traffic_source_id_period_to_idx
  ON statements (company_id, traffic_source_id, period_to) WHERE traffic_source_id IS NOT NULL;

-- ---------------------------------------------------------------------------------------------
-- Ping/post
-- ---------------------------------------------------------------------------------------------

CREATE TABLE inbound_webhooks (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text NOT NULL,
  vanity_uri text NOT NULL,
  offer_id bigint NOT NULL,
  traffic_source_id bigint,
  auth_token_digest bytea,
  hold_seconds integer NOT NULL DEFAULT 60,
  paused boolean NOT NULL DEFAULT false,
  max_open_holds integer NOT NULL DEFAULT 1000,
  maker_user_id bigint,
  maker_team_ids bigint[] DEFAULT ARRAY[]::bigint[],
  show_buyer_names boolean NOT NULL DEFAULT false,
  CONSTRAINT inbound_webhooks_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT inbound_webhooks_maker_check
    CHECK (maker_user_id IS NOT NULL OR cardinality(maker_team_ids) = 0)
);
CREATE INDEX inbound_webhooks_company_id_name_id_idx
  ON inbound_webhooks (company_id, name, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX inbound_webhooks_company_id_uuid_key ON inbound_webhooks (company_id, uuid);
CREATE UNIQUE INDEX inbound_webhooks_company_id_vanity_uri_key
  ON inbound_webhooks (company_id, vanity_uri) WHERE deleted_at IS NULL;
CREATE INDEX inbound_webhooks_fulltext_idx ON inbound_webhooks USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(vanity_uri, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE inbound_webhook_lookups (
  vanity_uri text NOT NULL,
  company_id bigint NOT NULL,
  inbound_webhook_id bigint NOT NULL,
  CONSTRAINT inbound_webhook_lookups_pkey PRIMARY KEY (vanity_uri)
);

CREATE TABLE pings (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  inbound_webhook_id bigint NOT NULL,
  offer_id bigint NOT NULL,
  caller_number bigint NOT NULL,
  traffic_source_id bigint,
  sub_id text,
  token_values jsonb NOT NULL,
  buyer_ids bigint[],
  expires_at timestamptz(3) NOT NULL,
  answer jsonb,
  call_id bigint,
  CONSTRAINT pings_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX pings_created_at_idx ON pings (created_at);
CREATE UNIQUE INDEX pings_company_id_uuid_key ON pings (company_id, uuid);

CREATE TABLE call_holds (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  created_at timestamptz(3) NOT NULL,
  ping_id bigint,
  offer_id bigint NOT NULL,
  caller_number bigint NOT NULL,
  buyer_ids bigint[],
  buyer_group_id bigint,
  slots jsonb NOT NULL,
  caps jsonb NOT NULL,
  posted boolean NOT NULL,
  direct boolean NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  inbound_webhook_id bigint,
  remote_ip text,
  CONSTRAINT call_holds_pkey PRIMARY KEY (company_id, id)
) WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX call_holds_company_id_caller_number_offer_id_idx
  ON call_holds (company_id, caller_number, offer_id);
CREATE INDEX call_holds_expires_at_idx ON call_holds (expires_at);
CREATE UNIQUE INDEX call_holds_company_id_ping_id_key ON call_holds (company_id, ping_id);
CREATE INDEX call_holds_company_id_inbound_webhook_id_remote_ip_idx
  ON call_holds (company_id, inbound_webhook_id, remote_ip);

-- ---------------------------------------------------------------------------------------------
-- Webhooks
-- ---------------------------------------------------------------------------------------------

CREATE TABLE outgoing_webhooks (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text NOT NULL,
  owner_type text NOT NULL,
  owner_id bigint,
  trigger_type text NOT NULL,
  url text NOT NULL,
  origin text NOT NULL,
  method text NOT NULL,
  headers jsonb NOT NULL DEFAULT '{}',
  body text,
  timeout_seconds integer NOT NULL,
  success_codes integer[] DEFAULT ARRAY[]::integer[],
  retries integer NOT NULL,
  paused boolean NOT NULL DEFAULT false,
  paused_reason text,
  token_filters text[] DEFAULT ARRAY[]::text[],
  alert_email text,
  secret_version integer NOT NULL DEFAULT 1,
  secret_rotated_at timestamptz(3),
  maker_user_id bigint,
  maker_team_ids bigint[] DEFAULT ARRAY[]::bigint[],
  CONSTRAINT outgoing_webhooks_pkey PRIMARY KEY (company_id, id),
  -- The webhooks of a company have no owner_id; all others have the id of their owner.
  CONSTRAINT outgoing_webhooks_owner_check CHECK ((owner_type = 'Company') = (owner_id IS NULL)),
  -- Only a limited user is a maker, and is limited to teams.
  CONSTRAINT outgoing_webhooks_maker_check
    CHECK (maker_user_id IS NOT NULL OR cardinality(maker_team_ids) = 0)
);
CREATE INDEX outgoing_webhooks_told_idx
  ON outgoing_webhooks (company_id, trigger_type, id) WHERE deleted_at IS NULL AND NOT paused;
CREATE INDEX outgoing_webhooks_company_id_owner_type_owner_id_idx
  ON outgoing_webhooks (company_id, owner_type, owner_id) WHERE deleted_at IS NULL;
CREATE INDEX outgoing_webhooks_company_id_name_id_idx
  ON outgoing_webhooks (company_id, name, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX outgoing_webhooks_company_id_uuid_key ON outgoing_webhooks (company_id, uuid);
CREATE INDEX outgoing_webhooks_fulltext_idx ON outgoing_webhooks USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(url, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE webhook_events (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  kind text NOT NULL,
  occurred_at timestamptz(3) NOT NULL,
  record_id bigint NOT NULL,
  transaction_id bigint NOT NULL,
  snapshot jsonb NOT NULL,
  CONSTRAINT webhook_events_pkey PRIMARY KEY (company_id, id)
) WITH (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);
CREATE UNIQUE INDEX webhook_events_company_id_transaction_id_record_id_kind_key
  ON webhook_events (company_id, transaction_id, record_id, kind);

CREATE TABLE webhook_queues (
  company_id bigint NOT NULL,
  outgoing_webhook_id bigint NOT NULL,
  next_due_at timestamptz(3),
  leased_until timestamptz(3),
  leased_by uuid,
  alerted_at timestamptz(3),
  CONSTRAINT webhook_queues_pkey PRIMARY KEY (company_id, outgoing_webhook_id)
);
CREATE INDEX webhook_queues_next_due_at_idx
  ON webhook_queues (next_due_at) WHERE next_due_at IS NOT NULL;

CREATE TABLE webhook_deliveries (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  outgoing_webhook_id bigint NOT NULL,
  webhook_manual_fire_id bigint,
  trigger_type text NOT NULL,
  lead_id bigint,
  call_id bigint,
  buyer_id bigint,
  offer_id bigint,
  request_method text NOT NULL,
  request_url text NOT NULL,
  request_headers jsonb NOT NULL,
  request_body text,
  status text NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamptz(3),
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (company_id, id),
  -- Exactly the waiting deliveries are due.
  CONSTRAINT webhook_deliveries_waiting_check CHECK ((status = 'waiting') = (due_at IS NOT NULL))
);
CREATE INDEX webhook_deliveries_first_idx
  ON webhook_deliveries (company_id, outgoing_webhook_id, id)
  WHERE due_at IS NOT NULL AND attempts = 0;
CREATE INDEX webhook_deliveries_again_idx
  ON webhook_deliveries (company_id, outgoing_webhook_id, due_at)
  WHERE due_at IS NOT NULL AND attempts > 0;
CREATE INDEX webhook_deliveries_company_id_call_id_id_idx
  ON webhook_deliveries (company_id, call_id, id) WHERE call_id IS NOT NULL;
CREATE UNIQUE INDEX webhook_deliveries_company_id_uuid_key ON webhook_deliveries (company_id, uuid);

CREATE TABLE webhook_logs (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3),
  outgoing_webhook_id bigint NOT NULL,
  webhook_delivery_id bigint,
  webhook_manual_fire_id bigint,
  lead_log_id bigint,
  trigger_type text NOT NULL,
  event_id uuid NOT NULL,
  attempt integer NOT NULL,
  lead_id bigint,
  call_id bigint,
  buyer_id bigint,
  offer_id bigint,
  request_method text,
  request_url text,
  request_headers jsonb NOT NULL,
  request_body text,
  code integer,
  response_headers jsonb,
  response_body text,
  started_at timestamptz(3) NOT NULL,
  duration integer NOT NULL,
  success boolean NOT NULL,
  notes text,
  CONSTRAINT webhook_logs_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX webhook_logs_company_id_outgoing_webhook_id_id_idx
  ON webhook_logs (company_id, outgoing_webhook_id, id) WHERE deleted_at IS NULL;
CREATE INDEX webhook_logs_company_id_lead_id_id_idx
  ON webhook_logs (company_id, lead_id, id) WHERE deleted_at IS NULL AND lead_id IS NOT NULL;
CREATE INDEX webhook_logs_company_id_call_id_id_idx
  ON webhook_logs (company_id, call_id, id) WHERE deleted_at IS NULL AND call_id IS NOT NULL;
CREATE INDEX webhook_logs_company_id_buyer_id_id_idx
  ON webhook_logs (company_id, buyer_id, id) WHERE deleted_at IS NULL AND buyer_id IS NOT NULL;
CREATE INDEX webhook_logs_company_id_offer_id_id_idx
  ON webhook_logs (company_id, offer_id, id) WHERE deleted_at IS NULL AND offer_id IS NOT NULL;
CREATE INDEX webhook_logs_company_id_code_id_idx
  ON webhook_logs (company_id, code, id) WHERE deleted_at IS NULL AND code IS NOT NULL;
CREATE INDEX webhook_logs_failed_idx
  ON webhook_logs (company_id, id) WHERE deleted_at IS NULL AND NOT success;
CREATE INDEX webhook_logs_delivery_idx
  ON webhook_logs (company_id, webhook_delivery_id) WHERE webhook_delivery_id IS NOT NULL;
CREATE INDEX webhook_logs_manual_fire_idx
  ON webhook_logs (company_id, webhook_manual_fire_id, id) WHERE webhook_manual_fire_id IS NOT NULL;
CREATE UNIQUE INDEX webhook_logs_company_id_uuid_key ON webhook_logs (company_id, uuid);
CREATE INDEX webhook_logs_company_id_created_at_id_idx
  ON webhook_logs (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX webhook_logs_fulltext_idx ON webhook_logs USING gin (
  company_id,
  (lower(
    coalesce(trigger_type, '')
    || E'\n' || coalesce(notes, '')
    || E'\n' || left(coalesce(response_body, ''), 500)
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE webhook_manual_fires (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text,
  outgoing_webhook_id bigint NOT NULL,
  buyer_conversion_id bigint,
  lead_id bigint,
  call_id bigint,
  CONSTRAINT webhook_manual_fires_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX webhook_manual_fires_company_id_created_at_id_idx
  ON webhook_manual_fires (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX webhook_manual_fires_company_id_uuid_key
  ON webhook_manual_fires (company_id, uuid);
CREATE INDEX webhook_manual_fires_fulltext_idx ON webhook_manual_fires USING gin (
  company_id,
  (lower(coalesce(name, ''))) gin_trgm_ops
) WHERE deleted_at IS NULL;

-- ---------------------------------------------------------------------------------------------
-- Alerts
-- ---------------------------------------------------------------------------------------------

-- Rules that say when an operator is to be told, and the episodes in which they hold.
CREATE TABLE alert_rules (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL DEFAULT gen_random_uuid(),
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text NOT NULL,
  kind text NOT NULL,
  paused boolean NOT NULL DEFAULT false,
  buyer_id bigint,
  buyer_group_id bigint,
  traffic_source_id bigint,
  offer_id bigint,
  percent double precision,
  minutes integer,
  count integer,
  min_calls integer,
  amount numeric(14, 2),
  emails text[] DEFAULT ARRAY[]::text[],
  time_zone text NOT NULL,
  schedule jsonb NOT NULL DEFAULT '[]',
  open_minutes integer[] DEFAULT ARRAY[]::integer[],
  last_error text,
  last_error_at timestamptz(3),
  unsent_mails_count integer NOT NULL DEFAULT 0,
  last_unsent_at timestamptz(3),
  last_unsent_reason text,
  CONSTRAINT alert_rules_pkey PRIMARY KEY (company_id, id),
  -- A rule watches one thing, or all.
  CONSTRAINT alert_rules_owner_check
    CHECK (num_nonnulls(buyer_id, buyer_group_id, traffic_source_id, offer_id) <= 1)
);
CREATE UNIQUE INDEX alert_rules_company_id_uuid_key ON alert_rules (company_id, uuid);
CREATE INDEX alert_rules_company_id_created_at_id_idx
  ON alert_rules (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX alert_rules_company_id_last_error_at_idx
  ON alert_rules (company_id, last_error_at) WHERE last_error IS NOT NULL;

CREATE TABLE alerts (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL DEFAULT gen_random_uuid(),
  created_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  alert_rule_id bigint NOT NULL,
  kind text NOT NULL,
  subject text NOT NULL,
  message text NOT NULL,
  value double precision,
  threshold double precision,
  emails text[] DEFAULT ARRAY[]::text[],
  told text,
  CONSTRAINT alerts_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX alerts_company_id_uuid_key ON alerts (company_id, uuid);
-- An episode begins once, however many processes look.
CREATE UNIQUE INDEX alerts_company_id_alert_rule_id_subject_key
  ON alerts (company_id, alert_rule_id, subject) WHERE ended_at IS NULL;
CREATE INDEX alerts_company_id_created_at_id_idx ON alerts (company_id, created_at, id);

-- ---------------------------------------------------------------------------------------------
-- Agents
-- ---------------------------------------------------------------------------------------------

CREATE TABLE call_centers (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text NOT NULL,
  description text,
  user_call_center_id text,
  CONSTRAINT call_centers_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX call_centers_company_id_uuid_key ON call_centers (company_id, uuid);
CREATE UNIQUE INDEX call_centers_company_id_user_call_center_id_key
  ON call_centers (company_id, user_call_center_id) WHERE deleted_at IS NULL;
CREATE INDEX call_centers_fulltext_idx ON call_centers USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(user_call_center_id, '')
    || E'\n' || coalesce(description, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE agent_statuses (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  key text NOT NULL,
  name text NOT NULL,
  is_online boolean NOT NULL,
  position integer NOT NULL DEFAULT 0,
  built_in boolean NOT NULL DEFAULT false,
  CONSTRAINT agent_statuses_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX agent_statuses_company_id_uuid_key ON agent_statuses (company_id, uuid);
CREATE UNIQUE INDEX agent_statuses_company_id_key_key
  ON agent_statuses (company_id, key) WHERE deleted_at IS NULL;
CREATE INDEX agent_statuses_fulltext_idx ON agent_statuses USING gin (
  company_id,
  (lower(
    coalesce(key, '')
    || E'\n' || coalesce(name, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE agents (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  user_id bigint NOT NULL,
  name text,
  agent_status_id bigint NOT NULL,
  status_changed_at timestamptz(3) NOT NULL,
  last_event_id bigint NOT NULL DEFAULT 0,
  CONSTRAINT agents_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT agents_last_event_check CHECK (last_event_id >= 0)
);
CREATE INDEX agents_company_id_agent_status_id_idx
  ON agents (company_id, agent_status_id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX agents_company_id_uuid_key ON agents (company_id, uuid);
CREATE UNIQUE INDEX agents_company_id_user_id_key
  ON agents (company_id, user_id) WHERE deleted_at IS NULL;

CREATE TABLE agent_call_centers (
  company_id bigint NOT NULL,
  agent_id bigint NOT NULL,
  call_center_id bigint NOT NULL,
  CONSTRAINT agent_call_centers_pkey PRIMARY KEY (company_id, agent_id, call_center_id)
);
CREATE INDEX agent_call_centers_company_id_call_center_id_idx
  ON agent_call_centers (company_id, call_center_id);

CREATE TABLE agent_buyers (
  company_id bigint NOT NULL,
  agent_id bigint NOT NULL,
  buyer_id bigint NOT NULL,
  CONSTRAINT agent_buyers_pkey PRIMARY KEY (company_id, agent_id, buyer_id)
);
CREATE INDEX agent_buyers_company_id_buyer_id_idx ON agent_buyers (company_id, buyer_id);

CREATE TABLE agent_status_timestamps (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  agent_id bigint NOT NULL,
  user_id bigint NOT NULL,
  agent_status_id bigint NOT NULL,
  key text NOT NULL,
  CONSTRAINT agent_status_timestamps_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX agent_status_timestamps_company_id_agent_id_id_idx
  ON agent_status_timestamps (company_id, agent_id, id);
CREATE INDEX agent_status_timestamps_company_id_user_id_id_idx
  ON agent_status_timestamps (company_id, user_id, id);
CREATE INDEX agent_status_timestamps_fulltext_idx ON agent_status_timestamps USING gin (
  company_id,
  (lower(coalesce(key, ''))) gin_trgm_ops
);

CREATE TABLE agent_messages (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  content text,
  agent_status_id bigint,
  user_id bigint,
  agent_widget_count integer NOT NULL DEFAULT 0,
  CONSTRAINT agent_messages_pkey PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX agent_messages_company_id_uuid_key ON agent_messages (company_id, uuid);
CREATE INDEX agent_messages_fulltext_idx ON agent_messages USING gin (
  company_id,
  (lower(
    coalesce(content, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;

CREATE TABLE agent_message_buyers (
  company_id bigint NOT NULL,
  agent_message_id bigint NOT NULL,
  buyer_id bigint NOT NULL,
  CONSTRAINT agent_message_buyers_pkey PRIMARY KEY (company_id, agent_message_id, buyer_id)
);
CREATE INDEX agent_message_buyers_company_id_buyer_id_idx
  ON agent_message_buyers (company_id, buyer_id);

CREATE TABLE agent_message_buyer_groups (
  company_id bigint NOT NULL,
  agent_message_id bigint NOT NULL,
  buyer_group_id bigint NOT NULL,
  CONSTRAINT agent_message_buyer_groups_pkey
    PRIMARY KEY (company_id, agent_message_id, buyer_group_id)
);
CREATE INDEX agent_message_buyer_groups_company_id_buyer_group_id_idx
  ON agent_message_buyer_groups (company_id, buyer_group_id);

CREATE TABLE agent_message_call_centers (
  company_id bigint NOT NULL,
  agent_message_id bigint NOT NULL,
  call_center_id bigint NOT NULL,
  CONSTRAINT agent_message_call_centers_pkey
    PRIMARY KEY (company_id, agent_message_id, call_center_id)
);
CREATE INDEX agent_message_call_centers_company_id_call_center_id_idx
  ON agent_message_call_centers (company_id, call_center_id);

CREATE TABLE agent_message_recipients (
  company_id bigint NOT NULL,
  agent_id bigint NOT NULL,
  agent_message_id bigint NOT NULL,
  CONSTRAINT agent_message_recipients_pkey PRIMARY KEY (company_id, agent_id, agent_message_id)
);
CREATE INDEX agent_message_recipients_company_id_agent_message_id_idx
  ON agent_message_recipients (company_id, agent_message_id);

CREATE TABLE agent_events (
  company_id bigint NOT NULL,
  agent_id bigint NOT NULL,
  event_id bigint NOT NULL,
  agent_message_id bigint NOT NULL,
  CONSTRAINT agent_events_pkey PRIMARY KEY (company_id, agent_id, event_id)
);

-- ---------------------------------------------------------------------------------------------
-- Change log
-- ---------------------------------------------------------------------------------------------

CREATE TABLE change_logs (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  record_type text NOT NULL,
  record_id bigint,
  action text NOT NULL,
  operation text NOT NULL,
  changes json NOT NULL,
  user_id bigint,
  user_email text,
  access_token_id bigint,
  credentials text NOT NULL,
  request_id text NOT NULL,
  ip text,
  changes_shown json,
  client_request_id text,
  CONSTRAINT change_logs_pkey PRIMARY KEY (company_id, id)
);
CREATE INDEX change_logs_company_id_record_type_record_id_id_idx
  ON change_logs (company_id, record_type, record_id, id);
CREATE INDEX change_logs_company_id_user_id_id_idx
  ON change_logs (company_id, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX change_logs_company_id_access_token_id_id_idx
  ON change_logs (company_id, access_token_id, id);
CREATE INDEX change_logs_company_id_created_at_id_idx ON change_logs (company_id, created_at, id);
CREATE INDEX change_logs_company_id_action_id_idx ON change_logs (company_id, action, id);
CREATE INDEX change_logs_company_id_request_id_idx ON change_logs (company_id, request_id);
CREATE UNIQUE INDEX change_logs_company_id_uuid_key ON change_logs (company_id, uuid);
CREATE INDEX change_logs_fulltext_idx ON change_logs USING gin (
  company_id,
  (lower(
    coalesce(record_type, '')
    || E'\n' || coalesce(operation, '')
    || E'\n' || coalesce(user_email, '')
    || E'\n' || coalesce(credentials, '')
  )) gin_trgm_ops
);
CREATE INDEX change_logs_company_id_client_request_id_idx
  ON change_logs (company_id, client_request_id) WHERE client_request_id IS NOT NULL;

-- ---------------------------------------------------------------------------------------------
-- Migration from another service
-- ---------------------------------------------------------------------------------------------

-- How far `trunkline migrate --from` has read the history of another service: an interrupted run
-- goes on from there.
CREATE TABLE migration_positions (
  company_id bigint NOT NULL,
  source text NOT NULL,
  resource text NOT NULL,
  cursor text NOT NULL,
  CONSTRAINT migration_positions_pkey PRIMARY KEY (company_id, source, resource)
);

-- ---------------------------------------------------------------------------------------------
-- Large values
-- ---------------------------------------------------------------------------------------------

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
-- Foreign keys
-- ---------------------------------------------------------------------------------------------

-- Every key but those of the company carries company_id, so that the database itself refuses a
-- reference into another company.

-- Companies and credentials
ALTER TABLE access_tokens ADD CONSTRAINT access_tokens_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE access_tokens ADD CONSTRAINT access_tokens_company_id_user_id_fkey
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, id);
ALTER TABLE credential_lookups ADD CONSTRAINT credential_lookups_company_id_access_token_id_fkey
  FOREIGN KEY (company_id, access_token_id)
  REFERENCES access_tokens (company_id, id) ON DELETE CASCADE;

-- Requests: repeated requests, rate limits, counts of records
ALTER TABLE idempotency_keys ADD CONSTRAINT idempotency_keys_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE record_counts ADD CONSTRAINT record_counts_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE call_changes ADD CONSTRAINT call_changes_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE saved_counts ADD CONSTRAINT saved_counts_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);

-- People
ALTER TABLE users ADD CONSTRAINT users_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE mail_addresses ADD CONSTRAINT mail_addresses_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE mail_counts ADD CONSTRAINT mail_counts_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE access_control_lists ADD CONSTRAINT access_control_lists_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE access_control_lists
  ADD CONSTRAINT access_control_lists_company_id_generated_for_buyer_id_fkey
  FOREIGN KEY (company_id, generated_for_buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE access_control_lists
  ADD CONSTRAINT access_control_lists_company_id_generated_for_buyer_group__fkey
  FOREIGN KEY (company_id, generated_for_buyer_group_id) REFERENCES buyer_groups (company_id, id);
ALTER TABLE access_control_lists
  ADD CONSTRAINT access_control_lists_company_id_generated_for_traffic_sour_fkey
  FOREIGN KEY (company_id, generated_for_traffic_source_id)
  REFERENCES traffic_sources (company_id, id);
ALTER TABLE access_control_list_users
  ADD CONSTRAINT access_control_list_users_company_id_access_control_list_i_fkey
  FOREIGN KEY (company_id, access_control_list_id) REFERENCES access_control_lists (company_id, id);
ALTER TABLE access_control_list_users
  ADD CONSTRAINT access_control_list_users_company_id_user_id_fkey
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, id);
ALTER TABLE access_control_list_buyers
  ADD CONSTRAINT access_control_list_buyers_company_id_access_control_list__fkey
  FOREIGN KEY (company_id, access_control_list_id) REFERENCES access_control_lists (company_id, id);
ALTER TABLE access_control_list_buyers
  ADD CONSTRAINT access_control_list_buyers_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE access_control_list_buyer_groups
  ADD CONSTRAINT access_control_list_buyer_groups_company_id_access_control_fkey
  FOREIGN KEY (company_id, access_control_list_id) REFERENCES access_control_lists (company_id, id);
ALTER TABLE access_control_list_buyer_groups
  ADD CONSTRAINT access_control_list_buyer_groups_company_id_buyer_group_id_fkey
  FOREIGN KEY (company_id, buyer_group_id) REFERENCES buyer_groups (company_id, id);
ALTER TABLE access_control_list_offers
  ADD CONSTRAINT access_control_list_offers_company_id_access_control_list__fkey
  FOREIGN KEY (company_id, access_control_list_id) REFERENCES access_control_lists (company_id, id);
ALTER TABLE access_control_list_offers
  ADD CONSTRAINT access_control_list_offers_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);
ALTER TABLE access_control_list_traffic_sources
  ADD CONSTRAINT access_control_list_traffic_sources_company_id_access_cont_fkey
  FOREIGN KEY (company_id, access_control_list_id) REFERENCES access_control_lists (company_id, id);
ALTER TABLE access_control_list_traffic_sources
  ADD CONSTRAINT access_control_list_traffic_sources_company_id_traffic_sou_fkey
  FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id);

-- Value lists
ALTER TABLE value_lists ADD CONSTRAINT value_lists_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE list_values ADD CONSTRAINT list_values_company_id_value_list_id_fkey
  FOREIGN KEY (company_id, value_list_id) REFERENCES value_lists (company_id, id);

-- Buyers
ALTER TABLE buyers ADD CONSTRAINT buyers_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE buyers ADD CONSTRAINT buyers_company_id_buyer_fleet_id_fkey
  FOREIGN KEY (company_id, buyer_fleet_id) REFERENCES buyer_fleets (company_id, id);
ALTER TABLE buyers ADD CONSTRAINT buyers_company_id_paused_by_user_id_fkey
  FOREIGN KEY (company_id, paused_by_user_id) REFERENCES users (company_id, id);
ALTER TABLE buyers ADD CONSTRAINT buyers_company_id_display_service_number_id_fkey
  FOREIGN KEY (company_id, display_service_number_id) REFERENCES numbers (company_id, id);
ALTER TABLE buyers ADD CONSTRAINT buyers_company_id_zip_list_id_fkey
  FOREIGN KEY (company_id, zip_list_id) REFERENCES value_lists (company_id, id);
ALTER TABLE buyer_business_hours ADD CONSTRAINT buyer_business_hours_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE buyer_conversions ADD CONSTRAINT buyer_conversions_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE buyer_groups ADD CONSTRAINT buyer_groups_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE buyer_groups ADD CONSTRAINT buyer_groups_company_id_paused_by_user_id_fkey
  FOREIGN KEY (company_id, paused_by_user_id) REFERENCES users (company_id, id);
ALTER TABLE buyer_group_members ADD CONSTRAINT buyer_group_members_company_id_buyer_group_id_fkey
  FOREIGN KEY (company_id, buyer_group_id) REFERENCES buyer_groups (company_id, id);
ALTER TABLE buyer_group_members ADD CONSTRAINT buyer_group_members_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE buyer_fleets ADD CONSTRAINT buyer_fleets_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE call_limits ADD CONSTRAINT call_limits_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE call_limits ADD CONSTRAINT call_limits_company_id_buyer_group_id_fkey
  FOREIGN KEY (company_id, buyer_group_id) REFERENCES buyer_groups (company_id, id);
ALTER TABLE call_limits ADD CONSTRAINT call_limits_company_id_traffic_source_id_fkey
  FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id);

-- Suppression
ALTER TABLE buyer_suppressions ADD CONSTRAINT buyer_suppressions_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE buyer_suppression_buyers
  ADD CONSTRAINT buyer_suppression_buyers_company_id_buyer_suppression_id_fkey
  FOREIGN KEY (company_id, buyer_suppression_id) REFERENCES buyer_suppressions (company_id, id);
ALTER TABLE buyer_suppression_buyers
  ADD CONSTRAINT buyer_suppression_buyers_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE buyer_suppression_offers
  ADD CONSTRAINT buyer_suppression_offers_company_id_buyer_suppression_id_fkey
  FOREIGN KEY (company_id, buyer_suppression_id) REFERENCES buyer_suppressions (company_id, id);
ALTER TABLE buyer_suppression_offers
  ADD CONSTRAINT buyer_suppression_offers_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);
ALTER TABLE buyer_suppression_schedules
  ADD CONSTRAINT buyer_suppression_schedules_company_id_buyer_suppression_i_fkey
  FOREIGN KEY (company_id, buyer_suppression_id) REFERENCES buyer_suppressions (company_id, id);
ALTER TABLE buyer_suppression_schedules
  ADD CONSTRAINT buyer_suppression_schedules_company_id_schedule_id_fkey
  FOREIGN KEY (company_id, schedule_id) REFERENCES schedules (company_id, id);
ALTER TABLE buyer_suppression_files ADD CONSTRAINT buyer_suppression_files_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE buyer_suppression_files
  ADD CONSTRAINT buyer_suppression_files_company_id_buyer_suppression_id_fkey
  FOREIGN KEY (company_id, buyer_suppression_id) REFERENCES buyer_suppressions (company_id, id);
ALTER TABLE buyer_suppression_files ADD CONSTRAINT buyer_suppression_files_company_id_user_id_fkey
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, id);
ALTER TABLE rejected_rows ADD CONSTRAINT rejected_rows_company_id_buyer_suppression_file_id_fkey
  FOREIGN KEY (company_id, buyer_suppression_file_id)
  REFERENCES buyer_suppression_files (company_id, id);

-- Numbers
ALTER TABLE numbers ADD CONSTRAINT numbers_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE numbers ADD CONSTRAINT numbers_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);
ALTER TABLE numbers ADD CONSTRAINT numbers_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE numbers ADD CONSTRAINT numbers_company_id_traffic_source_id_fkey
  FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id);
ALTER TABLE number_lookups ADD CONSTRAINT number_lookups_company_id_number_id_fkey
  FOREIGN KEY (company_id, number_id) REFERENCES numbers (company_id, id);

-- Offers
ALTER TABLE offers ADD CONSTRAINT offers_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE offers ADD CONSTRAINT offers_company_id_paused_by_user_id_fkey
  FOREIGN KEY (company_id, paused_by_user_id) REFERENCES users (company_id, id);
ALTER TABLE offer_buyers ADD CONSTRAINT offer_buyers_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);
ALTER TABLE offer_buyers ADD CONSTRAINT offer_buyers_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE offer_buyer_groups ADD CONSTRAINT offer_buyer_groups_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);
ALTER TABLE offer_buyer_groups ADD CONSTRAINT offer_buyer_groups_company_id_buyer_group_id_fkey
  FOREIGN KEY (company_id, buyer_group_id) REFERENCES buyer_groups (company_id, id);
ALTER TABLE traffic_sources ADD CONSTRAINT traffic_sources_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE traffic_source_call_counts ADD CONSTRAINT traffic_source_call_counts_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE traffic_source_call_counts
  ADD CONSTRAINT traffic_source_call_counts_company_id_traffic_source_id_fkey
  FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id);
ALTER TABLE lead_tokens ADD CONSTRAINT lead_tokens_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);
ALTER TABLE lead_tokens ADD CONSTRAINT lead_tokens_company_id_schedule_id_fkey
  FOREIGN KEY (company_id, schedule_id) REFERENCES schedules (company_id, id);
ALTER TABLE traffic_source_tokens ADD CONSTRAINT traffic_source_tokens_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE traffic_source_tokens
  ADD CONSTRAINT traffic_source_tokens_company_id_traffic_source_id_fkey
  FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id);
ALTER TABLE traffic_source_tokens ADD CONSTRAINT traffic_source_tokens_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);
ALTER TABLE traffic_source_tokens ADD CONSTRAINT traffic_source_tokens_company_id_schedule_id_fkey
  FOREIGN KEY (company_id, schedule_id) REFERENCES schedules (company_id, id);
ALTER TABLE traffic_source_tokens
  ADD CONSTRAINT traffic_source_tokens_company_id_inbound_webhook_id_fkey
  FOREIGN KEY (company_id, inbound_webhook_id) REFERENCES inbound_webhooks (company_id, id);

-- Leads
ALTER TABLE contacts ADD CONSTRAINT contacts_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE contact_restrictions ADD CONSTRAINT contact_restrictions_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE contact_restrictions ADD CONSTRAINT contact_restrictions_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);
ALTER TABLE contact_restrictions ADD CONSTRAINT contact_restrictions_company_id_schedule_id_fkey
  FOREIGN KEY (company_id, schedule_id) REFERENCES schedules (company_id, id);
ALTER TABLE leads ADD CONSTRAINT leads_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE leads ADD CONSTRAINT leads_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);
ALTER TABLE leads ADD CONSTRAINT leads_company_id_schedule_id_fkey
  FOREIGN KEY (company_id, schedule_id) REFERENCES schedules (company_id, id);
ALTER TABLE leads ADD CONSTRAINT leads_company_id_traffic_source_id_fkey
  FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id);
ALTER TABLE leads ADD CONSTRAINT leads_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE leads ADD CONSTRAINT leads_company_id_sms_number_id_fkey
  FOREIGN KEY (company_id, sms_number_id) REFERENCES numbers (company_id, id);
ALTER TABLE leads ADD CONSTRAINT leads_company_id_dial_number_id_fkey
  FOREIGN KEY (company_id, dial_number_id) REFERENCES numbers (company_id, id);
ALTER TABLE scheduled_callbacks ADD CONSTRAINT scheduled_callbacks_company_id_lead_id_fkey
  FOREIGN KEY (company_id, lead_id) REFERENCES leads (company_id, id);
ALTER TABLE lead_logs ADD CONSTRAINT lead_logs_company_id_lead_id_fkey
  FOREIGN KEY (company_id, lead_id) REFERENCES leads (company_id, id);

-- Schedules
ALTER TABLE schedules ADD CONSTRAINT schedules_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE schedules ADD CONSTRAINT schedules_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);
ALTER TABLE schedules ADD CONSTRAINT schedules_company_id_paused_by_user_id_fkey
  FOREIGN KEY (company_id, paused_by_user_id) REFERENCES users (company_id, id);
ALTER TABLE schedule_actions ADD CONSTRAINT schedule_actions_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE schedule_actions ADD CONSTRAINT schedule_actions_company_id_schedule_id_fkey
  FOREIGN KEY (company_id, schedule_id) REFERENCES schedules (company_id, id);
ALTER TABLE schedule_actions ADD CONSTRAINT schedule_actions_company_id_to_schedule_id_fkey
  FOREIGN KEY (company_id, to_schedule_id) REFERENCES schedules (company_id, id);
ALTER TABLE schedule_actions ADD CONSTRAINT schedule_actions_company_id_maker_user_id_fkey
  FOREIGN KEY (company_id, maker_user_id) REFERENCES users (company_id, id);
ALTER TABLE schedule_events ADD CONSTRAINT schedule_events_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);

-- Outreach
ALTER TABLE text_messages ADD CONSTRAINT text_messages_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE text_messages ADD CONSTRAINT text_messages_company_id_lead_id_fkey
  FOREIGN KEY (company_id, lead_id) REFERENCES leads (company_id, id);
ALTER TABLE emails ADD CONSTRAINT emails_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE emails ADD CONSTRAINT emails_company_id_lead_id_fkey
  FOREIGN KEY (company_id, lead_id) REFERENCES leads (company_id, id);

-- Routing and calls
ALTER TABLE dispositions ADD CONSTRAINT dispositions_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE calls ADD CONSTRAINT calls_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE calls ADD CONSTRAINT calls_company_id_lead_id_fkey
  FOREIGN KEY (company_id, lead_id) REFERENCES leads (company_id, id);
ALTER TABLE calls ADD CONSTRAINT calls_company_id_number_id_fkey
  FOREIGN KEY (company_id, number_id) REFERENCES numbers (company_id, id);
ALTER TABLE calls ADD CONSTRAINT calls_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);
ALTER TABLE calls ADD CONSTRAINT calls_company_id_traffic_source_id_fkey
  FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id);
ALTER TABLE calls ADD CONSTRAINT calls_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE calls ADD CONSTRAINT calls_company_id_buyer_group_id_fkey
  FOREIGN KEY (company_id, buyer_group_id) REFERENCES buyer_groups (company_id, id);
ALTER TABLE calls ADD CONSTRAINT calls_company_id_agent_id_fkey
  FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id);
ALTER TABLE calls ADD CONSTRAINT calls_company_id_quality_assurance_id_fkey
  FOREIGN KEY (company_id, quality_assurance_id) REFERENCES buyers (company_id, id);
ALTER TABLE calls ADD CONSTRAINT calls_company_id_disposition_id_fkey
  FOREIGN KEY (company_id, disposition_id) REFERENCES dispositions (company_id, id);
ALTER TABLE calls ADD CONSTRAINT calls_company_id_switch_id_fkey
  FOREIGN KEY (company_id, switch_id) REFERENCES switches (company_id, id);
ALTER TABLE switches ADD CONSTRAINT switches_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE trunks ADD CONSTRAINT trunks_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE trunks ADD CONSTRAINT trunks_company_id_switch_id_fkey
  FOREIGN KEY (company_id, switch_id) REFERENCES switches (company_id, id);
ALTER TABLE switch_commands ADD CONSTRAINT switch_commands_company_id_switch_id_fkey
  FOREIGN KEY (company_id, switch_id) REFERENCES switches (company_id, id);
ALTER TABLE switch_commands ADD CONSTRAINT switch_commands_company_id_call_id_fkey
  FOREIGN KEY (company_id, call_id) REFERENCES calls (company_id, id);
ALTER TABLE call_attempts ADD CONSTRAINT call_attempts_company_id_call_id_fkey
  FOREIGN KEY (company_id, call_id) REFERENCES calls (company_id, id);
ALTER TABLE call_attempts ADD CONSTRAINT call_attempts_company_id_trunk_id_fkey
  FOREIGN KEY (company_id, trunk_id) REFERENCES trunks (company_id, id);
ALTER TABLE call_attempts ADD CONSTRAINT call_attempts_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE call_attempts ADD CONSTRAINT call_attempts_company_id_buyer_group_id_fkey
  FOREIGN KEY (company_id, buyer_group_id) REFERENCES buyer_groups (company_id, id);
ALTER TABLE bids ADD CONSTRAINT bids_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);
ALTER TABLE bids ADD CONSTRAINT bids_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE bid_failures ADD CONSTRAINT bid_failures_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE call_slots ADD CONSTRAINT call_slots_company_id_call_id_fkey
  FOREIGN KEY (company_id, call_id) REFERENCES calls (company_id, id);
ALTER TABLE call_slots ADD CONSTRAINT call_slots_company_id_call_limit_id_fkey
  FOREIGN KEY (company_id, call_limit_id) REFERENCES call_limits (company_id, id);
ALTER TABLE call_recordings ADD CONSTRAINT call_recordings_company_id_call_id_fkey
  FOREIGN KEY (company_id, call_id) REFERENCES calls (company_id, id);

ALTER TABLE call_decisions ADD CONSTRAINT call_decisions_company_id_call_id_fkey
  FOREIGN KEY (company_id, call_id) REFERENCES calls (company_id, id);
ALTER TABLE decision_bases ADD CONSTRAINT decision_bases_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE call_events ADD CONSTRAINT call_events_company_id_call_id_fkey
  FOREIGN KEY (company_id, call_id) REFERENCES calls (company_id, id);
ALTER TABLE conversions ADD CONSTRAINT conversions_company_id_call_id_fkey
  FOREIGN KEY (company_id, call_id) REFERENCES calls (company_id, id);
ALTER TABLE conversions ADD CONSTRAINT conversions_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE lead_calls ADD CONSTRAINT lead_calls_company_id_call_id_fkey
  FOREIGN KEY (company_id, call_id) REFERENCES calls (company_id, id);
ALTER TABLE routing_changes ADD CONSTRAINT routing_changes_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE call_leg_prices ADD CONSTRAINT call_leg_prices_company_id_call_id_fkey
  FOREIGN KEY (company_id, call_id) REFERENCES calls (company_id, id);
ALTER TABLE call_cost_looks ADD CONSTRAINT call_cost_looks_company_id_call_id_fkey
  FOREIGN KEY (company_id, call_id) REFERENCES calls (company_id, id);

-- Accounts
ALTER TABLE account_entries ADD CONSTRAINT account_entries_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE account_entries ADD CONSTRAINT account_entries_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE account_entries ADD CONSTRAINT account_entries_company_id_traffic_source_id_fkey
  FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id);
ALTER TABLE statements ADD CONSTRAINT statements_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE statements ADD CONSTRAINT statements_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE statements ADD CONSTRAINT statements_company_id_traffic_source_id_fkey
  FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id);

-- Ping/post
ALTER TABLE inbound_webhooks ADD CONSTRAINT inbound_webhooks_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE inbound_webhooks ADD CONSTRAINT inbound_webhooks_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);
ALTER TABLE inbound_webhooks ADD CONSTRAINT inbound_webhooks_company_id_traffic_source_id_fkey
  FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id);
ALTER TABLE inbound_webhooks ADD CONSTRAINT inbound_webhooks_company_id_maker_user_id_fkey
  FOREIGN KEY (company_id, maker_user_id) REFERENCES users (company_id, id);
ALTER TABLE inbound_webhook_lookups
  ADD CONSTRAINT inbound_webhook_lookups_company_id_inbound_webhook_id_fkey
  FOREIGN KEY (company_id, inbound_webhook_id) REFERENCES inbound_webhooks (company_id, id);
ALTER TABLE pings ADD CONSTRAINT pings_company_id_inbound_webhook_id_fkey
  FOREIGN KEY (company_id, inbound_webhook_id) REFERENCES inbound_webhooks (company_id, id);
ALTER TABLE pings ADD CONSTRAINT pings_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);
ALTER TABLE pings ADD CONSTRAINT pings_company_id_traffic_source_id_fkey
  FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id);
ALTER TABLE pings ADD CONSTRAINT pings_company_id_call_id_fkey
  FOREIGN KEY (company_id, call_id) REFERENCES calls (company_id, id);
ALTER TABLE call_holds ADD CONSTRAINT call_holds_company_id_ping_id_fkey
  FOREIGN KEY (company_id, ping_id) REFERENCES pings (company_id, id);
ALTER TABLE call_holds ADD CONSTRAINT call_holds_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);

-- Webhooks
ALTER TABLE outgoing_webhooks ADD CONSTRAINT outgoing_webhooks_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE outgoing_webhooks ADD CONSTRAINT outgoing_webhooks_company_id_maker_user_id_fkey
  FOREIGN KEY (company_id, maker_user_id) REFERENCES users (company_id, id);
ALTER TABLE webhook_events ADD CONSTRAINT webhook_events_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE webhook_queues ADD CONSTRAINT webhook_queues_company_id_outgoing_webhook_id_fkey
  FOREIGN KEY (company_id, outgoing_webhook_id) REFERENCES outgoing_webhooks (company_id, id);
ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_company_id_outgoing_webhook_id_fkey
  FOREIGN KEY (company_id, outgoing_webhook_id) REFERENCES outgoing_webhooks (company_id, id);
ALTER TABLE webhook_deliveries
  ADD CONSTRAINT webhook_deliveries_company_id_webhook_manual_fire_id_fkey
  FOREIGN KEY (company_id, webhook_manual_fire_id) REFERENCES webhook_manual_fires (company_id, id);
ALTER TABLE webhook_logs ADD CONSTRAINT webhook_logs_company_id_webhook_manual_fire_id_fkey
  FOREIGN KEY (company_id, webhook_manual_fire_id) REFERENCES webhook_manual_fires (company_id, id);
ALTER TABLE webhook_manual_fires
  ADD CONSTRAINT webhook_manual_fires_company_id_outgoing_webhook_id_fkey
  FOREIGN KEY (company_id, outgoing_webhook_id) REFERENCES outgoing_webhooks (company_id, id);
ALTER TABLE webhook_manual_fires
  ADD CONSTRAINT webhook_manual_fires_company_id_buyer_conversion_id_fkey
  FOREIGN KEY (company_id, buyer_conversion_id) REFERENCES conversions (company_id, id);
ALTER TABLE webhook_manual_fires ADD CONSTRAINT webhook_manual_fires_company_id_lead_id_fkey
  FOREIGN KEY (company_id, lead_id) REFERENCES leads (company_id, id);
ALTER TABLE webhook_manual_fires ADD CONSTRAINT webhook_manual_fires_company_id_call_id_fkey
  FOREIGN KEY (company_id, call_id) REFERENCES calls (company_id, id);

-- Alerts
ALTER TABLE alert_rules ADD CONSTRAINT alert_rules_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE alert_rules ADD CONSTRAINT alert_rules_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE alert_rules ADD CONSTRAINT alert_rules_company_id_buyer_group_id_fkey
  FOREIGN KEY (company_id, buyer_group_id) REFERENCES buyer_groups (company_id, id);
ALTER TABLE alert_rules ADD CONSTRAINT alert_rules_company_id_traffic_source_id_fkey
  FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id);
ALTER TABLE alert_rules ADD CONSTRAINT alert_rules_company_id_offer_id_fkey
  FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id);
ALTER TABLE alerts ADD CONSTRAINT alerts_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE alerts ADD CONSTRAINT alerts_company_id_alert_rule_id_fkey
  FOREIGN KEY (company_id, alert_rule_id) REFERENCES alert_rules (company_id, id);

-- Agents
ALTER TABLE call_centers ADD CONSTRAINT call_centers_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE agent_statuses ADD CONSTRAINT agent_statuses_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE agents ADD CONSTRAINT agents_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE agents ADD CONSTRAINT agents_company_id_user_id_fkey
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, id);
ALTER TABLE agents ADD CONSTRAINT agents_company_id_agent_status_id_fkey
  FOREIGN KEY (company_id, agent_status_id) REFERENCES agent_statuses (company_id, id);
ALTER TABLE agent_call_centers ADD CONSTRAINT agent_call_centers_company_id_agent_id_fkey
  FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id);
ALTER TABLE agent_call_centers ADD CONSTRAINT agent_call_centers_company_id_call_center_id_fkey
  FOREIGN KEY (company_id, call_center_id) REFERENCES call_centers (company_id, id);
ALTER TABLE agent_buyers ADD CONSTRAINT agent_buyers_company_id_agent_id_fkey
  FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id);
ALTER TABLE agent_buyers ADD CONSTRAINT agent_buyers_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE agent_status_timestamps ADD CONSTRAINT agent_status_timestamps_company_id_agent_id_fkey
  FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id);
ALTER TABLE agent_status_timestamps ADD CONSTRAINT agent_status_timestamps_company_id_user_id_fkey
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, id);
ALTER TABLE agent_status_timestamps
  ADD CONSTRAINT agent_status_timestamps_company_id_agent_status_id_fkey
  FOREIGN KEY (company_id, agent_status_id) REFERENCES agent_statuses (company_id, id);
ALTER TABLE agent_messages ADD CONSTRAINT agent_messages_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
ALTER TABLE agent_messages ADD CONSTRAINT agent_messages_company_id_agent_status_id_fkey
  FOREIGN KEY (company_id, agent_status_id) REFERENCES agent_statuses (company_id, id);
ALTER TABLE agent_messages ADD CONSTRAINT agent_messages_company_id_user_id_fkey
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, id);
ALTER TABLE agent_message_buyers
  ADD CONSTRAINT agent_message_buyers_company_id_agent_message_id_fkey
  FOREIGN KEY (company_id, agent_message_id) REFERENCES agent_messages (company_id, id);
ALTER TABLE agent_message_buyers ADD CONSTRAINT agent_message_buyers_company_id_buyer_id_fkey
  FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id);
ALTER TABLE agent_message_buyer_groups
  ADD CONSTRAINT agent_message_buyer_groups_company_id_agent_message_id_fkey
  FOREIGN KEY (company_id, agent_message_id) REFERENCES agent_messages (company_id, id);
ALTER TABLE agent_message_buyer_groups
  ADD CONSTRAINT agent_message_buyer_groups_company_id_buyer_group_id_fkey
  FOREIGN KEY (company_id, buyer_group_id) REFERENCES buyer_groups (company_id, id);
ALTER TABLE agent_message_call_centers
  ADD CONSTRAINT agent_message_call_centers_company_id_agent_message_id_fkey
  FOREIGN KEY (company_id, agent_message_id) REFERENCES agent_messages (company_id, id);
ALTER TABLE agent_message_call_centers
  ADD CONSTRAINT agent_message_call_centers_company_id_call_center_id_fkey
  FOREIGN KEY (company_id, call_center_id) REFERENCES call_centers (company_id, id);
ALTER TABLE agent_message_recipients
  ADD CONSTRAINT agent_message_recipients_company_id_agent_id_fkey
  FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id);
ALTER TABLE agent_message_recipients
  ADD CONSTRAINT agent_message_recipients_company_id_agent_message_id_fkey
  FOREIGN KEY (company_id, agent_message_id) REFERENCES agent_messages (company_id, id);
ALTER TABLE agent_events ADD CONSTRAINT agent_events_company_id_agent_id_fkey
  FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id);
ALTER TABLE agent_events ADD CONSTRAINT agent_events_company_id_agent_message_id_fkey
  FOREIGN KEY (company_id, agent_message_id) REFERENCES agent_messages (company_id, id);

-- Change log
ALTER TABLE change_logs ADD CONSTRAINT change_logs_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);

-- Migration from another service
ALTER TABLE migration_positions ADD CONSTRAINT migration_positions_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
