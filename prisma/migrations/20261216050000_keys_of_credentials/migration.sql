-- An idempotency key belongs to the credentials that sent it: those of others neither repeat their
-- requests nor are kept from using a key of the same name. Rows of earlier releases have none; they
-- are found by the digest of their request, which says whose they are.
ALTER TABLE idempotency_keys ADD COLUMN credential text NOT NULL DEFAULT '';
ALTER TABLE idempotency_keys ALTER COLUMN credential DROP DEFAULT;
ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey;
ALTER TABLE idempotency_keys
  ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (company_id, credential, key);
