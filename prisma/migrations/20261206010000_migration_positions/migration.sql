-- How far `trunkline migrate --from` has read the history of another service: an interrupted run
-- goes on from there.
CREATE TABLE migration_positions (
  company_id bigint NOT NULL,
  source text NOT NULL,
  resource text NOT NULL,
  cursor text NOT NULL,
  CONSTRAINT migration_positions_pkey PRIMARY KEY (company_id, source, resource),
  CONSTRAINT migration_positions_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies (id)
);
