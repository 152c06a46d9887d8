-- Tokens with which a traffic source submits leads to an offer or a schedule, or calls to an
-- endpoint for sellers: what comes with one is of that source.
CREATE TABLE traffic_source_tokens (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL DEFAULT gen_random_uuid(),
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at timestamptz(3),
  user_updated_at timestamptz(3),
  external_record_id text,
  name text,
  traffic_source_id bigint NOT NULL,
  offer_id bigint,
  schedule_id bigint,
  inbound_webhook_id bigint,
  lead_token text,
  auth_token_digest bytea,
  CONSTRAINT traffic_source_tokens_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT traffic_source_tokens_company_id_fkey
    FOREIGN KEY (company_id) REFERENCES companies (id),
  CONSTRAINT traffic_source_tokens_company_id_traffic_source_id_fkey
    FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id),
  CONSTRAINT traffic_source_tokens_company_id_offer_id_fkey
    FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id),
  CONSTRAINT traffic_source_tokens_company_id_schedule_id_fkey
    FOREIGN KEY (company_id, schedule_id) REFERENCES schedules (company_id, id),
  CONSTRAINT traffic_source_tokens_company_id_inbound_webhook_id_fkey
    FOREIGN KEY (company_id, inbound_webhook_id) REFERENCES inbound_webhooks (company_id, id),
  CONSTRAINT traffic_source_tokens_place_check
    CHECK (num_nonnulls(offer_id, schedule_id, inbound_webhook_id) = 1),
  CONSTRAINT traffic_source_tokens_secret_check
    CHECK (
      CASE WHEN inbound_webhook_id IS NULL THEN lead_token ELSE auth_token_digest::text END
        IS NOT NULL
    )
);
CREATE UNIQUE INDEX traffic_source_tokens_company_id_uuid_key
  ON traffic_source_tokens (company_id, uuid);
CREATE INDEX traffic_source_tokens_company_id_traffic_source_id_id_idx
  ON traffic_source_tokens (company_id, traffic_source_id, id) WHERE deleted_at IS NULL;
CREATE INDEX traffic_source_tokens_company_id_inbound_webhook_id_idx
  ON traffic_source_tokens (company_id, inbound_webhook_id)
  WHERE deleted_at IS NULL AND inbound_webhook_id IS NOT NULL;

-- No foreign key: revoking the tokens of a source deletes them.
ALTER TABLE lead_tokens ADD COLUMN traffic_source_id bigint;
