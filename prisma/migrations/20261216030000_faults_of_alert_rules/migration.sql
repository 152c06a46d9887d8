-- Why a rule could not be looked at when it last was; null once it can.
ALTER TABLE alert_rules
  ADD COLUMN last_error text,
  ADD COLUMN last_error_at timestamptz(3);
CREATE INDEX alert_rules_company_id_last_error_at_idx
  ON alert_rules (company_id, last_error_at) WHERE last_error IS NOT NULL;

-- The news of an alert whose mails were queued last: each are queued once.
ALTER TABLE alerts ADD COLUMN told text;
