-- How a buyer of type rtb is asked for a bid, and what its answers mean.
ALTER TABLE buyers
  ADD COLUMN ping_timeout_ms integer,
  ADD COLUMN bid_request jsonb,
  ADD COLUMN bid_response jsonb,
  ADD COLUMN bid_secret_version integer NOT NULL DEFAULT 1,
  ADD COLUMN bid_secret_rotated_at timestamptz(3);

-- What the buyer has bid for the call of an attempt: a bid that expires later changes nothing.
ALTER TABLE call_attempts
  ADD COLUMN bid numeric(14, 2),
  ADD COLUMN bid_duration integer;

-- Bids that are kept for a caller and an offer until they expire.
CREATE TABLE bids (
  company_id bigint NOT NULL,
  caller_number bigint NOT NULL,
  offer_id bigint NOT NULL,
  buyer_id bigint NOT NULL,
  created_at timestamptz(3) NOT NULL,
  amount numeric(14, 2) NOT NULL,
  number text,
  duration integer NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  CONSTRAINT bids_pkey PRIMARY KEY (company_id, caller_number, offer_id, buyer_id),
  CONSTRAINT bids_company_id_offer_id_fkey FOREIGN KEY (company_id, offer_id)
    REFERENCES offers (company_id, id),
  CONSTRAINT bids_company_id_buyer_id_fkey FOREIGN KEY (company_id, buyer_id)
    REFERENCES buyers (company_id, id)
);
CREATE INDEX bids_expires_at_idx ON bids (expires_at);

-- Questions that a bidder did not answer, or not as agreed. Several within a minute suspend it.
CREATE TABLE bid_failures (
  company_id bigint NOT NULL,
  buyer_id bigint NOT NULL,
  failed_at timestamptz(3) NOT NULL,
  uuid uuid NOT NULL,
  CONSTRAINT bid_failures_pkey PRIMARY KEY (company_id, buyer_id, failed_at, uuid),
  CONSTRAINT bid_failures_company_id_buyer_id_fkey FOREIGN KEY (company_id, buyer_id)
    REFERENCES buyers (company_id, id)
);
CREATE INDEX bid_failures_failed_at_idx ON bid_failures (failed_at);
