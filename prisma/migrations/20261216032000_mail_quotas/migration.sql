-- Addresses that a company names, and what shows that those who have them want its mails.
CREATE TABLE mail_addresses (
  company_id bigint NOT NULL,
  id bigserial NOT NULL,
  -- in lowercase
  email text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- number of the last confirmation that was asked for; the links of earlier ones are void
  confirmation_number integer NOT NULL DEFAULT 0,
  confirmation_sent_at timestamptz(3),
  confirmed_at timestamptz(3),
  -- the last invitation, of whichever user
  invited_at timestamptz(3),
  CONSTRAINT mail_addresses_pkey PRIMARY KEY (company_id, id),
  CONSTRAINT mail_addresses_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies (id)
);
CREATE UNIQUE INDEX mail_addresses_company_id_email_key ON mail_addresses (company_id, email);

-- Who has accepted an invitation has read a mail to the address. Addresses that were mailed before
-- go on being mailed: nobody is there to ask, and alerts must not stop with an upgrade.
INSERT INTO mail_addresses (company_id, email, confirmed_at)
SELECT DISTINCT x.company_id, lower(x.email), CURRENT_TIMESTAMP
FROM (
  SELECT company_id, email FROM users WHERE deleted_at IS NULL AND joined_at IS NOT NULL
  UNION ALL
  SELECT company_id, unnest(emails) FROM alert_rules WHERE deleted_at IS NULL
  UNION ALL
  SELECT company_id, alert_email
  FROM outgoing_webhooks
  WHERE deleted_at IS NULL AND alert_email IS NOT NULL
) x;

-- Mails of a day, in UTC.
CREATE TABLE mail_counts (
  company_id bigint NOT NULL,
  day date NOT NULL,
  -- an address without what follows a plus; empty for all of the company
  mailbox text NOT NULL,
  used integer NOT NULL,
  refused integer NOT NULL DEFAULT 0,
  CONSTRAINT mail_counts_pkey PRIMARY KEY (company_id, day, mailbox),
  CONSTRAINT mail_counts_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies (id)
);
CREATE INDEX mail_counts_day_idx ON mail_counts (day);

-- What is over a quota is shown on the rule.
ALTER TABLE alert_rules
  ADD COLUMN unsent_mails_count integer NOT NULL DEFAULT 0,
  ADD COLUMN last_unsent_at timestamptz(3),
  ADD COLUMN last_unsent_reason text;
