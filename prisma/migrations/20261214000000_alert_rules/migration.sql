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
  CONSTRAINT alert_rules_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT alert_rules_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies (id),
  CONSTRAINT alert_rules_company_id_buyer_id_fkey
    FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id),
  CONSTRAINT alert_rules_company_id_buyer_group_id_fkey
    FOREIGN KEY (company_id, buyer_group_id) REFERENCES buyer_groups (company_id, id),
  CONSTRAINT alert_rules_company_id_traffic_source_id_fkey
    FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id),
  CONSTRAINT alert_rules_company_id_offer_id_fkey
    FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id),
  CONSTRAINT alert_rules_owner_check
    CHECK (num_nonnulls(buyer_id, buyer_group_id, traffic_source_id, offer_id) <= 1)
);
CREATE UNIQUE INDEX alert_rules_company_id_uuid_key ON alert_rules (company_id, uuid);
CREATE INDEX alert_rules_company_id_created_at_id_idx
  ON alert_rules (company_id, created_at, id) WHERE deleted_at IS NULL;

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
  CONSTRAINT alerts_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT alerts_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies (id),
  CONSTRAINT alerts_company_id_alert_rule_id_fkey
    FOREIGN KEY (company_id, alert_rule_id) REFERENCES alert_rules (company_id, id)
);
CREATE UNIQUE INDEX alerts_company_id_uuid_key ON alerts (company_id, uuid);
-- An episode begins once, however many processes look.
CREATE UNIQUE INDEX alerts_company_id_alert_rule_id_subject_key
  ON alerts (company_id, alert_rule_id, subject) WHERE ended_at IS NULL;
CREATE INDEX alerts_company_id_created_at_id_idx ON alerts (company_id, created_at, id);
