-- Orders and text search of the lists that had none.

CREATE INDEX contacts_company_id_created_at_id_idx
  ON contacts (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX text_messages_company_id_created_at_id_idx
  ON text_messages (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX emails_company_id_created_at_id_idx
  ON emails (company_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX lead_logs_company_id_created_at_id_idx
  ON lead_logs (company_id, created_at, id);
CREATE INDEX webhook_logs_company_id_created_at_id_idx
  ON webhook_logs (company_id, created_at, id) WHERE deleted_at IS NULL;

CREATE INDEX contacts_fulltext_idx ON contacts USING gin (
  company_id,
  (lower(
    caller_number::text
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX text_messages_fulltext_idx ON text_messages USING gin (
  company_id,
  (lower(
    coalesce(from_number::text, '')
    || E'\n' || coalesce(to_number::text, '')
    || E'\n' || coalesce(body, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX emails_fulltext_idx ON emails USING gin (
  company_id,
  (lower(
    coalesce(from_email, '')
    || E'\n' || coalesce(to_email, '')
    || E'\n' || coalesce(subject, '')
    || E'\n' || coalesce(external_record_id, '')
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX lead_logs_fulltext_idx ON lead_logs USING gin (
  company_id,
  (lower(message)) gin_trgm_ops
) WHERE message IS NOT NULL;
CREATE INDEX webhook_logs_fulltext_idx ON webhook_logs USING gin (
  company_id,
  (lower(
    coalesce(trigger_type, '')
    || E'\n' || coalesce(notes, '')
    || E'\n' || left(coalesce(response_body, ''), 500)
  )) gin_trgm_ops
) WHERE deleted_at IS NULL;
CREATE INDEX change_logs_fulltext_idx ON change_logs USING gin (
  company_id,
  (lower(
    coalesce(record_type, '')
    || E'\n' || coalesce(operation, '')
    || E'\n' || coalesce(user_email, '')
    || E'\n' || coalesce(credentials, '')
  )) gin_trgm_ops
);
