-- Lists of values that filters name; where callers are, as carriers report it; and the legs of calls
-- that ring a time of their own, or are recorded by themselves.

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
ALTER TABLE value_lists ADD CONSTRAINT value_lists_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);

CREATE TABLE list_values (
  company_id bigint NOT NULL,
  value_list_id bigint NOT NULL,
  value text NOT NULL,
  id bigserial NOT NULL,
  CONSTRAINT list_values_pkey PRIMARY KEY (company_id, value_list_id, value)
);
CREATE UNIQUE INDEX list_values_company_id_value_list_id_id_key
  ON list_values (company_id, value_list_id, id);
ALTER TABLE list_values ADD CONSTRAINT list_values_company_id_value_list_id_fkey
  FOREIGN KEY (company_id, value_list_id) REFERENCES value_lists (company_id, id);

ALTER TABLE calls ADD COLUMN caller_state text, ADD COLUMN caller_zip text;

ALTER TABLE call_attempts
  ADD COLUMN leg_sid text,
  ADD COLUMN ring_until timestamptz(3),
  ADD COLUMN recorded_at timestamptz(3);
CREATE INDEX call_attempts_ring_until_idx
  ON call_attempts (ring_until) WHERE status = 'ringing' AND ring_until IS NOT NULL;
