-- Prepaid buyers, the ledger of what buyers and traffic sources are charged and paid, and the
-- statements made of it. The ledger begins with this migration: earlier calls are not in it.

-- Null for a buyer that is not prepaid.
ALTER TABLE call_limits ADD COLUMN balance numeric(14, 2);
ALTER TABLE call_limits ADD COLUMN credit_limit numeric(14, 2) NOT NULL DEFAULT 0;
ALTER TABLE call_limits ADD COLUMN balance_low_limit numeric(14, 2);

CREATE TABLE account_entries (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL DEFAULT gen_random_uuid(),
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  external_record_id text,
  buyer_id bigint,
  traffic_source_id bigint,
  kind text NOT NULL,
  amount numeric(14, 2) NOT NULL,
  call_id bigint,
  user_id bigint,
  note text,
  CONSTRAINT account_entries_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT account_entries_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies (id),
  CONSTRAINT account_entries_company_id_buyer_id_fkey
    FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id),
  CONSTRAINT account_entries_company_id_traffic_source_id_fkey
    FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id),
  CONSTRAINT account_entries_owner_check
    CHECK ((buyer_id IS NULL) <> (traffic_source_id IS NULL)),
  CONSTRAINT account_entries_kind_check
    CHECK (kind IN ('deposit', 'conversion', 'return', 'adjustment', 'payout', 'payment'))
);
CREATE UNIQUE INDEX account_entries_company_id_uuid_key ON account_entries (company_id, uuid);
CREATE INDEX account_entries_company_id_created_at_id_idx
  ON account_entries (company_id, created_at, id);
CREATE INDEX account_entries_company_id_buyer_id_created_at_id_idx
  ON account_entries (company_id, buyer_id, created_at, id) WHERE buyer_id IS NOT NULL;
CREATE INDEX account_entries_company_id_traffic_source_id_created_at_id_idx
  ON account_entries (company_id, traffic_source_id, created_at, id)
  WHERE traffic_source_id IS NOT NULL;
CREATE INDEX account_entries_company_id_call_id_idx
  ON account_entries (company_id, call_id) WHERE call_id IS NOT NULL;

CREATE TABLE statements (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  uuid uuid NOT NULL DEFAULT gen_random_uuid(),
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  external_record_id text,
  buyer_id bigint,
  traffic_source_id bigint,
  period_from timestamptz(3) NOT NULL,
  period_to timestamptz(3) NOT NULL,
  time_zone text NOT NULL,
  opening_balance numeric(14, 2) NOT NULL,
  closing_balance numeric(14, 2) NOT NULL,
  entries_count bigint NOT NULL,
  totals jsonb NOT NULL,
  CONSTRAINT statements_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT statements_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies (id),
  CONSTRAINT statements_company_id_buyer_id_fkey
    FOREIGN KEY (company_id, buyer_id) REFERENCES buyers (company_id, id),
  CONSTRAINT statements_company_id_traffic_source_id_fkey
    FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id),
  CONSTRAINT statements_owner_check
    CHECK ((buyer_id IS NULL) <> (traffic_source_id IS NULL)),
  CONSTRAINT statements_period_check CHECK (period_from < period_to)
);
CREATE UNIQUE INDEX statements_company_id_uuid_key ON statements (company_id, uuid);
