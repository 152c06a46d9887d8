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
