-- Which transaction wrote a row of caps last: decisions read only what was written since.
ALTER TABLE call_limits ADD COLUMN changed_by xid8 NOT NULL DEFAULT pg_current_xact_id();
CREATE INDEX call_limits_company_id_changed_by_idx ON call_limits (company_id, changed_by);

-- What the decisions about an offer have in common is stored once.
CREATE TABLE decision_bases (
  company_id bigint NOT NULL,
  hash text NOT NULL,
  basis json NOT NULL,
  CONSTRAINT decision_bases_pkey PRIMARY KEY (company_id, hash)
);
ALTER TABLE decision_bases ADD CONSTRAINT decision_bases_company_id_fkey
  FOREIGN KEY (company_id) REFERENCES companies (id);
