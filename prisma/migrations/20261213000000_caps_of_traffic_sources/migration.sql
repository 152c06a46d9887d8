-- Traffic sources have caps of their own, buyers that get their calls or do not, and default payouts.
ALTER TABLE traffic_sources
  ADD COLUMN time_zone text NOT NULL DEFAULT 'Eastern Time (US & Canada)',
  ADD COLUMN blocked_buyer_ids bigint[] DEFAULT ARRAY[]::bigint[],
  ADD COLUMN allowed_buyer_ids bigint[] DEFAULT ARRAY[]::bigint[],
  ADD COLUMN payouts jsonb NOT NULL DEFAULT '[]';

ALTER TABLE call_limits ADD COLUMN traffic_source_id bigint;
ALTER TABLE call_limits ADD CONSTRAINT call_limits_company_id_traffic_source_id_fkey
  FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id)
  ON DELETE NO ACTION ON UPDATE NO ACTION;
CREATE UNIQUE INDEX call_limits_company_id_traffic_source_id_key
  ON call_limits (company_id, traffic_source_id);
ALTER TABLE call_limits DROP CONSTRAINT call_limits_owner_check;
ALTER TABLE call_limits ADD CONSTRAINT call_limits_owner_check
  CHECK (num_nonnulls(buyer_id, buyer_group_id, traffic_source_id) = 1);
