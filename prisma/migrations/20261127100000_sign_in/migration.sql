-- People sign in to the console. Each change is of one small table, or adds a column with a
-- constant default: no table is written again, and no lock is held for long.

-- What a person signs in with. Without a row: invited only, or a user of tokens.
CREATE TABLE user_logins (
  company_id bigint NOT NULL,
  user_id bigint NOT NULL,
  password_hash text,
  password_set_at timestamptz(3),
  totp_secret bytea,
  totp_confirmed_at timestamptz(3),
  totp_last_step bigint NOT NULL DEFAULT 0,
  recovery_digests bytea[] DEFAULT ARRAY[]::bytea[],
  oidc_issuer text,
  oidc_subject text,
  link_number integer NOT NULL DEFAULT 0,
  link_open boolean NOT NULL DEFAULT false,
  link_sent_at timestamptz(3),
  seen_at timestamptz(3),
  CONSTRAINT user_logins_pkey PRIMARY KEY (company_id, user_id)
);
CREATE UNIQUE INDEX user_logins_company_id_oidc_issuer_oidc_subject_key
  ON user_logins (company_id, oidc_issuer, oidc_subject);
CREATE INDEX user_logins_oidc_subject_idx ON user_logins (oidc_subject);
ALTER TABLE user_logins ADD CONSTRAINT user_logins_company_id_user_id_fkey
  FOREIGN KEY (company_id, user_id) REFERENCES users (company_id, id);

-- What the session of a person has in addition to its access token.
CREATE TABLE sessions (
  company_id bigint NOT NULL,
  access_token_id bigint NOT NULL,
  ends_at timestamptz(3) NOT NULL,
  seen_at timestamptz(3) NOT NULL,
  method text NOT NULL,
  second_factor boolean NOT NULL,
  ip text,
  user_agent text,
  CONSTRAINT sessions_pkey PRIMARY KEY (company_id, access_token_id)
);
ALTER TABLE sessions ADD CONSTRAINT sessions_company_id_access_token_id_fkey
  FOREIGN KEY (company_id, access_token_id)
  REFERENCES access_tokens (company_id, id) ON DELETE CASCADE;

-- Guesses, by address of a person and by network: of no company, which is not known yet.
CREATE TABLE sign_in_attempts (
  subject text NOT NULL,
  since timestamptz(3) NOT NULL,
  failures integer NOT NULL,
  waits_until timestamptz(3),
  CONSTRAINT sign_in_attempts_pkey PRIMARY KEY (subject)
);
CREATE INDEX sign_in_attempts_since_idx ON sign_in_attempts (since);

ALTER TABLE companies ADD COLUMN owner_link_number integer NOT NULL DEFAULT 0;
ALTER TABLE companies ADD COLUMN owner_link_open boolean NOT NULL DEFAULT false;

CREATE INDEX users_email_idx ON users (email) WHERE deleted_at IS NULL;
CREATE INDEX access_tokens_expires_at_idx ON access_tokens (expires_at) WHERE kind = 'session';
CREATE INDEX access_tokens_company_id_user_id_idx ON access_tokens (company_id, user_id)
  WHERE kind = 'session';
