-- Conversions can be returned: they stay, and the buyer may pay for the call again later.
ALTER TABLE conversions
  ADD COLUMN returned_at timestamptz(3),
  ADD COLUMN return_reason text;
DROP INDEX conversions_company_id_call_id_buyer_id_key;
CREATE UNIQUE INDEX conversions_company_id_call_id_buyer_id_key
  ON conversions (company_id, call_id, buyer_id)
  WHERE returned_at IS NULL;
CREATE INDEX conversions_company_id_call_id_idx ON conversions (company_id, call_id);

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
ALTER TABLE access_control_list_traffic_sources
  ADD CONSTRAINT access_control_list_traffic_sources_company_id_access_cont_fkey
  FOREIGN KEY (company_id, access_control_list_id) REFERENCES access_control_lists (company_id, id);
ALTER TABLE access_control_list_traffic_sources
  ADD CONSTRAINT access_control_list_traffic_sources_company_id_traffic_sou_fkey
  FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id);

-- Sellers read the names of buyers only where the endpoint says so.
ALTER TABLE inbound_webhooks ADD COLUMN show_buyer_names boolean NOT NULL DEFAULT false;
