-- Traffic sources have the names of a person and of a company, can be paused, and count their calls.

ALTER TABLE traffic_sources
  ADD COLUMN first_name text,
  ADD COLUMN last_name text,
  ADD COLUMN company_name text,
  ADD COLUMN paused boolean NOT NULL DEFAULT false;

CREATE TABLE traffic_source_call_counts (
  company_id bigint NOT NULL,
  traffic_source_id bigint NOT NULL,
  slot integer NOT NULL,
  n bigint NOT NULL,
  last_call_at timestamptz(3),
  CONSTRAINT traffic_source_call_counts_pkey PRIMARY KEY (company_id, traffic_source_id, slot),
  CONSTRAINT traffic_source_call_counts_company_id_fkey
    FOREIGN KEY (company_id) REFERENCES companies (id),
  CONSTRAINT traffic_source_call_counts_company_id_traffic_source_id_fkey
    FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id)
);

INSERT INTO traffic_source_call_counts (company_id, traffic_source_id, slot, n, last_call_at)
  SELECT company_id, traffic_source_id, 0, count(*), max(created_at)
  FROM calls
  WHERE traffic_source_id IS NOT NULL AND deleted_at IS NULL
  GROUP BY company_id, traffic_source_id;

-- Searches find the names of a source too.
DROP INDEX traffic_sources_fulltext_idx;
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
