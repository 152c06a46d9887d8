-- What calls cost, who took and reviewed them and how they ended, and the keys that are played in
-- them at a carrier.

ALTER TABLE companies
  ADD COLUMN service_cost_per_minute numeric(10, 4) NOT NULL DEFAULT 0;

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
  CONSTRAINT dispositions_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT dispositions_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies (id)
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

ALTER TABLE calls
  ADD COLUMN agent_id bigint,
  ADD COLUMN quality_assurance_id bigint,
  ADD COLUMN quality_assurance_name text,
  ADD COLUMN disposition_id bigint,
  ADD COLUMN disposition_notes text,
  ADD COLUMN service_cost numeric(14, 4) NOT NULL DEFAULT 0,
  ADD COLUMN conferences integer NOT NULL DEFAULT 0,
  ADD CONSTRAINT calls_company_id_agent_id_fkey
    FOREIGN KEY (company_id, agent_id) REFERENCES agents (company_id, id),
  ADD CONSTRAINT calls_company_id_quality_assurance_id_fkey
    FOREIGN KEY (company_id, quality_assurance_id) REFERENCES buyers (company_id, id),
  ADD CONSTRAINT calls_company_id_disposition_id_fkey
    FOREIGN KEY (company_id, disposition_id) REFERENCES dispositions (company_id, id);

CREATE TABLE call_leg_prices (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  call_id bigint NOT NULL,
  carrier_call_id text NOT NULL,
  price numeric(18, 10) NOT NULL,
  currency text NOT NULL,
  CONSTRAINT call_leg_prices_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT call_leg_prices_company_id_call_id_fkey
    FOREIGN KEY (company_id, call_id) REFERENCES calls (company_id, id)
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
  CONSTRAINT call_cost_looks_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT call_cost_looks_company_id_call_id_fkey
    FOREIGN KEY (company_id, call_id) REFERENCES calls (company_id, id)
);
CREATE UNIQUE INDEX call_cost_looks_company_id_call_id_key
  ON call_cost_looks (company_id, call_id);
CREATE INDEX call_cost_looks_due_at_idx ON call_cost_looks (due_at);

-- Leads and actions are found by their identifier in another system, as other records are.
DROP INDEX leads_fulltext_idx;
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
DROP INDEX schedule_actions_fulltext_idx;
CREATE INDEX schedule_actions_fulltext_idx ON schedule_actions USING gin (
  company_id,
  (lower(
    coalesce(name, '')
    || E'\n' || coalesce(subject, '')
    || E'\n' || coalesce(body, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
