-- What an account sums up to, and its statements, are read from the index alone.
DROP INDEX account_entries_company_id_buyer_id_created_at_id_idx;
CREATE INDEX account_entries_buyer_idx
  ON account_entries (company_id, buyer_id, created_at, id) INCLUDE (kind, amount)
  WHERE buyer_id IS NOT NULL;
DROP INDEX account_entries_company_id_traffic_source_id_created_at_id_idx;
CREATE INDEX account_entries_traffic_source_idx
  ON account_entries (company_id, traffic_source_id, created_at, id) INCLUDE (kind, amount)
  WHERE traffic_source_id IS NOT NULL;
