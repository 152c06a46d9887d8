import { sql, statement } from '../../../data/sql';

// Texts and e-mails of a person, in the order of their ids. `was_counted`: not deleted before.

export const ERASE_TEXTS = statement(
  'erasure.erase_texts',
  sql`
    WITH was AS (
      SELECT t.id, t.deleted_at
      FROM text_messages t
      WHERE t.company_id = {company_id}
        AND t.id > {after}::bigint
        AND (
          t.lead_id = ANY ({lead_ids}::bigint[])
          OR t.from_number = {number}::bigint
          OR t.to_number = {number}::bigint
        )
      ORDER BY t.id
      LIMIT {limit}::int
      FOR UPDATE
    )
    UPDATE text_messages t
    SET from_number = CASE t.direction WHEN 'inbound' THEN 0 ELSE t.from_number END,
      to_number = CASE t.direction WHEN 'inbound' THEN t.to_number ELSE 0 END,
      body = '', token_values = '{}', error_message = NULL, external_record_id = NULL,
      deleted_at = coalesce(t.deleted_at, {now}::timestamptz), updated_at = {now}::timestamptz
    FROM was
    WHERE t.company_id = {company_id} AND t.id = was.id
    RETURNING t.id::text, was.deleted_at IS NULL AS was_counted
  `,
  { prepared: false },
).returning<{ id: string }>();

export const ERASE_EMAILS = statement(
  'erasure.erase_emails',
  sql`
    WITH was AS (
      SELECT e.id, e.deleted_at
      FROM emails e
      WHERE e.company_id = {company_id}
        AND e.id > {after}::bigint
        AND (
          e.lead_id = ANY ({lead_ids}::bigint[]) OR lower(e.to_email) = ANY ({emails}::text[])
        )
      ORDER BY e.id
      LIMIT {limit}::int
      FOR UPDATE
    )
    UPDATE emails e
    SET to_email = '', subject = '', body = '', token_values = '{}', error_message = NULL,
      external_record_id = NULL,
      deleted_at = coalesce(e.deleted_at, {now}::timestamptz), updated_at = {now}::timestamptz
    FROM was
    WHERE e.company_id = {company_id} AND e.id = was.id
    RETURNING e.id::text, was.deleted_at IS NULL AS was_counted
  `,
  { prepared: false },
).returning<{ id: string }>();
