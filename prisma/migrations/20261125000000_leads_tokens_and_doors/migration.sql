-- What a lead token may do by itself, where people may be contacted, the numbers that one offer or
-- schedule does not contact, and how much an address may hold at an endpoint of sellers.

ALTER TABLE companies
  ADD COLUMN updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  ADD COLUMN contact_countries text[],
  ADD COLUMN contact_prefixes text[] DEFAULT ARRAY[]::text[],
  ADD COLUMN lead_token_powers text[];

ALTER TABLE offers ADD COLUMN lead_token_powers text[];

CREATE TABLE contact_restrictions (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  caller_number bigint NOT NULL,
  offer_id bigint,
  schedule_id bigint,
  blocked boolean NOT NULL DEFAULT false,
  opt_out boolean NOT NULL DEFAULT false,
  CONSTRAINT contact_restrictions_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT contact_restrictions_owner_check
    CHECK ((offer_id IS NULL) <> (schedule_id IS NULL)),
  CONSTRAINT contact_restrictions_company_id_fkey
    FOREIGN KEY (company_id) REFERENCES companies (id),
  CONSTRAINT contact_restrictions_company_id_offer_id_fkey
    FOREIGN KEY (company_id, offer_id) REFERENCES offers (company_id, id),
  CONSTRAINT contact_restrictions_company_id_schedule_id_fkey
    FOREIGN KEY (company_id, schedule_id) REFERENCES schedules (company_id, id)
);
CREATE UNIQUE INDEX contact_restrictions_company_id_offer_id_caller_number_key
  ON contact_restrictions (company_id, offer_id, caller_number);
CREATE UNIQUE INDEX contact_restrictions_company_id_schedule_id_caller_number_key
  ON contact_restrictions (company_id, schedule_id, caller_number);
CREATE INDEX contact_restrictions_company_id_caller_number_idx
  ON contact_restrictions (company_id, caller_number);

ALTER TABLE inbound_webhooks ADD COLUMN max_open_holds integer NOT NULL DEFAULT 1000;
ALTER TABLE call_holds
  ADD COLUMN inbound_webhook_id bigint,
  ADD COLUMN remote_ip text;
CREATE INDEX call_holds_company_id_inbound_webhook_id_remote_ip_idx
  ON call_holds (company_id, inbound_webhook_id, remote_ip);
